// What was measured of a machine is found again, and nothing else is taken for it.
#include "plan/rates.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plan/cache_file.hpp"
#include "plan/startup.hpp"
#include "support.hpp"

namespace spillway {
namespace {

class KeptRates : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder;
  const std::string        path = folder / "not/there/rates.json";
};

TEST_F(KeptRates, AreFoundAgain) {
  EXPECT_FALSE(kept_rates(path, "one"));
  const Rates one{1, 2, 3, 4, 5, 6}, other{10, 20, 30, 40, 50, 60};
  keep_rates(path, "one", {one, one});
  keep_rates(path, "other", {other, other});
  keep_rates(path, "other", {{.sent = 11}, {.sent = 12}});
  ASSERT_TRUE(kept_rates(path, "one"));
  EXPECT_EQ(kept_rates(path, "one")->measured.gathered_chunks, 3);
  EXPECT_EQ(kept_rates(path, "one")->corrected.step, 6);
  EXPECT_EQ(kept_rates(path, "other")->measured.sent, 11);
  EXPECT_EQ(kept_rates(path, "other")->corrected.sent, 12);
  EXPECT_FALSE(kept_rates(path, "a third"));
}

TEST_F(KeptRates, ThatCannotBeTrueAreNone) {
  using Json = nlohmann::ordered_json;
  keep_rates(path, "one", {});
  const Json good  = read_cache(path);
  const auto write = [&](const Json& cache) { std::ofstream{path} << cache.dump(); };
  for (const char* text : {"", "{", "[]", "3", R"({"one": 5})", R"({"one": {"sent_bytes": 1}})"}) {
    std::ofstream{path} << text;
    EXPECT_FALSE(kept_rates(path, "one")) << text;
  }
  for (const RateField& field : rate_fields)
    for (const Json& bad : {Json(0), Json(-1), Json("1"), Json(nullptr)}) {
      Json cache               = good;
      cache["one"][field.name] = bad;
      write(cache);
      EXPECT_FALSE(kept_rates(path, "one")) << field.name << " " << bad;
    }
  Json measured_otherwise          = good;
  measured_otherwise["one"]["way"] = 1;
  write(measured_otherwise);
  EXPECT_FALSE(kept_rates(path, "one"));
  write(good);
  EXPECT_TRUE(kept_rates(path, "one")) << "one of which nothing is wrong";
  Json spoilt                               = good;
  spoilt["one"]["sent_bytes"]               = 7;
  spoilt["one"]["corrected"]["read_chunks"] = -1;
  write(spoilt);
  ASSERT_TRUE(kept_rates(path, "one"));
  EXPECT_EQ(kept_rates(path, "one")->corrected.sent, 7) << "corrections that cannot be true are none";
  std::ofstream{path} << "[]";
  keep_rates(path, "one", {});  // what is no cache is replaced
  EXPECT_TRUE(kept_rates(path, "one"));
}

/// A bus that has half its rate: after some runs it is known.
TEST(CorrectedRates, ComeNearToWhatIterationsTook) {
  MachineRates rates;
  const double bytes = 1e9, truth = rates.measured.sent / 2;
  for (int run = 0; run < 8; ++run) {
    const double                 by_rate = bytes / rates.corrected.sent, beside = 1e-4;
    std::vector<RateObservation> seen(4, {&Rates::sent, by_rate + beside, by_rate, bytes / truth + beside});
    rates.corrected = corrected(rates, seen);
  }
  EXPECT_NEAR(rates.corrected.sent, truth, 0.02 * truth);
  EXPECT_EQ(rates.corrected.read, rates.measured.read) << "nothing was seen of it";
}

TEST(CorrectedRates, AreNotMovedByWhatSaysNothing) {
  const MachineRates rates;
  const double       sent = rates.measured.sent;
  EXPECT_EQ(corrected(rates, {}).sent, sent);
  const RateObservation brief{&Rates::sent, 1e-3, 1e-3, 1.9e-3}, mixed{&Rates::sent, 10e-3, 5e-3, 30e-3},
      none{nullptr, 10e-3, 0, 30e-3};
  for (const RateObservation& each : {brief, mixed, none})
    EXPECT_EQ(corrected(rates, std::span{&each, 1}).sent, sent);
}

TEST(CorrectedRates, StayNearWhatWasMeasured) {
  MachineRates rates;
  for (int run = 0; run < 100; ++run) {
    const RateObservation slow{&Rates::sent, 10e-3, 10e-3, 10};
    rates.corrected = corrected(rates, std::span{&slow, 1});
  }
  EXPECT_NEAR(rates.corrected.sent, rates.measured.sent / 4, 1);
  const RateObservation sudden{&Rates::read, 10e-3, 10e-3, 10};
  EXPECT_GT(corrected(rates, std::span{&sudden, 1}).read, rates.measured.read / 1.5) << "one run is not enough";
}

TEST_F(KeptRates, TellWhetherAGpuIsWorthWaitingFor) {
  const StartupFacts guess = startup_facts(path, 8);
  EXPECT_GT(guess.context, 0);
  EXPECT_GT(guess.host_visited, startup_facts(path, 2).host_visited);
  Rates quick;
  quick.context = 0.123, quick.host_visited_far = 5e8;
  keep_rates(path, "a GPU at 0, 8 threads", {quick, quick});
  keep_rates(path, "another at 1, 8 threads", {});
  EXPECT_EQ(startup_facts(path, 8).context, 0.123);
  EXPECT_EQ(startup_facts(path, 8).host_visited, 5e8);
  EXPECT_NE(startup_facts(path, 4).context, 0.123);

  const StartupFacts facts{.context = 0.3, .host_visited = 1e9, .host_iteration = 20e-6};
  const auto seconds = [&](std::uint64_t vertices, std::uint64_t arcs, bool all_active, std::uint64_t most) {
    return predicted_on_cpu({vertices, arcs, all_active, most}, facts);
  };
  EXPECT_LT(seconds(34, 156, true, 100), 1e-3);
  EXPECT_LT(seconds(1'000'000, 16'000'000, false, ~0ull), facts.context);
  EXPECT_GT(seconds(1'000'000, 16'000'000, true, ~0ull), facts.context);
  EXPECT_LT(seconds(1'000'000, 16'000'000, true, 2), facts.context);
  EXPECT_GT(seconds(16'000'000, 520'000'000, false, ~0ull), facts.context);
  EXPECT_GT(seconds(1'000'000, 2'000'000, false, ~0ull), 1000 * facts.host_iteration) << "long paths";
}

/// Many small runs are worth a GPU, each by itself is not.
TEST(StartupChoice, StartsAGpuInTime) {
  const StartupFacts facts{.context = 0.3, .host_visited = 1e9, .host_iteration = 20e-6};
  StartupChoice      choice;
  int                left_to_cpu = 0;
  for (int run = 0; run < 100; ++run) {
    if (choice.reason(0.05, facts).empty()) break;
    EXPECT_EQ(choice.reason(0.05, facts), choice.reason(0.05, facts)) << "asking changes nothing";
    choice.note(0.05);
    ++left_to_cpu;
  }
  EXPECT_EQ(left_to_cpu, 5);
  EXPECT_EQ(StartupChoice{}.reason(0.31, facts), "");
  EXPECT_NE(StartupChoice{}.reason(0.29, facts).find("done in 2.9e+02 ms"), std::string::npos)
      << StartupChoice{}.reason(0.29, facts);
}

TEST(StartupChoice, IsLeftToThoseWhoAskForNothing) {
  EXPECT_TRUE(leaves_device_open({}));
  EXPECT_FALSE(leaves_device_open({.device = {.kind = cuda_kind()}}));
  EXPECT_FALSE(leaves_device_open({.device = {.kind = cpu_kind()}}));
  EXPECT_FALSE(leaves_device_open({.cuda = {.filter = Filter::ballot}}));
  EXPECT_FALSE(leaves_device_open({.method = method_named("zerocopy")}));
  EXPECT_FALSE(leaves_device_open({.supply = {.compress = Compress::on}}));
  EXPECT_FALSE(leaves_device_open({.supply = {.resident = 5}}));
  EXPECT_FALSE(leaves_device_open({.supply = {.async = Async::on}}));
}

TEST_F(KeptRates, NeedNoPlace) {
  EXPECT_FALSE(kept_rates("", "one"));
  keep_rates("", "one", {});
  keep_rates("/proc/nobody/may/write/here", "one", {});
  EXPECT_FALSE(kept_rates("/proc/nobody/may/write/here", "one"));
}

}  // namespace
}  // namespace spillway
