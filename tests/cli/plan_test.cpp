// `spillway plan`: what would be done, without doing it.
#include <nlohmann/json.hpp>

#include "command_line.hpp"

#include "algorithms/trying.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>
#include <spillway/plan.hpp>

namespace spillway {
namespace {

class PlanCommand : public testing::CommandLineTest {
 protected:
  nlohmann::json planned(const std::string& words, const std::string& before = "") {
    const auto outcome = spillway("plan " + words + " --json", before);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
};

TEST_F(PlanCommand, SaysWhereAndHow) {
  folder_.write("g.txt", "0 1 5\n1 2 3\n2 0 1\n");
  const auto json = planned("sssp g.txt --device cpu");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["method"], "frontier");
  EXPECT_EQ(json["edge_bytes"], 3 * 8);
  EXPECT_FALSE(json["why"].empty());
  EXPECT_TRUE(json["predicted"].empty()) << "all is in memory";
  const auto windows = planned("bfs g.txt --device cpu --method mixed --device-memory 1M");
  EXPECT_EQ(windows["method"], "mixed");
  EXPECT_EQ(windows["device_memory"], 1 << 20);
  ASSERT_FALSE(windows["predicted"].empty());
  EXPECT_EQ(windows["predicted"][0]["active_share"], 1.0);
  EXPECT_GT(windows["predicted"][0]["whole_partitions_ms"], 0.0);
}

/// A method that transfers edges does so for a program.
TEST_F(PlanCommand, SaysWhichFormAMethodNeeds) {
  folder_.write("g.txt", "0 1\n1 2\n2 0\n");
  const auto says = [](const nlohmann::json& plan) {
    return plan["why"].dump().find("needs a vertex program: the form is propagate") != std::string::npos;
  };
  for (const std::string method : {"subgraph", "partitions", "mixed"}) {
    const auto plan = planned("cc g.txt --device cpu --method " + method);
    EXPECT_EQ(plan["method"], method);
    EXPECT_TRUE(says(plan)) << plan["why"];
    EXPECT_FALSE(says(planned("cc g.txt --device cpu --form propagate --method " + method)));
  }
  const auto usual = planned("cc g.txt --device cpu");
  EXPECT_TRUE(usual["method"].is_null());
  EXPECT_FALSE(says(usual));
}

/// Both ways of an edge are a side each, of which whole windows stay.
TEST_F(PlanCommand, SaysWhatRunKeeps) {
  ASSERT_EQ(spillway("generate kron k.spill --scale 8 -q").code, 0);
  for (const std::string memory : {"9000", "20K", "1M"}) {
    const std::string ways = "k.spill --device cpu --method mixed --device-memory " + memory;
    for (const std::string& words :
         {"cc " + ways, "bp " + ways + " --form vertex", "bfs " + ways + " --source 1"}) {
      const auto ran = spillway("run " + words + " --json"), plan = spillway("plan " + words + " --json");
      EXPECT_EQ(ran.code, plan.code) << words << plan.err;
      if (ran.code != 0) continue;
      const auto made = nlohmann::json::parse(ran.out), said = nlohmann::json::parse(plan.out);
      EXPECT_EQ(said["method"], "mixed") << words;
      EXPECT_EQ(said["resident_bytes"], made["edges"]["resident_bytes"]) << words;
    }
  }
}

/// Also of algorithms that are no programs, and of those with a source.
TEST_F(PlanCommand, KnowsEveryAlgorithm) {
  folder_.write("g.txt", "0 1 5\n1 2 3\n2 0 1\n0 2 1\n");
  for (const Algorithm& algorithm : algorithms()) {
    const bool  needs = algorithm.name == "induced" || algorithm.name == "crossedges";
    const auto* more  = algorithm.name == "induced" ? " --members 0,1" : " --from 0 --to 1";
    const auto  json  = planned(algorithm.name + " g.txt --device cpu" + (needs ? more : ""));
    EXPECT_EQ(json["device"], "cpu") << algorithm.name;
    EXPECT_FALSE(json["why"].empty()) << algorithm.name;
  }
}

/// No algorithm gets as far as its work.
TEST_F(PlanCommand, DoesNotRun) {
  struct Watch final : Progress {
    void begin(std::string_view stage, std::uint64_t, ProgressUnit) override { stages.emplace_back(stage); }
    std::vector<std::string> stages;
  };
  const Graph graph = with_unit_weights(generate("kron", {{"scale", "8"}}));
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.makes_a_graph) continue;
    Watch                 watch;
    const ParameterValues values = testing::filled(algorithm, graph, {}).value();
    for (const bool deterministic : {false, true}) {
      RunOptions options{.deterministic = deterministic, .progress = &watch};
      options.device.kind = deterministic ? DeviceKind{} : cpu_kind();
      EXPECT_FALSE(plan_of(algorithm, graph, values, options).why.empty()) << algorithm.name;
    }
    std::erase(watch.stages, "building in-edges");
    EXPECT_TRUE(watch.stages.empty()) << algorithm.name << ": " << watch.stages.front();
  }
}

TEST_F(PlanCommand, TakesIdsAsTheyAre) {
  folder_.write("comma.tsv", "a,b\tc,d\nc,d\te\n");
  EXPECT_EQ(planned("bfs comma.tsv --device cpu")["device"], "cpu");
}

