// The program as a person uses it: what it prints where, and the exit code it ends with.
#include <nlohmann/json.hpp>

#include "command_line.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

using testing::Outcome;
using testing::read_file;

class CommandLine : public testing::CommandLineTest {};

TEST_F(CommandLine, ConvertsInspectsVerifiesAndRuns) {
  folder_.write("g.txt", "10 20\n20 30\n30 10\n10 30\n");
  EXPECT_EQ(spillway("convert g.txt g.spill").code, 0);
  const Outcome info = spillway("info g.spill");
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find("vertices           3"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("numbers with gaps, 10 to 30"), std::string::npos) << info.out;
  EXPECT_EQ(spillway("verify g.spill").code, 0);
  EXPECT_EQ(spillway("run degrees g.spill --verify --output d.csv").code, 0);
  EXPECT_EQ(read_file(folder_ / "d.csv"), "vertex,out,in\n10,2,1\n20,1,1\n30,1,2\n");
  EXPECT_EQ(spillway("run degrees g.spill --output d.tsv").code, 0);
  EXPECT_EQ(read_file(folder_ / "d.tsv"), "vertex\tout\tin\n10\t2\t1\n20\t1\t1\n30\t1\t2\n");
  EXPECT_EQ(spillway("run degrees g.spill --output d.json").code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder_ / "d.json"))[2],
            (nlohmann::json{{"vertex", 30}, {"out", 1}, {"in", 2}}));
  EXPECT_EQ(spillway("run degrees g.spill --output d.npy").code, 0);
  const std::string npy = read_file(folder_ / "d.npy");
  EXPECT_TRUE(npy.starts_with("\x93NUMPY"));
  EXPECT_EQ(npy.size() % 64, 3 * 24 % 64) << "header padded to 64, three records of three 8-byte fields";
}

TEST_F(CommandLine, PrintsTheTop) {
  folder_.write("g.txt", "ann bob\nann cid\nbob cid\n");
  const Outcome outcome = spillway("run degrees g.txt --top 1");
  EXPECT_NE(outcome.out.find("                 ann              2              0\n"), std::string::npos)
      << outcome.out;
}

TEST_F(CommandLine, SpeaksJson) {
  folder_.write("g.txt", "0 1 5\n1 0 2\n");
  const auto run = nlohmann::json::parse(spillway("run degrees g.txt --json --verify --repeat 3").out);
  EXPECT_EQ(run["graph"]["vertices"], 2);
  EXPECT_EQ(run["graph"]["weights"], "u32");
  EXPECT_EQ(run["time_ms"]["run"].size(), 3u);
  EXPECT_EQ(run["verified"]["right"], true);
  EXPECT_EQ(nlohmann::json::parse(spillway("info g.txt --json").out)["loops"], 0);
  EXPECT_TRUE(nlohmann::json::parse(spillway("devices --json").out)["devices"].is_array());
  EXPECT_EQ(nlohmann::json::parse(spillway("algorithms --json").out)["algorithms"][0]["name"], "bc");
  EXPECT_EQ(nlohmann::json::parse(spillway("convert g.txt g.sg --weight-type none --json").out)["graph"]["arcs"],
            2);
}

TEST_F(CommandLine, ReadsPipesAndWritesStandardOutput) {
  folder_.write("g.txt", "0 1\n1 2\n");
  EXPECT_NE(spillway("info -", "cat g.txt | ").out.find("vertices           3"), std::string::npos);
  EXPECT_NE(spillway("info -", "gzip -c g.txt | ").out.find("vertices           3"), std::string::npos);
  EXPECT_EQ(spillway("convert g.txt -").out,
            "# Spillway edge list: vertices 3 arcs 2 first 0 weights none\n0 1\n1 2\n");
  const Outcome big = spillway("info -", "(seq 1 60000 | awk '{print $1, $1+1}'; echo 5 99999999999) | ");
  EXPECT_EQ(big.code, 3);
  EXPECT_NE(big.err.find("--ids"), std::string::npos) << big.err;
}

