// Plug-ins as their authors meet them: built from a source file outside the tree, loaded, run, and refused with a
// message that says why.
#include <dlfcn.h>
#include <signal.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "algorithms/gpu/gpu.hpp"
#include "command_line.hpp"

#include <spillway/plugin.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::Outcome;
using testing::read_file;

/// Each vertex's own number times `factor`; a factor of 0 is refused, 13 is a crash of another kind, and the check
/// does not like 7.
const std::string multiplied = R"(
#include <spillway/plugin.hpp>
#include <stdexcept>

using namespace spillway;

static Result run(const Graph& graph, const ParameterValues& values, const RunOptions&) {
  const auto factor = Parameters{"multiplied", values}.number("factor", 0, 100);
  if (factor == 0) throw Error{ExitCode::does_not_fit, "a factor of 0 does not fit"};
  if (factor == 13) throw std::runtime_error{"unlucky"};
  std::vector<std::uint64_t> numbers(graph.vertex_count());
  for (Vertex v = 0; v < graph.vertex_count(); ++v) numbers[v] = v * factor;
  Result result;
  result.columns.push_back({.name = "number", .values = Array<std::uint64_t>::own(std::move(numbers))});
  return result;
}

static Verdict verify(const Graph&, const ParameterValues& values, const Result&, const VerifyOptions&) {
  return {.how = "looking at it", .problem = values.at("factor") == "7" ? "multiples of 7 look wrong" : ""};
}

SPILLWAY_PLUGIN({.name       = "multiplied",
                 .summary    = "each vertex's number times a factor",
                 .parameters = {{.name = "factor", .help = "what to multiply with", .default_value = "2"}},
                 .columns    = {{"number", "the product"}},
                 .run        = run,
                 .verify     = verify})
)";

/// A source that compiles in no time: what a plug-in is to the system, without a header of ours.
std::string bare(const std::string& answer) {
  return "extern \"C\" __attribute__((visibility(\"default\"))) const char* spillway_plugin(const char*, void*) "
         "{ return \"" +
         answer + "\"; }\n";
}

class Plugin : public testing::CommandLineTest {
 protected:
  void SetUp() override { folder_.write("g.txt", "0 1\n1 2\n"); }

  /// The command ends with `code` and says each of the texts on standard error.
  void refuses(const std::string& arguments, ExitCode code, const std::vector<std::string>& texts) {
    const Outcome outcome = spillway(arguments);
    EXPECT_EQ(outcome.code, static_cast<int>(code)) << arguments << ": " << outcome.err;
    for (const std::string& text : texts)
      EXPECT_NE(outcome.err.find(text), std::string::npos) << arguments << ": " << outcome.err;
  }

  void build(const std::string& name, const std::string& source) {
    folder_.write(name + ".cpp", source);
    const Outcome outcome = spillway("build " + name + ".cpp -- -O0");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_EQ(outcome.err, "");
  }
};

TEST_F(Plugin, IsBuiltListedAndRun) {
  folder_.write("multiplied.cpp", multiplied);
  const Outcome built = spillway("build multiplied.cpp");
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(built.err, "");
  EXPECT_NE(built.out.find("spillway run ./multiplied.so GRAPH"), std::string::npos) << built.out;

  EXPECT_EQ(spillway("run ./multiplied.so g.txt --verify --output a.csv").code, 0);
  EXPECT_EQ(read_file(folder_ / "a.csv"), "vertex,number\n0,0\n1,2\n2,4\n");
  EXPECT_EQ(spillway("run multiplied.so g.txt --factor 5 --output b.csv").code, 0);
  EXPECT_EQ(read_file(folder_ / "b.csv"), "vertex,number\n0,0\n1,5\n2,10\n");

  const auto listed = nlohmann::json::parse(spillway("algorithms ./multiplied.so --json").out)["algorithms"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["parameters"][0]["name"], "factor");
  EXPECT_EQ(listed[0]["columns"][0]["meaning"], "the product");

  refuses("run ./multiplied.so g.txt --factor 0", ExitCode::does_not_fit, {"error: a factor of 0 does not fit"});
  refuses("run ./multiplied.so g.txt --factor 13", ExitCode::internal_error, {"unlucky"});
  refuses("run ./multiplied.so g.txt --factor 7 --verify", ExitCode::verification_failed,
          {"multiples of 7 look wrong"});
  EXPECT_EQ(spillway("run ./multiplied.so g.txt --factor 7").code, 0) << "nobody asked";
  refuses("run ./multiplied.so g.txt --factor 101", ExitCode::usage, {"factor", "101"});
  refuses("run ./multiplied.so g.txt --facto 2", ExitCode::usage, {"did you mean '--factor'"});
  refuses("run ./multiplied.so:divided g.txt", ExitCode::usage, {"no 'divided'", "multiplied"});

  std::filesystem::create_symlink("multiplied.so", folder_ / "link.csv");
  for (const std::string named : {"./multiplied.so", "./multiplied.so:multiplied"})
    refuses("run " + named + " g.txt -o link.csv", ExitCode::usage, {"this file is read (the plug-in)"});
  EXPECT_TRUE(read_file(folder_ / "multiplied.so").starts_with("\177ELF"));
}

