// The command line: parses, runs one command, and turns every error into a message and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

#include <spillway/version.hpp>

namespace spillway::cli {
namespace {

/// Errors of the command line itself come before the options are known.
bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--json"; });
}

const char* kind_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
      return "usage";
    case ExitCode::bad_input:
      return "bad_input";
    case ExitCode::does_not_fit:
      return "does_not_fit";
    case ExitCode::verification_failed:
      return "verification_failed";
    case ExitCode::interrupted:
      return "interrupted";
    case ExitCode::done:
    case ExitCode::internal_error:
      break;
  }
  return "internal_error";
}

int report(ExitCode code, const std::string& message, bool json) {
  const auto exit = static_cast<int>(code);
  complain(code == ExitCode::interrupted      ? message
           : code == ExitCode::internal_error ? "internal error: " + message
                                              : "error: " + message);
  if (!json || std::ferror(stdout)) return exit;
  try {
    print_error_json(kind_of(code), exit, message);
    std::fflush(stdout);
  } catch (const std::exception&) {  // nobody is there to read it
  }
  return exit;
}

/// The object of an error that a signal's handler prints, in one piece.
std::string bad_input_json(const std::string& message) {
  return error_json(kind_of(ExitCode::bad_input), static_cast<int>(ExitCode::bad_input), message);
}

/// Of printing, in most cases; fmt does not say where to.
std::string message_of(const std::system_error& error) {
  return std::ferror(stdout) ? fmt::format("standard output: cannot write: {}", error.code().message())
                             : std::string{error.what()};
}

int run(int argc, char** argv) {
  Parser  parser{"spillway", "Spillway: answers questions about graphs of any size on one machine.",
                SPILLWAY_VERSION};
  Command root = parser.root();
  Context context;
  std::vector<std::string> words = help_spelled_out({argv + 1, argv + argc}, parser);
  words                          = add_run(root, context, std::move(words));
  words                          = add_plan(root, context, std::move(words));
  add_info(root, context);
  add_convert(root, context);
  add_generate(root, context);
  add_verify(root, context);
  add_algorithms(root, context);
  add_build(root, context);
  add_devices(root, context);
  add_help(root, context, parser);
  if (argc > 2 && argv[1] == std::string_view{"help"} && !words.front().starts_with('-') &&
      !parser.has_command(words.front()))
    throw usage_error("unknown command '{}'; `spillway help` lists them", printable(words.front()));

  if (argc == 1) {
    fmt::print("{}", parser.help());
    return static_cast<int>(ExitCode::usage);
  }
  if (const auto code = parser.parse(std::move(words), context.taker)) return *code;
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
  using spillway::ExitCode;
  using spillway::cli::report;
  const bool json = spillway::cli::asks_for_json(argc, argv);
  if (json) spillway::report_mapped_faults(spillway::cli::bad_input_json, STDOUT_FILENO);
  try {
    return spillway::cli::run(argc, argv);
  } catch (const spillway::Error& error) {
    return report(error.code(), error.code() == ExitCode::interrupted ? "interrupted" : error.what(), json);
  } catch (const std::system_error& error) {
    return report(ExitCode::bad_input, spillway::cli::message_of(error), json);
  } catch (const std::bad_alloc&) {
    return report(ExitCode::does_not_fit, "out of memory; --host-memory limits what is allocated", json);
  } catch (const std::exception& error) {
    return report(ExitCode::internal_error, error.what(), json);
  } catch (...) {
    return report(ExitCode::internal_error, "something was thrown that is no std::exception", json);
  }
}
