// No answer misleads: what a run says of its answer, of what it did not use, and of whom it was asked about.
#include "command_line.hpp"

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

class Answers : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    folder_.write("g.txt", "0 1\n1 2\n2 0\n5 6\n");
    folder_.write("w.txt", "0 1 4\n1 2 5\n");
    folder_.write("names.csv", "source,target\n\"Smith, John\",Bob\nBob,@home\n@home,Eve\n");
  }

  nlohmann::json json_of(const std::string& command) {
    const auto outcome = spillway(command + " --json");
    EXPECT_EQ(outcome.code, 0) << command << ": " << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }

  void expect_note(const std::string& command, const std::string& text) {
    const auto outcome = spillway(command);
    EXPECT_EQ(outcome.code, 0) << command << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("note: " + text), std::string::npos) << command << ": " << outcome.err;
    EXPECT_EQ(spillway(command + " --quiet").err, "") << command;
  }
};

TEST_F(Answers, SayThatWeightsAreNotUsed) {
  for (const char* command : {"run pagerank w.txt", "run bfs w.txt --source 0", "run cc w.txt", "run bc w.txt"})
    expect_note(command, std::string{command}.substr(4, std::string{command}.find(' ', 4) - 4) +
                             " does not use the weights of the graph");
  EXPECT_EQ(spillway("run sssp w.txt --source 0").err.find("does not use"), std::string::npos);
  EXPECT_EQ(spillway("run bfs g.txt --source 0").err.find("does not use"), std::string::npos);
  expect_error("run bfs g.txt --source 0 --weights unit", 2, "--weights has no effect: bfs does not use weights");
}

TEST_F(Answers, OfASampleAreEstimatesAndSaySo) {
  ASSERT_EQ(spillway("generate uniform --vertices 300 --degree 4 u.spill").code, 0);
  const auto sample = json_of("run bc u.spill --sources 4 --verify");
  EXPECT_EQ(sample["facts"]["estimated"], "from 4 of 300 sources");
  EXPECT_NE(spillway("run bc u.spill --sources 4 -q").out.find("estimated: from 4 of 300 sources\n"),
            std::string::npos);
  const auto all = json_of("run bc u.spill --verify");
  EXPECT_EQ(all["facts"]["sources"], 300);
  EXPECT_FALSE(all["facts"].contains("estimated"));
  const auto sum = [&](const std::string& options) {
    spillway("run bc u.spill -o c.json " + options);
    double total = 0;
    for (const auto& row : nlohmann::json::parse(testing::read_file(folder_ / "c.json")))
      total += row["centrality"].get<double>();
    return total;
  };
  const double whole = sum("");
  EXPECT_NEAR(sum("--sources 100") / whole, 1, 0.2) << "each of a sample stands for three";
  EXPECT_LT(sum("--source 0,1,2"), whole / 20) << "those that are named stand for themselves";
}

TEST_F(Answers, ThatWouldTakeHoursAreAskedForByName) {
  ASSERT_EQ(spillway("generate uniform --vertices 100000 --degree 8 large.spill").code, 0);
  expect_error("run bc large.spill", 2, "--sources N estimates from N vertices drawn at random");
  expect_error("run bc large.spill", 2,
               "bc from all 100,000 vertices follows some 9.0e+10 arcs (two cores take about 8 minutes)");
  EXPECT_EQ(spillway("run bc large.spill --sources 1").code, 0);
}

TEST_F(Answers, AreAboutEachSourceOnce) {
  EXPECT_EQ(json_of("run bc g.txt --source 1,1")["facts"]["sources"], 1);
  EXPECT_EQ(json_of("run bfs g.txt --source 1,2,1 --source 2")["runs"].size(), 2u);
  EXPECT_FALSE(json_of("run bfs g.txt --source 1,1").contains("runs")) << "it is one";
}

TEST_F(Answers, AreAboutVerticesHoweverTheyAreNamed) {
  const auto reached = [&](const std::string& options) {
    return json_of("run bfs names.csv " + options)["summary"]["reached"];
  };
  EXPECT_EQ(reached("--source 'Smith, John'"), 4);
  EXPECT_EQ(reached("--source '\"Smith, John\"'"), 4);
  EXPECT_EQ(reached("--source @home"), 2) << "a name that begins with @";
  EXPECT_EQ(spillway("run bfs names.csv --source 'Smith, John' -o r.csv").code, 0) << "it is one source";
  folder_.write("list", "Smith, John\n");
  EXPECT_EQ(reached("--source @list"), 4);
  folder_.write("home", "Bob\n");
  EXPECT_EQ(reached("--source @home"), 3) << "there is a file now";
  EXPECT_EQ(reached("--source '\"@home\"'"), 2);
  EXPECT_EQ(json_of("run bfs names.csv --source @list --source Bob,Eve")["runs"].size(), 3u);
  EXPECT_EQ(json_of("run bc names.csv --source @list --source Bob")["facts"]["sources"], 2);
  const auto induced = json_of("run induced names.csv --members @list --members 'Bob' -o i.csv");
  EXPECT_EQ(induced["facts"]["vertices"], 2);
  EXPECT_EQ(json_of("run crossedges names.csv --from 'Smith, John' --to @home -o i.csv")["facts"]["arcs"], 1);
  expect_error("run bfs names.csv --source @nobody", 3, "nor is there a file 'nobody'");
  expect_error("run bfs names.csv --source '\"Bob'", 2, "a quote is opened and not closed");
}