TEST_F(Plugin, OffersSeveral) {
  build("two", R"(
#include <spillway/plugin.hpp>
using namespace spillway;
static Result nothing(const Graph&, const ParameterValues&, const RunOptions&) { return {}; }
static Algorithm named(std::string name) { Algorithm a; a.name = name; a.run = nothing; return a; }
SPILLWAY_PLUGIN(named("first"), named("second"))
)");
  const std::string path = folder_ / "two.so";
  EXPECT_EQ(failure_of([&] { load_plugin(path); }),
            (std::pair{ExitCode::usage,
                       path + " offers several algorithms (first, second); say which, as in " + path + ":first"}));
  EXPECT_EQ(load_plugin(path + ":second").name, "second");
  EXPECT_EQ(&load_plugin(path + ":first"), &algorithm_named("first")) << "loaded once, and in the registry";
  EXPECT_EQ(load_plugin_algorithms(path).size(), 2u);
  EXPECT_EQ(spillway("run two.so:second g.txt").code, 0);

  std::filesystem::copy(path, folder_ / "copy.so");
  EXPECT_EQ(failure_of([&] { load_plugin(folder_ / "copy.so"); }).first, ExitCode::bad_input) << "names are taken";
  EXPECT_EQ(load_plugin(path + ":second").name, "second") << "the refusal changed nothing";
}

TEST_F(Plugin, IsInterruptedInACheckThatDoesNotLook) {
  build("slow", R"(
#include <spillway/plugin.hpp>
#include <csignal>
#include <ctime>
using namespace spillway;
static Result nothing(const Graph&, const ParameterValues&, const RunOptions&) { return {}; }
static Verdict check(const Graph&, const ParameterValues&, const Result&, const VerifyOptions&) {
  std::raise(SIGINT);
  const std::time_t start = std::time(nullptr);
  while (std::time(nullptr) < start + 20) {}
  return {.how = "waiting"};
}
SPILLWAY_PLUGIN({.name = "slow", .run = nothing, .verify = check})
)");
  const std::time_t start = std::time(nullptr);
  refuses("run ./slow.so g.txt --verify -o r.csv", ExitCode::interrupted, {"interrupted\n"});
  EXPECT_LT(std::time(nullptr) - start, 10);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.csv"));
}

TEST_F(Plugin, TakesNoNameThatThereIs) {
  build("degrees", R"(
#include <spillway/plugin.hpp>
static spillway::Result nothing(const spillway::Graph&, const spillway::ParameterValues&, const spillway::RunOptions&) {
  return {};
}
SPILLWAY_PLUGIN({.name = "degrees", .run = nothing})
)");
  refuses("run ./degrees.so g.txt", ExitCode::bad_input, {"'degrees' already"});
}

TEST_F(Plugin, MayThrowAnything) {
  folder_.write("early.cpp", "static const int started = [] { throw 42; return 0; }();\n" + bare(SPILLWAY_ABI));
  folder_.write(
      "offering.cpp",
      "extern \"C\" __attribute__((visibility(\"default\"))) const char* spillway_plugin(const char*, void*) "
      "{ throw 42; }\n");
  ASSERT_EQ(spillway("build early.cpp").code, 0);
  ASSERT_EQ(spillway("build offering.cpp").code, 0);
  refuses("run ./early.so g.txt", ExitCode::bad_input, {"./early.so: it threw an exception while it was loaded"});
  refuses("run ./offering.so g.txt", ExitCode::bad_input, {"./offering.so: cannot say what", "no std::exception"});
  build("late", R"(
#include <spillway/run.hpp>
#include <spillway/plugin.hpp>
using namespace spillway;
struct Thrower {
  using Value   = std::uint32_t;
  using Combine = Min<Value>;
  Value init(Vertex v) const { return v; }
  bool  starts(Vertex) const { return true; }
  Value compute(Value, const Edge<>&) const { throw 42; }
};
static Result ask(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const std::string& where = values.at("where");
  if (where == "run") throw 42;
  if (where == "compute") spillway::run(Thrower{}, graph, options);
  Result result;
  if (where == "columns")
    for (int i = 0; i < 2; ++i) result.columns.push_back({.name = "same", .values = Array<float>::own(std::vector<float>(3))});
  if (where == "short") result.columns.push_back({.name = "short", .values = Array<float>::own(std::vector<float>(1))});
  return result;
}
static Verdict check(const Graph&, const ParameterValues&, const Result&, const VerifyOptions&) { throw 42; }
SPILLWAY_PLUGIN({.name = "late", .parameters = {{"where", "to throw", "nowhere"}}, .run = ask, .verify = check})
)");
  for (const char* arguments :
       {"--where run", "--where compute --threads 1", "--where compute --threads 2", "--verify"})
    refuses(std::string{"run ./late.so g.txt "} + arguments, ExitCode::internal_error,
            {"./late.so: threw something that is no std::exception"});
  refuses("run ./late.so g.txt --where columns", ExitCode::internal_error, {"./late.so: gave two columns 'same'"});
  refuses("run ./late.so g.txt --where short --top 3", ExitCode::internal_error, {"1 entry for 3 vertices"});
  EXPECT_NE(spillway("run ./late.so g.txt").out.find("late on 3 vertices"), std::string::npos) << "its name";
}

