// What was measured of a machine is found again, and nothing else is taken for it.
#include "plan/rates.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
  keep_rates(path, "one", one);
  keep_rates(path, "other", other);
  keep_rates(path, "other", {.sent = 11});
  ASSERT_TRUE(kept_rates(path, "one"));
  EXPECT_EQ(kept_rates(path, "one")->gathered_chunks, 3);
  EXPECT_EQ(kept_rates(path, "one")->step, 6);
  EXPECT_EQ(kept_rates(path, "other")->sent, 11);
  EXPECT_FALSE(kept_rates(path, "a third"));
}

TEST_F(KeptRates, ThatCannotBeTrueAreNone) {
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  for (
      const char* text :
      {"", "{", "[]", "3", R"({"one": 5})", R"({"one": {"sent_bytes": 1}})",
       R"({"one": {"way": 5, "sent_bytes": 0, "gathered_bytes": 1, "gathered_chunks": 1, "read_bytes": 1, "read_chunks": 1,
                    "step_seconds": 1, "pinned_bytes": 1, "copied_bytes": 1, "uploaded_bytes": 1, "barrier_seconds": 1, "latency_seconds": 1}})",
       R"({"one": {"way": 5, "sent_bytes": "1", "gathered_bytes": 1, "gathered_chunks": 1, "read_bytes": 1, "read_chunks": 1,
                    "step_seconds": 1, "pinned_bytes": 1, "copied_bytes": 1, "uploaded_bytes": 1, "barrier_seconds": 1, "latency_seconds": 1}})",
       R"({"one": {"sent_bytes": 1, "gathered_bytes": 1, "gathered_chunks": 1, "read_bytes": 1, "read_chunks": 1,
                    "step_seconds": 1, "pinned_bytes": 1, "copied_bytes": 1, "uploaded_bytes": 1, "barrier_seconds": 1, "latency_seconds": 1}})",
       R"({"one": {"way": 1, "sent_bytes": 1, "gathered_bytes": 1, "gathered_chunks": 1, "read_bytes": 1,
                    "read_chunks": 1, "step_seconds": 1, "pinned_bytes": 1, "copied_bytes": 1, "uploaded_bytes": 1, "barrier_seconds": 1, "latency_seconds": 1}})"}) {
    std::ofstream{path} << text;
    EXPECT_FALSE(kept_rates(path, "one")) << text;
  }
  std::ofstream{path} << R"({"one": {"way": 5, "sent_bytes": 1, "gathered_bytes": 1, "gathered_chunks": 1,
                                     "read_bytes": 1, "read_chunks": 1, "step_seconds": 1, "pinned_bytes": 1, "copied_bytes": 1, "uploaded_bytes": 1, "barrier_seconds": 1, "latency_seconds": 1}})";
  EXPECT_TRUE(kept_rates(path, "one")) << "one of which nothing is wrong";
  std::ofstream{path} << "[]";
  keep_rates(path, "one", {});  // what is no cache is replaced
  EXPECT_TRUE(kept_rates(path, "one"));
}

TEST_F(KeptRates, NeedNoPlace) {
  EXPECT_FALSE(kept_rates("", "one"));
  keep_rates("", "one", {});
  keep_rates("/proc/nobody/may/write/here", "one", {});
  EXPECT_FALSE(kept_rates("/proc/nobody/may/write/here", "one"));
}

}  // namespace
}  // namespace spillway