TEST_F(Answers, SayWhatWasFound) {
  EXPECT_NE(
      spillway("run bfs g.txt --source 0").out.find("reached: 3 of 5 vertices\nfarthest: level 2 (vertex 2)\n"),
      std::string::npos);
  EXPECT_EQ(json_of("run sssp w.txt --source 0")["summary"],
            (nlohmann::json{{"reached", 3}, {"farthest", {{"vertex", 2}, {"distance", 9}}}}));
  EXPECT_EQ(json_of("run cc g.txt")["summary"],
            (nlohmann::json{{"groups", 2}, {"largest_group", {{"component", 0}, {"vertices", 3}}}}));
  EXPECT_EQ(json_of("run degrees g.txt")["summary"]["largest"], (nlohmann::json{{"vertex", 0}, {"out", 1}}));
  EXPECT_EQ(json_of("run sswp w.txt --source 0")["summary"]["largest"],
            (nlohmann::json{{"vertex", 1}, {"width", 4}}))
      << "the source's own is infinite";
  const std::map<std::string, std::string> said{
      {"scc", "components: 3"},         {"kcore", "largest: core 2"},
      {"tc", "triangles: 1"},           {"lcc", "largest: coefficient 0.5"},
      {"cdlp", "largest: 3 vertices"},  {"radius", "largest: radius 2"},
      {"pagerank", "largest: rank 0."}, {"bc", "largest: centrality 1"},
      {"bp", "largest: belief_0 "}};
  for (const auto& [name, text] : said) {
    const std::string out = spillway("run -q " + name + " g.txt").out;
    EXPECT_NE(out.find(text), std::string::npos) << name << ": " << out;
  }
}

TEST_F(Answers, AreOrderedByWhatMatters) {
  const auto groups = json_of("run cc g.txt --top 1")["top"];
  EXPECT_EQ(groups, (nlohmann::json::array({{{"component", 0}, {"vertices", 3}}})));
  EXPECT_EQ(json_of("run scc g.txt --top 9")["top"].size(), 3u);
  const auto nearest = json_of("run bfs g.txt --source 1 --top 2")["top"];
  EXPECT_EQ(nearest[0]["vertex"], 1);
  EXPECT_EQ(nearest[1]["vertex"], 2);
  EXPECT_EQ(json_of("run sssp w.txt --source 1 --top 9")["top"].size(), 2u) << "the unreached are left out";
  EXPECT_EQ(json_of("run pagerank g.txt --top 1000000000000000000")["top"].size(), 5u);
  expect_error("run induced g.txt --members 0 -o i.csv --top 3", 2, "--top is for answers with columns");
  expect_note("run tc g.txt --top 3", "--top had no effect: the answer has no columns");
}

TEST_F(Answers, SayWhichOptionsHadNoEffect) {
  expect_note("run cc g.txt --direction push", "--direction push had no effect");
  expect_note("run tc g.txt --method subgraph --device cpu", "--method subgraph had no effect");
  expect_note("run bfs g.txt --source 0 --device-memory 1GiB", "--device-memory had no effect");
  if (algorithm_named("bfs").on_gpu) return;
  expect_note("run bfs g.txt --source 0 --filter ballot", "--filter had no effect: it is for GPUs");
}

/// What hooks edges where they lie gives way to a program, whose frontiers say which edges are wanted.
TEST_F(Answers, OfComponentsComeFromAProgramWhereTheMethodNeedsOne) {
  const auto usual = json_of("run cc g.txt --device cpu");
  EXPECT_FALSE(usual["facts"].contains("form"));
  for (const std::string method :
       {"subgraph", "partitions", "mixed", "subgraph --async on", "partitions --async on"}) {
    const std::string words = "cc g.txt --undirected --verify --device cpu --method " + method;
    const auto        ran   = json_of("run " + words);
    EXPECT_EQ(ran["method"], method.substr(0, method.find(' '))) << method;
    EXPECT_EQ(ran["facts"]["form"], "propagate") << method;
    EXPECT_EQ(ran["facts"]["components"], usual["facts"]["components"]) << method;
    EXPECT_EQ(spillway("run " + words).err.find("no effect"), std::string::npos) << method;
  }
  EXPECT_FALSE(json_of("run cc g.txt --device cpu --method mixed --form propagate")["facts"].contains("form"));
  for (const char* command : {"run", "plan"})
    expect_error(std::string{command} + " cc g.txt --device cpu --method subgraph --form afforest", 2,
                 "--method subgraph brings edges otherwise; use --form propagate");
}