TEST_F(Plugin, HasNamesOfItsOwn) {
  build("names", R"(
#include <spillway/plugin.hpp>
using namespace spillway;
static Result nothing(const Graph&, const ParameterValues&, const RunOptions&) { return {}; }
SPILLWAY_PLUGIN({.name = "top", .parameters = {{"top", "", "1"}}, .run = nothing},
                {.name = "checkless", .run = nothing})
)");
  refuses("run ./names.so:top g.txt", ExitCode::bad_input, {"names.so", "'top' has the name of an option of run"});
  refuses("run ./names.so:checkless missing.txt --verify", ExitCode::usage, {"checkless has no verification"});
  for (const char* twice : {".columns = {{\"a\", \"\"}, {\"a\", \"\"}}",
                            ".parameters = {{\"a\", \"\"}, {\"a\", \"\"}}", ".parameters = {{\"a b\", \"\"}}"}) {
    build("twice",
          "#include <spillway/plugin.hpp>\nusing namespace spillway;\n"
          "static Result nothing(const Graph&, const ParameterValues&, const RunOptions&) { return {}; }\n"
          "SPILLWAY_PLUGIN({.name = \"twice\", " +
              std::string{twice} + ", .run = nothing})\n");
    refuses("algorithms ./twice.so", ExitCode::bad_input, {"./twice.so: '"});
  }
}

TEST_F(Plugin, SaysWhatDoesNotCompile) {
  folder_.write("wrong.cpp", "int main() { return nonsense; }\n");
  refuses("build wrong.cpp", ExitCode::bad_input, {"wrong.cpp:1:", "nonsense", "error: wrong.cpp: not built"});
  folder_.write("undefined.cpp", "int missing(); extern \"C\" int spillway_plugin() { return missing(); }\n");
  refuses("build undefined.cpp", ExitCode::bad_input, {"missing", "error: undefined.cpp: not built"});
  folder_.write("idle.cpp", "int idle() { return 1; }\n");
  refuses("build idle.cpp", ExitCode::bad_input, {"SPILLWAY_PLUGIN"});
  EXPECT_EQ(folder_.file_count(), 4u) << "the sources and the graph";
}

TEST_F(Plugin, RefusesToBuildWhatItCannot) {
  folder_.write("a.cpp", bare(SPILLWAY_ABI));
  folder_.write("a.cu", "");
  folder_.write("a.py", "");
  refuses("build missing.cpp", ExitCode::bad_input, {"missing.cpp: cannot open"});
  if (gpu::built)
    refuses("build a.cu --cxx 'no nvcc'", ExitCode::bad_input,
            {"nvcc could not be started", "no nvcc", "--gpu no"});
  refuses("build a.cpp --gpu maybe", ExitCode::usage, {"--gpu", "auto", "yes", "no"});
  refuses("build a.py", ExitCode::usage, {".cpp"});
  refuses("build", ExitCode::usage, {"SOURCE"});
  refuses("build a.cpp -o a.cpp", ExitCode::usage, {"the source itself"});
  refuses("build a.cpp -o nowhere/a.so", ExitCode::bad_input, {"nowhere/a.so: cannot create"});
  refuses("build a.cpp -o /dev/null", ExitCode::usage, {"regular file"});
  refuses("build a.cpp --cxx 'no compiler'", ExitCode::bad_input, {"no C++ compiler", "no compiler", "--cxx"});
  EXPECT_EQ(folder_.file_count(), 4u);
  EXPECT_EQ(read_file(folder_ / "a.cpp"), bare(SPILLWAY_ABI));
}

