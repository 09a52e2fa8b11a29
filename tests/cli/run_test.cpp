// `spillway run`: what it answers, and what it says to questions that cannot be answered.
#include <nlohmann/json.hpp>

#include "command_line.hpp"

namespace spillway {
namespace {

using CommandOutcome = testing::Outcome;
using testing::read_file;

class RunCommand : public testing::CommandLineTest {};

TEST_F(RunCommand, WritesLevelsAndParents) {
  folder_.write("g.txt", "ann bob\nbob cid\ndan ann\n");
  EXPECT_EQ(spillway("run bfs g.txt --source ann --verify -o r.csv").code, 0);
  EXPECT_EQ(read_file(folder_ / "r.csv"), "vertex,level,parent\nann,0,ann\nbob,1,ann\ncid,2,bob\ndan,,\n");
  EXPECT_EQ(spillway("run bfs g.txt --source ann -o r.json").code, 0);
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"));
  EXPECT_EQ(json[3]["level"], nullptr);
  EXPECT_EQ(json[3]["parent"], nullptr);
}

TEST_F(RunCommand, WritesInfinityAndMinusOne) {
  folder_.write("g.txt", "0 1 5\n2 0 1\n");
  EXPECT_EQ(spillway("run sssp g.txt --source 0 -o r.csv").code, 0);
  EXPECT_EQ(read_file(folder_ / "r.csv"), "vertex,distance,parent\n0,0,0\n1,5,0\n2,inf,\n");
  EXPECT_EQ(spillway("run sssp g.txt --source 0 -o r.npy").code, 0);
  const std::string npy = read_file(folder_ / "r.npy");
  EXPECT_NE(npy.find("('distance', '<f8'), ('parent', '<i8')"), std::string::npos);
  double       distance = 0;
  std::int64_t parent   = 0;
  std::memcpy(&distance, npy.data() + npy.size() - 16, 8);
  std::memcpy(&parent, npy.data() + npy.size() - 8, 8);
  EXPECT_EQ(distance, std::numeric_limits<double>::infinity());
  EXPECT_EQ(parent, -1);
}

TEST_F(RunCommand, AsksForEverySource) {
  folder_.write("g.txt", "0 1\n1 2\n2 0\n");
  folder_.write("sources.txt", "# three of them\n2\n\n0  # the first\n1\n");
  const auto list = nlohmann::json::parse(spillway("run bfs g.txt --source 0,2 --json --verify").out);
  ASSERT_EQ(list["runs"].size(), 2u);
  EXPECT_EQ(list["runs"][1]["source"], "2");
  EXPECT_EQ(list["runs"][1]["verified"]["right"], true);
  EXPECT_EQ(spillway("run bfs g.txt --source @sources.txt -o 'r-{source}.csv'").code, 0);
  EXPECT_EQ(read_file(folder_ / "r-2.csv"), "vertex,level,parent\n0,1,2\n1,2,0\n2,0,2\n");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r-1.csv"));
  expect_error("run bfs g.txt --source 0,1 -o r.csv", 2, "{source}");
  expect_error("run pagerank g.txt --source @sources.txt", 2, "takes no --source");
  expect_error("run bfs g.txt --sources sources.txt", 2, "did you mean '--source'?");
  expect_error("run bfs g.txt --source @missing.txt", 3, "missing.txt");
}

TEST_F(RunCommand, TellsOfEveryIteration) {
  folder_.write("g.txt", "0 1\n1 2\n");
  const auto json = nlohmann::json::parse(spillway("run bfs g.txt --source 0 --json").out);
  EXPECT_EQ(json["iterations"], 3);
  ASSERT_EQ(json["per_iteration"].size(), 3u);
  EXPECT_EQ(json["per_iteration"][1]["active_vertices"], 1);
  EXPECT_EQ(json["per_iteration"][1]["active_edges"], 1);
  EXPECT_EQ(json["per_iteration"][1]["direction"], "push");
  EXPECT_NE(spillway("run bfs g.txt --source 0 --statistics").out.find("direction"), std::string::npos);
  const auto pulled = nlohmann::json::parse(spillway("run bfs g.txt --source 0 --direction pull --json").out);
  EXPECT_EQ(pulled["per_iteration"][0]["direction"], "pull");
}

TEST_F(RunCommand, TellsWhereNothingIsKnownOfIterations) {
  folder_.write("g.txt", "0 1\n1 2\n");
  const std::string out = spillway("run degrees g.txt --statistics").out;
  EXPECT_NE(out.find("no statistics per iteration"), std::string::npos) << out;
  EXPECT_EQ(out.find("direction"), std::string::npos) << out;
}

TEST_F(RunCommand, TellsFacts) {
  folder_.write("g.txt", "0 1\n1 2\n2 0\n");
  EXPECT_NE(spillway("run kcore g.txt").out.find("deepest core: 2"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(spillway("run kcore g.txt --json").out)["facts"]["deepest core"], 2);
}

TEST_F(RunCommand, LeavesTheUnreachedOutOfTheTop) {
  folder_.write("g.txt", "0 1\n3 0\n");
  const auto top = nlohmann::json::parse(spillway("run bfs g.txt --source 0 --top 5 --json").out)["top"];
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[1], (nlohmann::json{{"vertex", 1}, {"level", 1}, {"parent", 0}})) << "numbers are numbers";
}

TEST_F(RunCommand, CountsTheInfiniteAmongTheLargest) {
  folder_.write("g.txt", "0 1 5\n1 2 3\n");
  const auto top = nlohmann::json::parse(spillway("run sswp g.txt --source 0 --top 2 --json").out)["top"];
  EXPECT_EQ(top[0], (nlohmann::json{{"vertex", 0}, {"width", "inf"}, {"parent", 0}}));
  EXPECT_EQ(top[1]["vertex"], 1);
}

TEST_F(RunCommand, TellsOfEveryRepeat) {
  folder_.write("g.txt", "0 1\n");
  const auto times = nlohmann::json::parse(spillway("run tc g.txt --repeat 4 --json").out)["time_ms"];
  EXPECT_EQ(times["prepare"].size(), 4u);
  EXPECT_EQ(times["run"].size(), 4u);
}

TEST_F(RunCommand, WritesFactsWhereThereAreNoColumns) {
  folder_.write("g.txt", "0 1\n1 2\n2 0\n");
  EXPECT_NE(spillway("run tc g.txt -o r.csv").err.find("holds the facts"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "r.csv"), "fact,value\ntriangles,1\n");
  EXPECT_EQ(spillway("run tc g.txt -o r.json").code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder_ / "r.json")), (nlohmann::json{{"triangles", 1}}));
  expect_error("run tc g.txt -o r.npy", 2, "no columns");
  expect_error("run tc missing.txt -o r.npy", 2, "without --per-vertex, tc has no columns to write");
  EXPECT_EQ(spillway("run tc g.txt --per-vertex -o each.npy").code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.npy"));
}

TEST_F(RunCommand, WritesNamesIntoBinaryColumns) {
  folder_.write("g.txt", "ann bobby\nbobby cid\ndan ann\n");
  EXPECT_EQ(spillway("run bfs g.txt --source ann -o r.npy").code, 0);
  const std::string npy = read_file(folder_ / "r.npy");
  EXPECT_NE(npy.find("('vertex', '|S5'), ('level', '<i8'), ('parent', '|S5')"), std::string::npos);
  const auto record = [&](std::size_t from_end) { return npy.substr(npy.size() - from_end * 18, 18); };
  EXPECT_EQ(record(2), std::string("cid\0\0\2\0\0\0\0\0\0\0bobby", 18));
  EXPECT_EQ(record(1), std::string("dan\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0", 18)) << "no parent";
}

TEST_F(RunCommand, SaysOnlyTheAnswerWhenQuiet) {
  folder_.write("g.txt", "0 1\n1 2\n2 0\n");
  const CommandOutcome outcome = spillway("run tc g.txt -q --verify");
  EXPECT_EQ(outcome.out, "triangles: 1\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(spillway("convert g.txt g.el -q").out, "");
}

TEST_F(RunCommand, CountsAsPeopleDo) {
  folder_.write("loop.txt", "0 0\n");
  EXPECT_NE(spillway("run bfs loop.txt --source 0").out.find("on 1 vertex and 1 arc:"), std::string::npos);
  expect_error("run bfs loop.txt --source 5", 3, "whose one vertex is '0'");
}

TEST_F(RunCommand, SaysWhatIsWrongWithTheSource) {
  folder_.write("g.txt", "0 1\n");
  expect_error("run bfs g.txt", 2, "--source");
  expect_error("run bfs g.txt --source", 2, "needs a value");
  expect_error("run bfs g.txt --source 7", 3, "'7' is not in the graph, whose 2 vertices are '0' to '1'");
  expect_error("run bfs g.txt --source ''", 2, "--source needs a value");
  expect_error("run sssp g.txt --source x --weights unit", 3, "'x' is not in the graph");
}

TEST_F(RunCommand, SaysWhatIsWrongWithWeights) {
  folder_.write("plain.txt", "0 1\n1 2\n");
  folder_.write("negative.txt", "0 1 2.5\n1 2 -1.5\n");
  folder_.write("large.txt", "0 1 4000000000\n1 2 4000000000\n");
  expect_error("run sssp plain.txt --source 0", 3, "--weights unit");
  expect_error("run sssp plain.txt --source 0 --weights heavy", 2, "unit or random:SEED");
  expect_error("run sssp negative.txt --source 0", 3, "the arc from 1 to 2 has -1.5");
  expect_error("run sswp negative.txt --source 0", 3, "the arc from 1 to 2 has -1.5");
  expect_error("run sssp large.txt --source 0", 3, "the distance of vertex 2 exceeds 4294967293");
  EXPECT_EQ(spillway("run sssp large.txt --source 0 --weight-type f32 --verify").code, 0);
  EXPECT_EQ(spillway("run sssp plain.txt --source 0 --weights unit -o r.csv --verify").code, 0);
  EXPECT_EQ(read_file(folder_ / "r.csv"), "vertex,distance,parent\n0,0,0\n1,1,0\n2,2,1\n");
  EXPECT_EQ(spillway("run sssp plain.txt --source 0 --weights random:7 --verify").code, 0);
  EXPECT_NE(spillway("run sssp large.txt --source 0 --weights unit").err.find("replaces"), std::string::npos);
}

TEST_F(RunCommand, SuggestsWhatWasMeant) {
  folder_.write("g.txt", "0 1\n");
  expect_error("run pagrank g.txt", 2, "did you mean 'pagerank'");
  expect_error("run pagerank g.txt --dampng 0.5", 2, "did you mean '--damping'");
  expect_error("run pagerank g.txt --damping 1.5", 2, "--damping is 1.5");
  expect_error("run pagerank g.txt --dangling keep", 2, "--dangling is keep");
  expect_error("run pagerank g.txt --damping 0.5 --damping 0.6", 2, "given twice");
  expect_error("run kcore g.txt --k 0", 2, "--k is 0");
  EXPECT_NE(spillway("run pagerank --help").out.find("--damping"), std::string::npos);
}

TEST_F(RunCommand, AnswersNothingAboutNothing) {
  folder_.write("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  for (const char* algorithm : {"pagerank", "kcore", "degrees", "radius", "bc"}) {
    const CommandOutcome outcome = spillway(std::string{"run "} + algorithm + " g.mtx --verify --top 3 -o r.csv");
    EXPECT_EQ(outcome.code, 0) << algorithm << ": " << outcome.err;
    EXPECT_TRUE(read_file(folder_ / "r.csv").starts_with("vertex,"));
  }
  expect_error("run bfs g.mtx --source 1", 3, "has no vertices");
}

TEST_F(RunCommand, SaysHowMuchTheStateNeeds) {
  ASSERT_EQ(spillway("generate chain --vertices 3000000 chain.spill").code, 0);
  const CommandOutcome outcome = spillway("run bfs chain.spill --source 0 --host-memory 20M");
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_NE(outcome.err.find("not enough memory for the state of the vertices: needs 4"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("give --host-memory 4"), std::string::npos) << outcome.err;
}

TEST_F(RunCommand, StopsWhenInterrupted) {
  ASSERT_EQ(spillway("generate kron --scale 16 --undirected k.spill").code, 0);
  const CommandOutcome outcome =
      spillway("run bc k.spill --sources all -o r.csv", "timeout --preserve-status -s INT 0.7 ");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(folder_.file_count(), 1u) << "only the graph is there";
}

TEST_F(RunCommand, StopsBetweenShortRunsWhenInterrupted) {
  folder_.write("g.txt", "0 1\n");
  const std::string    stop    = "timeout --preserve-status -s INT -k 20 0.7 ";
  const CommandOutcome repeats = spillway("run degrees g.txt --undirected --repeat 1000000000", stop);
  EXPECT_EQ(repeats.code, 130) << repeats.err;
}

TEST_F(RunCommand, RepeatsFloatsBitForBit) {
  ASSERT_EQ(spillway("generate kron --scale 14 --undirected k.spill").code, 0);
  const std::string command = "run pagerank k.spill --form residual --deterministic -o ";
  ASSERT_EQ(spillway(command + "a.npy --threads 1").code, 0);
  ASSERT_EQ(spillway(command + "b.npy --threads 2").code, 0);
  EXPECT_EQ(read_file(folder_ / "a.npy"), read_file(folder_ / "b.npy"));
}

}  // namespace
}  // namespace spillway
