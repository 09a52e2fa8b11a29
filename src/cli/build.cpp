// spillway build SOURCE: a C++ source file becomes a plug-in, compiled against the Spillway that runs.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <thread>

#include "algorithms/gpu/gpu.hpp"
#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/overwriting.hpp"
#include "devices/devices.hpp"

#include <spillway/engine/stopwatch.hpp>

namespace spillway::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::milliseconds poll_interval{10};  // how often a running compiler is looked after

/// A plug-in is built where it runs, so it may use all that this processor has.
#ifdef __aarch64__
constexpr const char* this_processor = "-mcpu=native";  // clang knows no other spelling there
#else
constexpr const char* this_processor = "-march=native";
#endif

/// What makes nvcc take the headers. Without a GPU to ask, code for all kinds that Spillway knows.
const Words nvcc_flags{"-x", "cu", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-diag-suppress", "177,186"};
constexpr auto any_gpu = "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90]";

struct BuildArguments {
  std::string source, output, compiler, gpu = "auto";
  Words       flags;
};

/// Where this Spillway keeps what programs are compiled against.
struct Installation {
  Words       includes;
  std::string library;
};

Installation installation() {
  namespace fs              = std::filesystem;
  const fs::path bin        = fs::canonical("/proc/self/exe").parent_path();
  const fs::path header     = "spillway/plugin.hpp";
  const fs::path installed  = (bin / SPILLWAY_BIN_TO_INCLUDE).lexically_normal();
  const fs::path in_sources = SPILLWAY_SOURCE_DIR "/include";
  if (fs::exists(installed / header))
    return {{installed.string()}, (bin / SPILLWAY_BIN_TO_LIB).lexically_normal().string()};
  if (fs::exists(in_sources / header))
    return {{in_sources.string(), SPILLWAY_BUILD_DIR "/include"}, SPILLWAY_BUILD_DIR "/lib"};
  throw bad_input("{}: Spillway's headers are not there; `cmake --install` puts them beside the program",
                  (installed / header).string());
}

void check_source(const std::string& path) {
  const std::string    suffix = std::filesystem::path{path}.extension().string();
  constexpr std::array known{".cpp", ".cc", ".cxx", ".c++", ".C", ".cu"};
  if (std::find(known.begin(), known.end(), suffix) == known.end())
    throw usage_error("{}: a C++ source file was expected (.cpp, .cc, .cxx, .cu)", path);
  if (!file_exists(path)) throw system_error("open", path);
  if (!is_regular_file(path)) throw bad_input("{}: not a file", path);
}

/// Whether there is a program of this name to be started.
bool on_path(const std::string& program) {
  const char* const  path = std::getenv("PATH");
  std::istringstream folders{path ? path : ""};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path{folder} / program).c_str(), X_OK) == 0) return true;
  return false;
}

/// nvcc puts its commands through a shell, in double quotes.
bool safe_for_nvcc(const std::string& word) { return word.find_first_of("$`\"\\\n") == std::string::npos; }

/// Where there is a GPU a plug-in is for that, too, unless its author says how it is to be compiled.
bool for_gpu(const BuildArguments& arguments) {
  if (std::filesystem::path{arguments.source}.extension() == ".cu" || arguments.gpu == "yes") return true;
  const bool says_how = arguments.gpu == "no" || !arguments.compiler.empty() || !arguments.flags.empty();
  return !says_how && gpu::built && safe_for_nvcc(arguments.source) && safe_for_nvcc(arguments.output) &&
         !cuda_devices().devices.empty() && on_path("nvcc");
}

void check_for_gpu(const BuildArguments& arguments, const Words& command) {
  if (!gpu::built)
    throw usage_error(
        "{}: this Spillway was built without CUDA; build it where nvcc is, or use --gpu no with a .cpp file",
        arguments.source);
  for (const std::string& word : command)
    if (!safe_for_nvcc(word))
      throw usage_error(
          "{}: nvcc gives its commands to a shell, and '{}' has a character that a shell reads ($ ` \" \\); "
          "use another name, or --gpu no",
          arguments.source, printable(word));
}

/// Ways to start the compiler, to be tried in turn. CXX may hold flags, or a launcher before the compiler.
std::vector<Words> compilers(const std::string& named, bool with_nvcc) {
  const char*        variable = std::getenv(with_nvcc ? "CUDACXX" : "CXX");
  const std::string  given    = !named.empty() ? named : variable ? variable : "";
  const std::string  chosen   = given.empty() && with_nvcc ? "nvcc" : given;
  std::istringstream text{chosen};
  Words              words;
  for (std::string word; text >> word;) words.push_back(word);
  if (words.empty()) return {{"c++"}, {"g++"}, {"clang++"}};
  if (words.size() == 1) return {words};
  return {{chosen}, words};
}

/// Whether the author says for which GPUs.
bool names_architectures(const Words& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-arch") || flag.starts_with("-gencode") || flag.starts_with("--gpu-") ||
           flag.starts_with("--generate-code");
  });
}

Words language_flags(bool with_nvcc, const Words& given) {
  const std::string processor = this_processor;
  if (!with_nvcc)
    return {"-std=c++20",          "-O3",      processor,    "-Wall", "-shared", "-fPIC",
            "-fvisibility=hidden", "-pthread", "-Wl,-z,defs"};
  Words flags = nvcc_flags;
  if (names_architectures(given)) {
    // They follow with the other flags.
  } else if (cuda_devices().devices.empty()) {
    std::istringstream kinds{any_gpu};
    for (std::string kind; kinds >> kind;) flags.push_back(kind);
  } else {
    flags.emplace_back("-arch=native");
  }
  flags.insert(flags.end(), {"-shared", "-Xcompiler", processor + ",-fPIC,-fvisibility=hidden,-pthread",
                             "-Xlinker", "-z,defs"});
  return flags;
}

