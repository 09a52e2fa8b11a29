// The command line: parses, runs one command, and turns every error into a message and an exit code.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
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

/// The likeliest cause of whatever else is missing is a word that no option takes: it is named, and what was
/// probably meant.
std::string unknown_word(const CLI::App& command, const Context& context, const std::string& word) {
  const auto        near = nearest_word(word, words_of(command));
  const std::string hint = near ? fmt::format(" (did you mean '{}'?)", *near) : std::string{};
  return context.taker.empty() ? fmt::format("'{}' is not known here{}", printable(word), hint)
                               : fmt::format("{} takes no {}{}", context.taker, printable(word), hint);
}

/// CLI11 counts the values of an option; a person forgot one, or repeated the option.
std::string mismatch(const std::string& text) {
  const std::string option = text.substr(0, text.find(':'));
  return fmt::format("{} {}", option,
                     text.find("At Most") != std::string::npos ? "is given twice" : "needs a value");
}

std::string message_of(const CLI::App& command, const Context& context, const CLI::ParseError& error) {
  const auto unknown = command.remaining();
  if (!unknown.empty()) return unknown_word(command, context, unknown.front());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return mismatch(error.what());
  return error.what();
}

int usage_exit(const CLI::App& app, const Context& context, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    app.exit(error);
    if (std::cout.flush().fail()) throw system_error("write", "standard output");
    return 0;
  }
  const CLI::App& command = deepest(app);
  std::string     name    = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
    name.insert(0, parent->get_name() + " ");
  if (!context.taker.empty()) name += " " + context.taker;
  complain(fmt::format("error: {}\n`{} --help` lists what it takes.", message_of(command, context, error), name));
  return static_cast<int>(ExitCode::usage);
}

int report(const Error& error) {
  complain(error.code() == ExitCode::interrupted ? "interrupted" : fmt::format("error: {}", error.what()));
  return static_cast<int>(error.code());
}

/// Of printing, in most cases; fmt does not say where to.
int report(const std::system_error& error) {
  complain(std::ferror(stdout) ? fmt::format("error: standard output: cannot write: {}", error.code().message())
                               : fmt::format("error: {}", error.what()));
  return static_cast<int>(ExitCode::bad_input);
}

int run(int argc, char** argv) {
  CLI::App app{"Spillway: answers questions about graphs of any size on one machine.", "spillway"};
  app.set_version_flag("--version", "spillway " SPILLWAY_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  Context                  context;
  std::vector<std::string> words = add_run(app, context, {argv + 1, argv + argc});
  words                          = add_plan(app, context, std::move(words));
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
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return usage_exit(app, context, error);
  }
  use_threads(context.common.threads);
  ProgressBar::listen_for_interrupt();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails like any other, and is cleaned up after
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
  } catch (const std::system_error& error) {
    return spillway::cli::report(error);
  } catch (const std::bad_alloc&) {
    spillway::cli::complain("error: out of memory; --host-memory bounds what is held");
    return static_cast<int>(spillway::ExitCode::does_not_fit);
  } catch (const std::exception& error) {
    spillway::cli::complain(fmt::format("internal error: {}", error.what()));
    return static_cast<int>(spillway::ExitCode::internal_error);
  } catch (...) {
    spillway::cli::complain("internal error: something was thrown that is no std::exception");
    return static_cast<int>(spillway::ExitCode::internal_error);
  }
}
