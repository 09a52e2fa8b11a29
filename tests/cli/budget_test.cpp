// Budgets tell the truth: the number in a refusal suffices when it is given, and is not much more than the run
// takes; `info` and `plan` have an answer where the graph has no room; an interrupt ends every command soon.
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/refusal.hpp"
#include "base/text.hpp"
#include "command_line.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

using nlohmann::json;

bool everything() { return std::getenv("SPILLWAY_FULL_MATRIX") != nullptr; }

class Budgets : public testing::CommandLineTest {
 protected:
  /// The size that a refusal asks for; empty where it names none.
  static std::string asked_for(const std::string& message) {
    const std::string before = "needs ";
    const std::size_t end    = message.find(" of host memory");
    if (end == std::string::npos) return {};
    const std::size_t begin = message.rfind(before, end);
    if (begin == std::string::npos) return {};
    const std::string size = message.substr(begin + before.size(), end - begin - before.size());
    return size.starts_with("at least ") ? size.substr(9) : size;
  }

  /// Refused with next to nothing; with the number of the refusal it runs, and holds nearly that much. Where the
  /// answer itself is a graph, whose size only the run finds out, the number may grow once.
  void expect_truth(const std::string& command, int refusals = 1) {
    std::string allowed = "8KiB";
    for (int i = 0; i < refusals; ++i) {
      const testing::Outcome refused = spillway(command + " --json --quiet --host-memory " + allowed);
      if (refused.code == 0 && i > 0) break;
      ASSERT_EQ(refused.code, 4) << command << ": " << refused.err;
      const std::string next = asked_for(refused.err);
      ASSERT_FALSE(next.empty()) << command << ": " << refused.err;
      EXPECT_GT(parse_size(next), parse_size(allowed)) << command << ": " << refused.err;
      allowed = next;
    }
    const testing::Outcome run = spillway(command + " --json --quiet --host-memory " + allowed);
    ASSERT_EQ(run.code, 0) << command << " --host-memory " << allowed << ": " << run.err;
    const std::uint64_t peak = json::parse(run.out)["memory"]["host_peak"];
    EXPECT_LE(peak, *parse_size(allowed)) << command;
    // Pages are 4 KiB: of very little memory, rounding is more than a third.
    EXPECT_LE(*parse_size(allowed), peak * 13 / 10 + (64u << 10)) << command << " took " << peak;
  }

  void make_graphs() {
    ASSERT_EQ(spillway("generate kron --scale 13 --weights u32 directed.spill -q").code, 0);
    ASSERT_EQ(spillway("generate kron --scale 13 --weights u32 --undirected --seed 2 symmetric.spill -q").code, 0);
    ASSERT_EQ(spillway("generate uniform --vertices 50000 --degree 3 --weights f32 sparse.spill -q").code, 0);
    ASSERT_EQ(spillway("convert directed.spill stored.spill --in-edges -q").code, 0);
    ASSERT_EQ(spillway("convert directed.spill list.wel -q").code, 0);
    std::string names;
    for (std::uint64_t i = 0; i < 60'000; ++i)
      names += "user_" + std::to_string(i * i % 9973) + " user_" + std::to_string(i * 7919 % 20011) + "\n";
    folder_.write("names.txt", names);
  }
};

std::string arguments_of(const Algorithm& algorithm, const std::string& graph) {
  const std::string vertex = graph == "names.txt" ? "user_0" : "1";
  std::string       words;
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.default_value.empty()) words += " --" + parameter.name + " " + vertex;
  if (algorithm.makes_a_graph) words += " -o made.spill";
  if (algorithm.name == "bp") words += " --iterations 2";
  if (algorithm.name == "bc") words += " --sources 1";
  if (algorithm.weights == WeightUse::needed && graph == "names.txt") words += " --weights unit";
  return words;
}

/// How many vertices wait in buckets at once depends on which thread is faster: that number may grow once, too.
bool in_buckets(const Algorithm& algorithm) { return algorithm.name == "sssp" || algorithm.name == "kcore"; }