TEST_F(PlanCommand, RefusesWhatRunRefuses) {
  folder_.write("g.txt", "0 1\n");
  expect_error("plan sssp g.txt", 3, "needs weights");
  expect_error("plan bsf g.txt", 2, "bfs");
  expect_error("plan bfs missing.txt", 3, "missing.txt");
  expect_error("plan bfs g.txt --method mixed --async on", 2, "--async");
  expect_error("plan bfs g.txt --method mixed --device cpu --all-partitions", 2, "--all-partitions");
  expect_error("plan bfs g.txt --top 3", 2, "--top");
  expect_error("plan bfs g.txt --device cpu --method mixed --device-memory 1", 4, "--device-memory");
  folder_.write("empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  expect_error("plan bfs empty.mtx", 3, "no vertices");
}

/// The paper's machine: ten iterations over RMAT30's 114 GB take 190 s over its bus, 228 s from its two SSDs.
TEST_F(PlanCommand, PredictsWhatIsNotThere) {
  const std::string rmat30 = "vertices=1G edges=16G bytes-an-edge=6.75 bus-rate=6G copy-rate=16G gpu-memory=12G ";
  const auto        what   = [&](const std::string& machine) {
    return planned("pagerank --what-if \"" + rmat30 + machine + "\"");
  };
  const auto in_memory = what("host-memory=128G state=4");
  EXPECT_NEAR(in_memory["predicted_s"]["run"], 190, 0.05 * 190);
  EXPECT_EQ(in_memory["bound"], "the bus");
  EXPECT_EQ(in_memory["pages"]["bytes"], 114e9);
  const auto from_disk = what("host-memory=0 ssds=2 ssd-rate=2.5G state=4");
  EXPECT_NEAR(from_disk["predicted_s"]["run"], 228, 0.05 * 228);
  EXPECT_EQ(from_disk["bound"], "the disks");
  // Two GPUs take half the time over their buses, and none from the disks; state that fits one of them not.
  EXPECT_NEAR(what("host-memory=128G gpus=2 state=4")["predicted_s"]["run"], 95, 0.1 * 95);
  EXPECT_NEAR(what("host-memory=0 ssds=2 ssd-rate=2.5G gpus=2 state=4")["predicted_s"]["run"], 228, 0.05 * 228);
  const auto chunks = what("host-memory=128G state=30");
  EXPECT_EQ(chunks["passes"], 3);
  EXPECT_GT(chunks["predicted_s"]["run"], 2.9 * 190);
  EXPECT_NE(what("host-memory=128G gpus=2 state=20")["state"].dump().find("divided"), std::string::npos);
  const auto search = planned("bfs --what-if \"" + rmat30 + "host-memory=128G\"");
  EXPECT_GT(search["predicted_s"]["run"], 19.0);
  EXPECT_LT(search["predicted_s"]["run"], 38.0);
  // One H200, from memory: 1.68 s an iteration, pushed (docs/performance.md).
  const std::string own    = "vertices=1.07G edges=17.2G bytes-an-edge=3.14 host-memory=128G state=8";
  const std::string no_gpu = "CUDA_VISIBLE_DEVICES= ";  // whose rates would be measured
  const auto        h200   = planned("pagerank --what-if \"" + own + "\"", no_gpu);
  EXPECT_NE(h200["rates"].dump().find("no GPU here to measure"), std::string::npos);
  EXPECT_NEAR(h200["predicted_s"]["iteration"], 1.68, 0.1 * 1.68);
  EXPECT_EQ(h200["bound"], "the kernels");
  const double all = h200["predicted_s"]["run"], each = h200["predicted_s"]["iteration"];
  EXPECT_NEAR(all, 10 * each + 2 * 8 * 1.07 / 55, 0.01) << "state goes there and back once";
  EXPECT_EQ(planned("pagerank --what-if \"" + own + " edge-rate=100G\"", no_gpu)["bound"], "the bus");
  // It begins somewhere, but goes over all pages in each iteration.
  EXPECT_EQ(planned("ppr --what-if \"" + own + "\"", no_gpu)["predicted_s"], h200["predicted_s"]);
  const auto text = spillway("plan pagerank --what-if \"vertices=4G edges=64G gpus=2 ssds=2\"");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("an iteration"), std::string::npos) << text.out;
}

TEST_F(PlanCommand, RefusesFactsThatAreNone) {
  const auto refused = [&](const std::string& facts, const std::string& says) {
    const auto outcome = spillway("plan pagerank --what-if \"" + facts + "\"");
    EXPECT_EQ(outcome.code, 2) << facts;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  };
  refused("edges=4G", "vertices=NUMBER is missing");
  refused("vertices=1G edges=x", "is no number");
  refused("vertices=1G edges=4G edges=5G", "twice");
  refused("vertices=1G edges=4G gpu=2", "keys are vertices");
  refused("vertices=0 edges=4G", "too small");
  refused("vertices=1G edges=4G gpus=5G", "too large");
  refused("vertices=1G edges=4G ssds=0 host-memory=1G", "no ssds");
  EXPECT_EQ(spillway("plan tc --what-if \"vertices=1G edges=4G\"").code, 2);
}

}  // namespace
}  // namespace spillway