TEST_F(CommandLine, EndsWithTheRightCode) {
  folder_.write("good.txt", "0 1\n");
  folder_.write("bad.txt", "0 1\nx y\n");
  std::string large;
  for (int i = 0; i < 300'000; ++i) large += "1 2\n";
  folder_.write("large.txt", large);
  EXPECT_EQ(spillway("--help").code, 0);
  EXPECT_EQ(spillway("--version").code, 0);
  EXPECT_EQ(spillway("").code, 2);
  EXPECT_EQ(spillway("info").code, 2);
  EXPECT_EQ(spillway("info bad.txt").code, 3);
  EXPECT_EQ(spillway("info missing.txt").code, 3);
  EXPECT_EQ(spillway("info .").code, 3);
  EXPECT_EQ(spillway("run degrees large.txt --host-memory 1M").code, 4);
  EXPECT_EQ(spillway("info large.txt --host-memory 1M").code, 0);
  EXPECT_EQ(spillway("info good.txt --host-memory many").code, 2);
  EXPECT_EQ(spillway("run degrees good.txt --output d.xyz").code, 2);
  EXPECT_EQ(spillway("run degrees good.txt --device cuda").code, 2);
  EXPECT_EQ(spillway("run degrees good.txt --output nowhere/d.csv").code, 3);
  EXPECT_EQ(spillway("verify good.txt").code, 3);
  EXPECT_EQ(spillway("generate kron --scale 40 k.spill").code, 2);
}

TEST_F(CommandLine, SuggestsWhatWasMeant) {
  folder_.write("g.txt", "0 1\n");
  const auto says = [&](const std::string& arguments, const std::string& text) {
    const Outcome outcome = spillway(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.err.find("did you mean '" + text + "'"), std::string::npos)
        << arguments << ": " << outcome.err;
  };
  says("run degres g.txt", "degrees");
  says("covert g.txt g.spill", "convert");
  says("info g.txt --undirectd", "--undirected");
  says("run degrees g.txt --undirectd", "--undirected");
  says("info g.txt --format edgelst", "edgelist");
  says("generate kronn g.spill", "kron");
}

TEST_F(CommandLine, LeavesNothingWhenInterrupted) {
  const Outcome outcome = spillway("generate kron --scale 24 k.spill", "timeout --preserve-status -s INT 0.5 ");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(folder_.file_count(), 0u);
}

TEST_F(CommandLine, LeavesIgnoredSignalsIgnored) {
  // The shell becomes the program, so that $$ is its number; it waits for the pipe while the signal comes.
  const auto hung_up = [](const std::string& trap) {
    return trap + "mkfifo pipe; (exec 3>pipe; sleep 0.5; kill -HUP $$; sleep 0.5; rm pipe; echo 0 1 >&3) & exec ";
  };
  EXPECT_EQ(spillway("info - <pipe", hung_up("trap '' HUP; ")).code, 0) << "as nohup starts it";
  EXPECT_EQ(spillway("info - <pipe", hung_up("")).code, 130);
}

TEST_F(CommandLine, AKilledConversionLeavesNothingThatLooksFinished) {
  ASSERT_EQ(spillway("generate uniform --vertices 2000000 --degree 16 whole.spill").code, 0);
  spillway("convert whole.spill cut.el", "timeout -s KILL 0.3 ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cut.el"));
}

TEST_F(CommandLine, NeverWritesOverTheGraph) {
  folder_.write("g.csv", "7,900\n");
  EXPECT_EQ(spillway("convert g.csv g.spill --id-map g.csv").code, 2);
  EXPECT_EQ(spillway("convert g.csv g.spill --id-map ./g.spill").code, 2);
  EXPECT_EQ(spillway("run degrees g.csv --output ./g.csv").code, 2);
  EXPECT_EQ(read_file(folder_ / "g.csv"), "7,900\n");
}

TEST_F(CommandLine, SaysWhenOutputCannotBeWritten) {
  folder_.write("g.txt", "0 1\n");
  EXPECT_EQ(spillway("info g.txt", "exec 3>/dev/full; sh_full() { \"$@\" >&3; }; sh_full ").code, 3);
  const std::string says = "standard output: cannot write: ";
  expect_error("algorithms", 3, says + "No space left", "on_full() { \"$@\" >/dev/full; }; on_full ");
  ASSERT_EQ(spillway("generate chain --vertices 1000 chain.el").code, 0);
  expect_error("run degrees chain.el --top 1000", 3, says + "Bad file", "on_none() { \"$@\" >&-; }; on_none ");
  EXPECT_EQ(spillway("info missing.txt 2>&- #").code, 3) << "nobody hears the message, and that is no crash";
}

TEST_F(CommandLine, SaysWhenAFileMayNotGrow) {
  expect_error("generate kron --scale 12 k.spill", 3, "File too large", "ulimit -f 8; ");
  expect_error("generate kron --scale 12 k.el", 3, "File too large", "ulimit -f 8; ");
  EXPECT_EQ(folder_.file_count(), 0u);
}

