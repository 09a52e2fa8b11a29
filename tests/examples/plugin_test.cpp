// The examples as plug-ins: built from where they stand, and run from the command line.
#include "command_line.hpp"

namespace spillway {
namespace {

class ExamplePlugin : public testing::CommandLineTest {
 protected:
  void SetUp() override { folder_.write("g.txt", "a b 4\nb c 2\nc d 9\na d 1\n"); }

  /// The answer of an example on the graph, as text.
  std::string answer(const std::string& example, const std::string& arguments) {
    const auto built = spillway("build '" SPILLWAY_SOURCE "/examples/" + example + ".cpp' -o ex.so -- -O0 -Wall");
    EXPECT_EQ(built.code, 0) << built.err;
    EXPECT_EQ(built.err, "") << "no warnings";
    const auto ran = spillway("run ./ex.so g.txt " + arguments + " --output answer.csv");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return testing::read_file(folder_ / "answer.csv");
  }
};

TEST_F(ExamplePlugin, WidestPath) {
  EXPECT_EQ(answer("widest_path", "--source a"), "vertex,width\na,inf\nb,4\nc,2\nd,2\n");
}

TEST_F(ExamplePlugin, LabelSpread) {
  EXPECT_EQ(answer("label_spread", "--seeds b,a"), "vertex,seed,hops\na,a,0\nb,b,0\nc,b,1\nd,a,1\n");
}

TEST_F(ExamplePlugin, PersonalRank) {
  const std::string ranks = answer("personal_rank", "--source c --restart 0.5");
  EXPECT_TRUE(ranks.starts_with("vertex,rank\na,0\nb,0\nc,0.66")) << ranks;
}

}  // namespace
}  // namespace spillway