TEST_F(Budgets, TheNumberOfARefusedRunSuffices) {
  make_graphs();
  const std::vector<std::string> graphs{"directed.spill", "list.wel",  "symmetric.spill",
                                        "sparse.spill",   "names.txt", "stored.spill"};
  std::size_t                    turn = 0;
  for (const Algorithm& algorithm : algorithms()) {
    const std::size_t first = turn++ % graphs.size();
    for (std::size_t i = 0; i < (everything() ? graphs.size() : 1); ++i) {
      const std::string& graph = graphs[(first + i) % graphs.size()];
      expect_truth("run " + algorithm.name + " " + graph + arguments_of(algorithm, graph) + " --device cpu",
                   algorithm.makes_a_graph || in_buckets(algorithm) ? 2 : 1);
    }
  }
  for (const char* form :
       {"pagerank directed.spill --form residual", "cc directed.spill --form propagate",
        "bp directed.spill --form vertex --iterations 2",
        "bp directed.spill --form vertex --iterations 2 --states 5", "tc sparse.spill --per-vertex"})
    expect_truth(std::string{"run "} + form + " --device cpu");
}

TEST_F(Budgets, TheNumberOfARefusedConversionSuffices) {
  make_graphs();
  ASSERT_EQ(spillway("convert symmetric.spill m.graph --dedup --drop-loops -q").code, 0);
  for (const char* made : {"g.mtx", "g.wsg", "g.bwcsr"})
    ASSERT_EQ(spillway("convert directed.spill " + std::string{made} + " -q").code, 0);
  std::string wide;
  for (std::uint64_t i = 0; i < 60'000; ++i)
    wide += std::to_string((i * i % 9973) * 1'000'003 + 5'000'000'000) + " " + std::to_string(i % 20011) + "\n";
  folder_.write("wide.txt", wide);
  for (const char* from : {"list.wel", "names.txt", "wide.txt", "g.mtx", "g.wsg", "g.bwcsr", "m.graph"})
    expect_truth(std::string{"convert "} + from + " out.spill");
  for (const char* to : {"out.wel", "out.mtx", "out.wsg", "out.bwcsr"})
    expect_truth(std::string{"convert list.wel "} + to + " --undirected");
  expect_truth("convert directed.spill out.spill --in-edges");
}

/// Larger than what is read to see how large a small file is.
TEST_F(Budgets, TheNumberSufficesForLargeFilesOfEveryKind) {
  constexpr std::uint64_t edges = 700'000, vertices = 50'000;
  std::string             dimacs, list, members, packed, weights;
  for (std::uint64_t i = 0; i < edges; ++i) {
    const std::uint64_t u = i * i % 49'999, v = i * 7919 % vertices;
    dimacs += "a " + std::to_string(u + 1) + " " + std::to_string(v + 1) + " 7\n";
    list += std::to_string(u * 1000) + " " + std::to_string(v * 1000) + "\n";
    const std::uint32_t edge[3] = {static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v), 0};
    packed.append(reinterpret_cast<const char*>(edge), sizeof edge);
  }
  for (std::uint64_t v = 0; v < 400'000; ++v) members += std::to_string(v * 1000) + "\n";
  folder_.write("g.gr", "p sp 50000 " + std::to_string(edges) + "\n" + dimacs);
  folder_.write("l.e", list), folder_.write("l.v", members);
  folder_.write("g.packed", packed);
  for (const char* from : {"g.gr", "l.e", "g.packed"}) {
    expect_truth(std::string{"convert "} + from + " out.spill");
    expect_truth(std::string{"run sssp "} + from + " --source 1000 --weights unit --device cpu", 2);
  }
  ASSERT_EQ(spillway("convert g.gr g.spill -q").code, 0);
  expect_truth("run sssp g.spill --source 1 --weights unit --device cpu", 2);
}

/// "At least" where something is not foreseen, and only there.
TEST_F(Budgets, TheNumberIsPromisedWhereAllIsForeseen) {
  make_graphs();
  const auto refusal = [&](const std::string& command) {
    return spillway(command + " --device cpu --host-memory 64KiB").err;
  };
  for (const char* command : {"run bfs list.wel --source 1", "run pagerank directed.spill", "run cc names.txt"})
    EXPECT_EQ(refusal(command).find("at least"), std::string::npos) << refusal(command);
  for (const char* command : {"run sssp list.wel --source 1", "run pagerank directed.spill --verify",
                              "run pagerank list.wel --symmetrize"})
    EXPECT_NE(refusal(command).find("needs at least "), std::string::npos) << refusal(command);
}

TEST_F(Budgets, GenerateRefusesAtOnceWithANumberThatSuffices) {
  const auto             begin   = std::chrono::steady_clock::now();
  const testing::Outcome refused = spillway("generate kron --scale 30 k.spill --host-memory 1GiB");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{1});
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_GT(parse_size(asked_for(refused.err)), std::uint64_t{100} << 30) << refused.err;
  for (const char* shape :
       {"kron --scale 13", "kron --scale 13 --undirected --weights f32", "uniform --vertices 100000 --degree 2",
        "grid --rows 300 --columns 300", "ba --vertices 20000"})
    expect_truth("generate " + std::string{shape} + " out.spill");
}

TEST_F(Budgets, InfoAndPlanNeverFailForWantOfMemory) {
  make_graphs();
  for (const char* graph : {"list.wel", "names.txt", "directed.spill", "symmetric.spill"}) {
    const testing::Outcome info = spillway(std::string{"info "} + graph + " --json --host-memory 1KiB");
    ASSERT_EQ(info.code, 0) << graph << ": " << info.err;
    const json told  = json::parse(info.out);
    const json truth = json::parse(spillway(std::string{"info "} + graph + " --json -q").out);
    const auto near  = [&](const char* field) {
      const double all = truth["graph"][field], estimate = told["graph"][field];
      EXPECT_NEAR(estimate, all, 0.03 * all) << graph << ": " << field;
    };
    near("vertices"), near("arcs");
    EXPECT_EQ(told["graph"]["weights"], truth["graph"]["weights"]);
    if (truth["memory"]["host_peak"] > 1024) {
      EXPECT_EQ(told["estimated"], true) << graph;
      EXPECT_EQ(spillway(std::string{"info "} + graph + " -q --host-memory " +
                         sufficient_size(told["host_memory_needed"]))
                    .code,
                0);
    }
    for (const char* algorithm : {"pagerank", "tc", "bfs"}) {
      const testing::Outcome plan =
          spillway(std::string{"plan "} + algorithm + " " + graph + " --device cpu --json --host-memory 1KiB");
      ASSERT_EQ(plan.code, 0) << algorithm << " " << graph << ": " << plan.err;
      EXPECT_TRUE(json::parse(plan.out).contains("algorithm"));
    }
  }
  const testing::Outcome text = spillway("info list.wel --host-memory 1KiB");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.err.find("sizes are estimates"), std::string::npos) << text.err;
  EXPECT_NE(text.out.find("memory to load"), std::string::npos) << text.out;
  EXPECT_NE(spillway("plan pagerank directed.spill --device cpu --host-memory 1KiB").out.find("needs"),
            std::string::npos);
}