/// What nvcc makes runs on the CPU as well; tests that need a GPU run it there.
TEST_F(Plugin, IsCompiledForGpusByNvcc) {
  if (!gpu::built || std::system("command -v nvcc >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no nvcc, or built without";
  folder_.write("weighted.wel", "1 2 5\n2 3 4\n1 3 2\n");
  folder_.write("widest.cu", read_file(SPILLWAY_SOURCE "/examples/widest_path.cpp"));
  const Outcome built =
      spillway("build widest.cu --json -- -gencode arch=compute_90,code=compute_90 --Ofast-compile=max");
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(nlohmann::json::parse(built.out)["gpu"], true);
  const Outcome outcome = spillway("run ./widest.so weighted.wel --source 1 --device cpu --top 3 -q");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("4"), std::string::npos) << outcome.out;
  folder_.write("$(touch made).cu", bare(SPILLWAY_ABI));
  refuses("build '$(touch made).cu' -o made.so", ExitCode::usage, {"a shell", "use another name"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "made"));
}

TEST_F(Plugin, IsNotForGpusWhereNothingIs) {
  if (gpu::built) GTEST_SKIP() << "built with CUDA";
  folder_.write("a.cu", bare(SPILLWAY_ABI));
  refuses("build a.cu", ExitCode::usage, {"built without CUDA", "--gpu no"});
}

TEST_F(Plugin, PassesNamesAndFlagsAsTheyAre) {
  folder_.write("a b;$(c).cpp", "#if ANSWER != 42\n#error flags\n#endif\n" + bare(SPILLWAY_ABI));
  EXPECT_EQ(spillway("build 'a b;$(c).cpp' -o 'd \"e.so' -- '-DANSWER=(40 + 2)'").code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "d \"e.so"));
  folder_.write("-dash.cpp", bare(SPILLWAY_ABI));
  EXPECT_EQ(spillway("build -o dash.so -- -dash.cpp", "CXX='env c++ -DANYTHING' ").code, 0);
  const auto built = nlohmann::json::parse(spillway("build --json -o dash.so -- -dash.cpp").out);
  EXPECT_EQ(built["output"], "dash.so");
}

TEST_F(Plugin, EndsTheCompilerWhenInterrupted) {
  // Twice in a row, as `timeout` does it: the echo must not cut the clean end short.
  const std::string compiler = folder_.write(
      "slow", "#!/bin/sh\necho $$ >pid\nkill -INT $PPID\nsleep 0.005\nkill -INT $PPID\nexec sleep 60\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  folder_.write("a.cpp", "");
  const Outcome outcome = spillway("build a.cpp --cxx ./slow");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(kill(std::stoi(read_file(folder_ / "pid")), 0), -1) << "it is still there";
  EXPECT_EQ(folder_.file_count(), 4u) << "graph, source, compiler, pid";
}

TEST_F(Plugin, IsRefusedWhenBuiltForAnother) {
  build("old", bare("0.0.7 (headers 123456789abc, libstdc++)"));
  refuses(
      "run ./old.so g.txt", ExitCode::bad_input,
      {"old.so", "0.0.7 (headers 123456789abc", "this is " SPILLWAY_ABI, "build it again with `spillway build`"});
  build("silent", bare(SPILLWAY_ABI));
  refuses("run ./silent.so g.txt", ExitCode::bad_input, {"offers no algorithm"});
  folder_.write("newer.cpp", "int added_since(); int at_start = added_since();\n" + bare(SPILLWAY_ABI));
  ASSERT_EQ(spillway("build newer.cpp -- -Wl,-z,undefs").code, 0);
  refuses("run ./newer.so g.txt", ExitCode::bad_input, {"added_since", "build it again with `spillway build`"});
}

TEST_F(Plugin, IsRefusedWhenItIsNone) {
  folder_.write("text.so", "0 1\n");
  folder_.write("empty.so", "");
  refuses("run ./missing.so g.txt", ExitCode::bad_input, {"./missing.so: cannot open: No such file"});
  refuses("run ./text.so g.txt", ExitCode::bad_input, {"./text.so: not a shared object", "spillway build"});
  refuses("run ./empty.so g.txt", ExitCode::bad_input, {"not a shared object"});
  refuses("run ./ g.txt", ExitCode::bad_input, {"not a shared object"});
  refuses("algorithms text.so", ExitCode::bad_input, {"not a shared object"});
  refuses("run '" SPILLWAY_BINARY "' g.txt", ExitCode::bad_input, {"cannot load it"});
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&load_plugin), &info), 0);
  refuses("run '" + std::filesystem::canonical(info.dli_fname).string() + "' g.txt", ExitCode::bad_input,
          {"not a Spillway plug-in", "SPILLWAY_PLUGIN"});
}

TEST(PluginPath, IsToldFromAName) {
  for (const char* path : {"./a.so", "a.so", "a.so:name", "folder/a", "/a"})
    EXPECT_TRUE(is_plugin_path(path)) << path;
  for (const char* name : {"degrees", "so", "a.cpp", ""}) EXPECT_FALSE(is_plugin_path(name)) << name;
}

}  // namespace
}  // namespace spillway
