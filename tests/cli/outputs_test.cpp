// Outputs of commands: two of one command appear together, nothing that was read is written over, a file that
// fails or changes while it is in use ends with a message, and so do threads that nobody grants.
#include <sys/stat.h>

#include <fstream>

#include "command_line.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::read_file;

class Outputs : public testing::CommandLineTest {
 protected:
  void SetUp() override { folder_.write("g.txt", graph_); }

  /// The command is refused as a mistake in its use, and the file stays as it is.
  void expect_kept(const std::string& arguments, const std::string& file, const std::string& before = "") {
    const std::string was = read_file(folder_ / file);
    expect_error(arguments, 2, "this file is read", before);
    EXPECT_EQ(read_file(folder_ / file), was) << arguments;
  }

  const std::string graph_ = "10 20\n20 30\n30 10\n";
};

TEST_F(Outputs, OfOneCommandAppearTogetherOrNotAtAll) {
  EXPECT_EQ(spillway("convert g.txt g.mtx --id-map ids.txt").code, 0);
  EXPECT_EQ(read_file(folder_ / "ids.txt"), "10\n20\n30\n");
  fs::remove(folder_ / "g.mtx"), fs::remove(folder_ / "ids.txt");
  // The graph is larger than the limit, the table is not.
  const std::string edges = "for i in $(seq 3000); do echo $i 1; done > many.txt; ulimit -f 30; ";
  expect_error("convert many.txt many.spill --id-map ids.txt", 3, "File too large", edges);
  EXPECT_FALSE(fs::exists(folder_ / "ids.txt"));
  EXPECT_FALSE(fs::exists(folder_ / "many.spill"));
  expect_error("run induced g.txt --members 10,20 -o r.el --id-map /nowhere/ids.txt", 3, "there is no folder");
  EXPECT_FALSE(fs::exists(folder_ / "r.el"));
  EXPECT_EQ(spillway("run induced g.txt --members 10,20 -o r.el --id-map ids.txt").code, 0);
  EXPECT_EQ(read_file(folder_ / "ids.txt"), "10\n20\n");
}

TEST_F(Outputs, DoNotMixWithJsonOnStandardOutput) {
  expect_error("convert g.txt g.mtx --id-map - --json", 2, "--json and --id-map");
  expect_error("run induced g.txt --members 10 -o r.el --id-map - --json", 2, "--json and --id-map");
  EXPECT_FALSE(fs::exists(folder_ / "g.mtx"));
  EXPECT_EQ(spillway("convert g.txt g.mtx --id-map - -q").out, "10\n20\n30\n");
}

TEST_F(Outputs, NeverReplaceTheGraphUnderAnyName) {
  fs::create_symlink("g.txt", folder_ / "link.txt");
  fs::create_hard_link(folder_ / "g.txt", folder_ / "hard.txt");
  fs::create_directory(folder_ / "sub");
  for (const std::string out :
       {"g.txt", "./g.txt", "sub/../g.txt", "link.txt", "hard.txt", "/proc/self/cwd/g.txt"}) {
    expect_kept("convert g.txt " + out + " --to edgelist", "g.txt");
    expect_kept("run induced g.txt --members 10 -o " + out, "g.txt");
  }
  expect_kept("convert g.txt /proc/self/fd/7 --to edgelist", "g.txt", "exec 7<>g.txt; ");
  expect_kept("convert - g.txt", "g.txt", "exec <g.txt; ");
  expect_kept("convert g.txt out.mtx --id-map link.txt", "g.txt");
  EXPECT_FALSE(fs::exists(folder_ / "out.mtx"));
}

TEST_F(Outputs, NeverReplaceStandardOutputThatIsTheGraph) {
  spillway("convert g.txt - >> g.txt 2> said; echo $? > code; true");
  EXPECT_EQ(read_file(folder_ / "code"), "2\n");
  EXPECT_NE(read_file(folder_ / "said").find("this file is read (the graph)"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "g.txt"), graph_);
}

TEST_F(Outputs, NeverReplaceWhatBelongsToTheGraph) {
  folder_.write("l.v", "1\n2\n"), folder_.write("l.e", "1 2\n"),
      folder_.write("l.properties", "graph.l.directed = true\n");
  fs::create_symlink("l.v", folder_ / "v.csv");
  expect_kept("convert l.e l.v --to edgelist", "l.v");
  expect_kept("convert l.e l.properties --to edgelist", "l.properties");
  expect_kept("convert l.e l.mtx --id-map l.v", "l.v");
  expect_kept("run bfs l.e --source 1 -o v.csv", "l.v");
  folder_.write("p.packed", std::string("\1\0\0\0\2\0\0\0\0\0\0\0", 12));
  folder_.write("p.packed.weights", std::string(4, '\0'));
  expect_kept("convert p.packed p.packed.weights --to edgelist", "p.packed.weights");
}

