// The command line: parses, runs one command, and turns every error into a message and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

#include <spillway/version.hpp>

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
  if (error.get_exit_code() == 0) {  // --help, --version
    app.exit(error);
    if (std::cout.flush().fail()) throw system_error("write", "standard output");
    return 0;
  }
  const CLI::App& command = deepest(app);
  std::string     name    = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
    name.insert(0, parent->get_name() + " ");
  complain(fmt::format("error: {}\n`{} --help` lists what it takes.", message_of(command, error), name));
  return static_cast<int>(ExitCode::usage);
}

int report(const Error& error) {
  complain(error.code() == ExitCode::interrupted ? "interrupted" : fmt::format("error: {}", error.what()));
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
  add_build(app, context);
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
  context.action();
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw system_error("write", "standard output");
  return 0;
}

}  // namespace
}  // namespace spillway::cli

int main(int argc, char** argv) {
  try {
    return spillway::cli::run(argc, argv);
  } catch (const spillway::Error& error) {
    return spillway::cli::report(error);
  } catch (const std::system_error& error) {  // of printing to standard output
    spillway::cli::complain(fmt::format("error: {}", error.what()));
    return static_cast<int>(spillway::ExitCode::bad_input);
  } catch (const std::bad_alloc&) {
    spillway::cli::complain("error: out of memory; --host-memory bounds what is held");
    return static_cast<int>(spillway::ExitCode::does_not_fit);
  } catch (const std::exception& error) {
    spillway::cli::complain(fmt::format("internal error: {}", error.what()));
    return static_cast<int>(spillway::ExitCode::internal_error);
  }
}
