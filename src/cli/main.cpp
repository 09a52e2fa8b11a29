// The command line: parses, runs one command, and turns every error into a message and an exit code.
#include <fmt/format.h>

#include <csignal>

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace spillway::cli {
namespace {

std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

/// The command that was being parsed when an error came up.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.back());
}

/// A word that no option takes is the likeliest cause of whatever else is missing: it is named, and what was
/// probably meant.
std::string message_of(const CLI::App& command, const CLI::ParseError& error) {
  const auto unknown = command.remaining();
  if (unknown.empty()) return error.what();
  const auto near = nearest_word(unknown.front(), words_of(command));
  return fmt::format("'{}' is not known here{}", printable(unknown.front()),
                     near ? fmt::format(" (did you mean '{}'?)", *near) : std::string{});
}

int usage_exit(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const CLI::App& command = deepest(app);
  std::string     name    = "spillway";
  if (&command != &app) name += " " + command.get_name();
  fmt::print(stderr, "error: {}\n`{} --help` lists what it takes.\n", message_of(command, error), name);
  return static_cast<int>(ExitCode::usage);
}

int report(const Error& error) {
  if (error.code() == ExitCode::interrupted) {
    fmt::print(stderr, "interrupted\n");
  } else {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return static_cast<int>(error.code());
}

int run(int argc, char** argv) {
  CLI::App app{"Spillway: answers questions about graphs of any size on one machine.", "spillway"};
  app.set_version_flag("--version", "spillway " SPILLWAY_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  Context context;
  add_run(app, context);
  add_info(app, context);
  add_convert(app, context);
  add_generate(app, context);
  add_verify(app, context);
  add_algorithms(app, context);
  add_devices(app, context);

  if (argc == 1) {
    fmt::print("{}", app.help());
    return static_cast<int>(ExitCode::usage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_exit(app, error);
  }
  use_threads(context.common.threads);
  ProgressBar::listen_for_interrupt();
  std::signal(SIGPIPE, SIG_IGN);
  context.action();
  return 0;
}

}  // namespace
}  // namespace spillway::cli

int main(int argc, char** argv) {
  try {
    return spillway::cli::run(argc, argv);
  } catch (const spillway::Error& error) {
    return spillway::cli::report(error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory; --host-memory bounds what is held\n");
    return static_cast<int>(spillway::ExitCode::does_not_fit);
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\n", error.what());
    return static_cast<int>(spillway::ExitCode::internal_error);
  }
}