TEST_F(CommandLine, RefusesNumbersThatAreNone) {
  folder_.write("g.txt", "0 1\n");
  for (const char* wrong :
       {"run degrees g.txt --top -1", "run degrees g.txt --repeat 0", "info g.txt --vertices ''",
        "info g.txt --host-memory ''", "generate star --vertices 3 s.el --seed -1",
        "generate star --vertices 3 s.el --weight-range 1:5", "convert g.txt g.el --in-edges",
        "convert g.txt - --to edgelist --json"})
    EXPECT_EQ(spillway(wrong).code, 2) << wrong;
  for (const char* wrong : {"0", "2.5", "-1"})
    expect_error(std::string{"run degrees g.txt --repeat "} + wrong, 2, "--repeat takes a whole number from 1 to");
  expect_error("info g.txt --host-memory 99999999999E", 2, "--host-memory: 99999999999E is too large");
}

TEST_F(CommandLine, BoundsWhatARunHolds) {
  ASSERT_EQ(spillway("generate chain --vertices 3000000 chain.spill").code, 0);
  EXPECT_EQ(spillway("run degrees chain.spill --host-memory 10M").code, 4);
  const auto run = nlohmann::json::parse(spillway("run degrees chain.spill --json --top 2").out);
  EXPECT_GE(run["memory"]["host_peak"], 48'000'000);
  EXPECT_EQ(run["top"].size(), 2u);
}

TEST_F(CommandLine, DescribesAlgorithms) {
  const Outcome one = spillway("algorithms bfs");
  EXPECT_TRUE(one.out.starts_with("bfs ")) << one.out;
  EXPECT_NE(one.out.find("(needed)"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("pagerank"), std::string::npos) << one.out;
  expect_error("algorithms bsf", 2, "did you mean 'bfs'");
  EXPECT_EQ(spillway("algorithms").out.find("(default: )"), std::string::npos);
}

TEST_F(CommandLine, TellsWhichAlgorithmsRunOnGpus) {
  const auto listed = nlohmann::json::parse(spillway("algorithms --json").out)["algorithms"];
  ASSERT_GT(listed.size(), 10u);
  for (const auto& entry : listed) {
    const std::string name = entry["name"];
    EXPECT_EQ(entry["on_gpu"], algorithm_named(name).on_gpu) << name;
    const std::string told = spillway("algorithms " + name).out;
    EXPECT_EQ(told.find("(also on a GPU)") != std::string::npos, entry["on_gpu"]) << told;
  }
}

TEST_F(CommandLine, WritesThroughLinks) {
  folder_.write("g.txt", "0 1\n");
  std::filesystem::create_symlink("later.csv", folder_ / "link.csv");
  EXPECT_EQ(spillway("run degrees g.txt -o link.csv").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.csv"));
  EXPECT_EQ(read_file(folder_ / "later.csv"), "vertex,out,in\n0,1,0\n1,0,1\n");
  std::filesystem::create_symlink("b.csv", folder_ / "a.csv");
  std::filesystem::create_symlink("a.csv", folder_ / "b.csv");
  expect_error("run degrees g.txt -o a.csv", 3, "too many symbolic links");
}

TEST_F(CommandLine, ChecksWhereItWritesBeforeItReads) {
  std::filesystem::create_directory(folder_ / "folder.csv");
  const std::string longest = std::string(251, 'a') + ".csv";
  for (const char* command :
       {"run degrees missing.txt -o ", "convert missing.txt ", "generate star --vertices 3 "}) {
    expect_error(std::string{command} + "nowhere/r.csv", 3, "no folder nowhere");
    expect_error(std::string{command} + "folder.csv", 3, "this is a folder");
    expect_error(std::string{command} + "a" + longest, 3, "a name of 256 bytes");
  }
  expect_error("convert missing.txt r.xyz", 2, "no format is written under this suffix");
  EXPECT_EQ(spillway("generate star --vertices 3 " + longest).code, 0) << "beside it is a name that is not longer";
}

TEST_F(CommandLine, WarnsOfLossesEvenWhenQuiet) {
  folder_.write("g.csv", "ann,bob\nbob,cid\n");
  expect_error("run induced g.csv --members ann,cid -o r.el -q", 0, "warning: 2 isolated vertices");
  expect_error("run induced g.csv --members ann,cid -o r.sg -q", 0, "save the table with --id-map");
  const Outcome kept = spillway("run induced g.csv --members ann,cid -o r.sg --id-map ids.txt -q");
  EXPECT_EQ(kept.code, 0);
  EXPECT_EQ(kept.err, "");
  EXPECT_EQ(read_file(folder_ / "ids.txt"), "ann\ncid\n");
  expect_error("run degrees g.csv --id-map ids.txt", 2, "--id-map is for answers that are graphs");
}

TEST_F(CommandLine, KeepsTheTableOfIds) {
  folder_.write("g.txt", "7 900\n");
  const Outcome outcome = spillway("convert g.txt g.sg --id-map ids.txt");
  EXPECT_NE(outcome.err.find("--id-map"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_file(folder_ / "ids.txt"), "7\n900\n");
}

}  // namespace
}  // namespace spillway
