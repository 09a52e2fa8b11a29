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
  Parser  parser{"spillway", "Spillway: answers questions about graphs of any size on one machine.",
                SPILLWAY_VERSION};
  Command root = parser.root();
  Context context;
  std::vector<std::string> words = add_run(root, context, {argv + 1, argv + argc});
  words                          = add_plan(root, context, std::move(words));
  add_info(root, context);
  add_convert(root, context);
  add_generate(root, context);
  add_verify(root, context);
  add_algorithms(root, context);
  add_build(root, context);
  add_devices(root, context);

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