TEST_F(Budgets, RefusalsNameTheWaysOutThatExist) {
  make_graphs();
  const auto says = [&](const std::string& command, const std::vector<std::string>& there,
                        const std::vector<std::string>& absent) {
    const std::string message = spillway(command + " --device cpu --host-memory 8KiB").err;
    EXPECT_NE(message.find("--host-memory "), std::string::npos) << message;
    for (const std::string& way : there) EXPECT_NE(message.find(way), std::string::npos) << command << message;
    for (const std::string& way : absent) EXPECT_EQ(message.find(way), std::string::npos) << command << message;
  };
  says("run pagerank directed.spill", {"--form residual", "--in-edges"}, {"not counted"});
  says("run pagerank list.wel", {"--form residual", "--in-edges", "mapped and not counted"}, {});
  says("run pagerank stored.spill", {}, {"--form residual", "--in-edges", "not counted"});
  says("run pagerank symmetric.spill", {}, {"--form residual", "--in-edges", "not counted"});
  says("run scc directed.spill", {"--in-edges"}, {"--form residual"});
  says("run bfs list.wel --source 1", {"mapped and not counted"}, {"--in-edges", "--form"});
}

TEST_F(Budgets, ReportsWhatIsResident) {
  make_graphs();
  for (const char* command : {"run bfs directed.spill --source 1", "info directed.spill",
                              "convert list.wel o.spill", "generate star --vertices 1000 o.spill"}) {
    const json told = json::parse(spillway(std::string{command} + " --json -q").out);
    EXPECT_GT(told["memory"]["resident_peak"], 1u << 20) << command;
    EXPECT_TRUE(told["memory"].contains("host_peak")) << command;
  }
  EXPECT_NE(spillway("run bfs directed.spill --source 1").out.find("resident"), std::string::npos);
  EXPECT_EQ(spillway("run bfs list.wel --source 1").out.find("resident"), std::string::npos);
}