/// Levels come one after the other; asynchronously paths are counted as they arrive.
TEST_F(Answers, OfPathsComeFromTheFormThatTheWayNeeds) {
  const std::string words = "ssnsp g.txt --source 0 --device cpu --method subgraph --verify";
  for (const std::string async : {"auto", "off"})
    EXPECT_FALSE(json_of("run " + words + " --async " + async)["facts"].contains("form"));
  EXPECT_EQ(json_of("run " + words + " --async on")["facts"]["form"], "accumulative");
  EXPECT_FALSE(json_of("run " + words + " --async on --form accumulative")["facts"].contains("form"));
  const auto plan = json_of("plan ssnsp g.txt --device cpu --method subgraph --async on");
  EXPECT_NE(plan["why"].dump().find("the form is accumulative"), std::string::npos) << plan["why"];
  expect_error("run " + words + " --async on --form levels", 2, "asynchronously");
  expect_error("run ssnsp g.txt --source 0 --form level", 2, "levels");
}

TEST_F(Answers, AreFoundUnderFamiliarNames) {
  EXPECT_EQ(json_of("run betweenness g.txt")["algorithm"], "bc");
  EXPECT_EQ(json_of("run connected_components g.txt")["algorithm"], "cc");
  EXPECT_EQ(json_of("run ConnectedComponents g.txt")["algorithm"], "cc");
  EXPECT_EQ(json_of("run shortest-path w.txt --source 0")["algorithm"], "sssp");
  expect_error("run conected_components g.txt", 2, "did you mean 'connected_components'?");
}

TEST_F(Answers, TakeAsManyIterationsAsAskedFor) {
  for (const char* n : {"1", "7", "300"}) {  // all but the first long after nothing changes
    const auto json = json_of(std::string{"run pagerank g.txt --verify --iterations "} + n);
    EXPECT_EQ(json["iterations"], std::stoi(n));
    if (n != std::string{"7"}) {
      EXPECT_EQ(json["facts"]["converged"], n == std::string{"1"} ? "no" : "yes");
    }
  }
  EXPECT_LT(json_of("run pagerank g.txt --iterations 300 --tolerance 1e-3")["iterations"], 300);
}

TEST_F(Answers, HoldEveryIdInNpy) {
  folder_.write("wide.txt", "18446744073709551614 3\n3 9223372036854775808\n");
  ASSERT_EQ(spillway("run bfs wide.txt --source 18446744073709551614 -o r.npy").code, 0);
  const std::string bytes = testing::read_file(folder_ / "r.npy");
  EXPECT_NE(bytes.find("('parent', '<u8')"), std::string::npos);
  const std::string rows = bytes.substr(bytes.find('\n') + 1);
  ASSERT_EQ(rows.size(), 3u * 24);
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, rows.data() + at, sizeof value);
    return value;
  };
  EXPECT_EQ(word(0), 3u);
  EXPECT_EQ(word(16), 18446744073709551614u);
  EXPECT_EQ(word(64), 18446744073709551614u) << "the source is its own parent";
  folder_.write("widest.txt", "18446744073709551615 3\n");
  expect_error("run bfs widest.txt --source 3 -o r.npy", 3, "no value left for 'no vertex'");
}

TEST_F(Answers, KeepNamesApartThatAreNoUtf8) {
  folder_.write("n.csv", "source,target\na\xff,b\na\xfe,b\na\\xff,b\n\xc3\xa9,b\n");
  ASSERT_EQ(spillway("run degrees n.csv -o r.json").code, 0);
  std::set<std::string> names;
  for (const auto& row : nlohmann::json::parse(testing::read_file(folder_ / "r.json")))
    names.insert(row["vertex"]);
  EXPECT_EQ(names, (std::set<std::string>{"b", "a\\xff", "a\\xfe", "a\\x5cxff", "\xc3\xa9"}));
  EXPECT_EQ(json_of("run degrees n.csv --top 5")["top"].size(), 5u);
}

TEST_F(Answers, AreTheShortestTextThatReadsBack) {
  folder_.write("f.txt", "0 1 0.1\n1 2 16777217.5\n");
  ASSERT_EQ(spillway("run sswp f.txt --source 0 -o r.csv").code, 0);
  EXPECT_NE(testing::read_file(folder_ / "r.csv").find("\n1,0.1,0\n"), std::string::npos);
  const auto top = spillway("run sswp f.txt --source 1 --top 9 --json").out;
  EXPECT_NE(top.find("16777218"), std::string::npos) << top;
}

}  // namespace
}  // namespace spillway