Words flags_for(const BuildArguments& arguments, const std::string& output) {
  const Installation from  = installation();
  Words              flags = language_flags(for_gpu(arguments), arguments.flags);
  for (const std::string& folder : from.includes) flags.push_back("-I" + folder);
  // A name that begins with a dash would be taken for a flag.
  const std::string source = arguments.source.starts_with('-') ? "./" + arguments.source : arguments.source;
  flags.insert(flags.end(), {source, "-o", output});
  flags.insert(flags.end(), arguments.flags.begin(), arguments.flags.end());
  flags.insert(flags.end(), {"-L" + from.library, "-lspillway"});
  return flags;
}

/// Starts a program without a shell, in a process group of its own so that it can be ended with all it starts.
/// Nothing if there is no such program.
std::optional<pid_t> start(const Words& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t          attributes;
  posix_spawn_file_actions_t files;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t     child   = 0;
  const int problem = posix_spawnp(&child, arguments.front(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return problem == 0 ? std::optional{child} : std::nullopt;
}

/// Waits for a program; Ctrl-C ends it. True if it did what it was asked to.
bool succeeds(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (interrupt_requested) {
      kill(-child, SIGTERM);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(poll_interval);
  }
  if (interrupt_requested) throw Error{ExitCode::interrupted, "interrupted"};
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Runs the first compiler that there is; returns the whole command.
Words compile(const BuildArguments& arguments, const std::string& output) {
  const Words flags = flags_for(arguments, output);
  if (for_gpu(arguments)) check_for_gpu(arguments, flags);
  Words tried;
  for (Words command : compilers(arguments.compiler, for_gpu(arguments))) {
    const std::string compiler = fmt::format("{}", fmt::join(command, " "));
    command.insert(command.end(), flags.begin(), flags.end());
    if (const auto child = start(command)) {
      if (!succeeds(*child))
        throw bad_input(
            "{}: not built; {} says above why{}", arguments.source, compiler,
            for_gpu(arguments) && arguments.gpu == "auto" ? " (--gpu no builds it for the CPU alone)" : "");
      return command;
    }
    tried.push_back(compiler);
  }
  if (for_gpu(arguments))
    throw bad_input(
        "{}: nvcc could not be started (tried {}); put it on the PATH, name it with --cxx or CUDACXX, or "
        "build for the CPU alone with --gpu no",
        arguments.source, joined(tried));
  throw bad_input(
      "{}: no C++ compiler could be started (tried {}); install g++ or clang++, or name one with --cxx",
      arguments.source, joined(tried));
}

/// The name of its one function lies in every plug-in; finding it runs none of the plug-in's code.
void check_offers_something(const BuildArguments& arguments, const std::string& library) {
  if (MappedFile{library}.text().find("spillway_plugin") == std::string_view::npos)
    throw bad_input(
        "{}: nothing to run in it; end it with SPILLWAY_PLUGIN(...), which says what it offers "
        "(spillway/plugin.hpp)",
        arguments.source);
}

void build(const BuildArguments& arguments, const Common& common) {
  check_source(arguments.source);
  const std::string  path   = arguments.output.empty()
                                  ? std::filesystem::path{arguments.source}.replace_extension(".so").string()
                                  : arguments.output;
  std::vector<Input> inputs = files_among(arguments.flags, "the compiler is given it");
  inputs.push_back({arguments.source, "the source itself"});
  refuse_to_overwrite("-o", path, inputs);
  OutputFile output{path, OutputFile::Writer::another_program};
  if (output.is_direct()) throw usage_error("-o {}: a plug-in needs a regular file", path);
  Stopwatch    clock;
  const Words  command = compile(arguments, output.place_for_program());
  const double ms      = clock.lap();
  check_offers_something(arguments, output.place_for_program());
  output.take_from_program();
  output.commit();
  if (common.json) {
    print_json(Json{{"source", arguments.source},
                    {"output", path},
                    {"command", command},
                    {"gpu", for_gpu(arguments)},
                    {"time_ms", ms}});
    return;
  }
  if (common.quiet) return;
  const std::string shown = path.find('/') == std::string::npos ? "./" + path : path;
  fmt::print("{}: built in {:.1f} s for this machine's processor ({}){}\nrun it: spillway run {} GRAPH\n", path,
             ms / 1000, this_processor, for_gpu(arguments) ? ", and for GPUs" : "", shown);
}

}  // namespace

void add_build(Command& app, Context& context) {
  Command command   = app.subcommand("build", "Compile a C++ source file into a plug-in that `run` takes");
  auto    arguments = std::make_shared<BuildArguments>();
  command.option("SOURCE", arguments->source, "C++ source file with a SPILLWAY_PLUGIN(...)").required();
  command.option("FLAGS", arguments->flags, "After --: more for the compiler (flags, sources, libraries)");
  command.option("-o,--output", arguments->output, "Plug-in to write (default: beside the source, .so)");
  command.option("--cxx", arguments->compiler,
                 "Compiler (default: $CXX, or c++, g++, clang++; for GPUs $CUDACXX, or nvcc)");
  command
      .option(
          "--gpu", arguments->gpu,
          "Compile for GPUs, too: auto (where there is one, and nvcc), yes or no; .cu files are (default: auto)")
      .one_of({"auto", "yes", "no"});
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, arguments] { context.action = [&context, arguments] { build(*arguments, context.common); }; });
}

}  // namespace spillway::cli