TEST_F(Budgets, AnImmenseTopCostsNoMoreThanTheVertices) {
  make_graphs();
  const json told =
      json::parse(spillway("run degrees directed.spill --top 1000000000000000000 --json -q --device cpu").out);
  EXPECT_EQ(told["top"].size(), told["graph"]["vertices"]);
  EXPECT_LT(told["memory"]["host_peak"], 8u << 20);
  expect_error("run cc sparse.spill --top 1000000000000000000 --device cpu --host-memory 410KiB", 4, "--top");
}

TEST(SufficientSize, IsNeverLess) {
  for (std::uint64_t bytes = 1; bytes < std::uint64_t{1} << 52; bytes += bytes / 3 + 1) {
    const auto parsed = parse_size(sufficient_size(bytes));
    ASSERT_TRUE(parsed) << bytes;
    EXPECT_GE(*parsed, bytes);
    EXPECT_LE(*parsed, bytes + bytes / 9 + 1024) << bytes;
  }
}

/// The command, interrupted after a moment.
class Interrupts : public testing::CommandLineTest {
 protected:
  struct Ending {
    int    status  = 0;
    double seconds = 0;  ///< from the signal on
  };

  Ending interrupted(const std::string& arguments, std::chrono::milliseconds after) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string command =
          "cd '" + (folder_ / "") + "' && exec '" SPILLWAY_BINARY "' " + arguments + " >/dev/null 2>&1";
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    std::this_thread::sleep_for(after);
    kill(child, SIGINT);
    const auto signalled = std::chrono::steady_clock::now();
    int        status    = 0;
    waitpid(child, &status, 0);
    // Before the program listens, the signal itself ends it: to a shell that is 130, too.
    const bool unheard = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    return {WIFEXITED(status) ? WEXITSTATUS(status)
            : unheard         ? 130
                              : -1,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - signalled).count()};
  }
};

TEST_F(Interrupts, EndEveryCommandSoonAndLeaveNothing) {
  ASSERT_EQ(spillway("generate kron --scale 17 --weights u32 g.spill -q").code, 0);
  ASSERT_EQ(spillway("convert g.spill g.wel -q").code, 0);
  std::size_t kept = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_ / "")) ++kept;
  int caught = 0;
  for (const char* command :
       {"generate kron --scale 21 out.spill", "generate kron --scale 19 out.mtx", "convert g.wel out.spill",
        "convert g.spill out.wel", "convert g.spill out.spill --in-edges", "info g.wel", "run tc g.spill",
        "run bc g.spill --sources 50 --verify", "run pagerank g.wel --repeat 100 -o out.csv",
        "plan pagerank g.wel"}) {
    for (const int after : everything() ? std::vector{20, 60, 150, 300, 600} : std::vector{120}) {
      const Ending ending = interrupted(command, std::chrono::milliseconds{after});
      EXPECT_TRUE(ending.status == 130 || ending.status == 0) << command << ": " << ending.status;
      EXPECT_LT(ending.seconds, 3) << command;  // machines that run tests do much else
      caught += ending.status == 130;
      for (const char* made : {"out.spill", "out.mtx", "out.wel", "out.csv"})
        if (ending.status == 130)
          EXPECT_FALSE(std::filesystem::exists(folder_ / made)) << command << " left " << made;
        else
          std::filesystem::remove(folder_ / made);
      std::size_t now = 0;
      for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_ / "")) ++now;
      EXPECT_EQ(now, kept) << command << " left a file";
    }
  }
  EXPECT_GE(caught, 3) << "commands were over before they were interrupted";
}

}  // namespace
}  // namespace spillway