TEST_F(Outputs, NeverReplaceWhatElseIsRead) {
  folder_.write("ids.csv", "10\n");
  fs::create_symlink("ids.csv", folder_ / "link.csv");
  expect_kept("run bfs g.txt --source @ids.csv -o link.csv", "ids.csv");
  expect_kept("run induced g.txt --members @ids.csv -o link.csv", "ids.csv");
  folder_.write("source.cpp", "int x;\n"), folder_.write("more.cpp", "int y;\n");
  fs::create_symlink("source.cpp", folder_ / "link.so");
  fs::create_hard_link(folder_ / "more.cpp", folder_ / "more.so");
  expect_kept("build source.cpp -o link.so", "source.cpp");
  expect_kept("build source.cpp -o more.so -- more.cpp", "more.cpp");
}

TEST_F(Outputs, MayReplaceAnyOtherFile) {
  folder_.write("old.el", "1 2\n");
  ASSERT_EQ(chmod((folder_ / "old.el").c_str(), 0640), 0);
  EXPECT_EQ(spillway("convert g.txt old.el").code, 0);
  EXPECT_NE(read_file(folder_ / "old.el").find("10 20"), std::string::npos);
  struct stat info {};
  ASSERT_EQ(stat((folder_ / "old.el").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(spillway("convert g.txt /dev/null --to edgelist").code, 0);
}

TEST_F(Outputs, OfAKilledCommandDoNotBlockTheNext) {
  for (const char* name : {"g.spill.spillway-00112233445566aa.tmp", "g.spill.1-0.tmp"})
    folder_.write(name, "half");
  EXPECT_EQ(spillway("convert g.txt g.spill").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "g.spill.spillway-00112233445566aa.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "g.spill.1-0.tmp")) << "nobody knows whose it is";
}

TEST_F(Outputs, AreNotMadeOfAFileThatChanged) {
  EXPECT_EQ(spillway("generate kron --scale 12 k.spill").code, 0);
  // Whoever opens the pipe waits for its reader, who comes when the graph is mapped, and waits for what is
  // written.
  const std::string slowly = "mkfifo priors; (exec 3> priors; touch k.spill; echo 1 0.9 0.1 >&3) & ";
  expect_error("run bp k.spill --priors priors -o r.csv", 3, "k.spill: the file changed while it was in use",
               slowly);
  EXPECT_FALSE(fs::exists(folder_ / "r.csv"));
}

TEST_F(Outputs, AreNotMadeOfAFileThatWasCutShort) {
  EXPECT_EQ(spillway("generate kron --scale 16 k.spill").code, 0);
  // Cut while it computes, again and again until the moment is right: whenever it is, there is a message.
  for (const char* wait : {"0.02", "0.05", "0.1", "0.2"}) {
    fs::copy_file(folder_ / "k.spill", folder_ / "cut.spill", fs::copy_options::overwrite_existing);
    const std::string cut     = std::string{"true; (sleep "} + wait + "; truncate -s 100000 cut.spill) & ";
    const Outcome     outcome = spillway("run pagerank cut.spill --repeat 1000 -o r.csv", cut);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("error: cut.spill: "), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "r.csv"));
  }
}

TEST_F(Outputs, NeedThreadsThatTheSystemGrants) {
  expect_error("info g.txt", 2, "OMP_NUM_THREADS asks for 65536 threads", "OMP_NUM_THREADS=65536 ");
  EXPECT_EQ(spillway("info g.txt --threads 2", "OMP_NUM_THREADS=65536 ").code, 0);
#ifndef __SANITIZE_ADDRESS__  // which takes more than any such limit
  EXPECT_EQ(spillway("convert g.txt g.spill").code, 0);
  expect_error("info g.spill --threads 4096", 4, "the system grants", "ulimit -v 3000000; ");
#endif
}

TEST_F(Outputs, OfOneCommandAreTwoFilesAlsoBehindALink) {
  fs::create_symlink("o.spill", folder_ / "link");
  expect_error("convert g.txt o.spill --id-map link", 2, "--id-map");
  EXPECT_FALSE(fs::exists(folder_ / "o.spill"));
}

#ifndef __SANITIZE_ADDRESS__  // which has a handler of its own
TEST_F(Outputs, AreNotMadeOfAFileThatWasWrittenToWhileItWasInUse) {
  ASSERT_EQ(spillway("generate kron --scale 15 k.spill").code, 0);
  for (const std::string wait : {"0.05", "0.1", "0.2"}) {
    const std::string graph = "t" + wait + ".spill";  // of its own: the last one may still be written to
    fs::copy_file(folder_ / "k.spill", folder_ / graph);
    const std::string spoil = "true; (sleep " + wait + "; dd if=/dev/urandom of=" + graph +
                              " bs=1M count=2 conv=notrunc status=none) & ";
    const Outcome outcome = spillway("run scc " + graph + " --repeat 2000 -o r.csv", spoil);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find(graph), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "r.csv"));
  }
}
#endif

}  // namespace
}  // namespace spillway
