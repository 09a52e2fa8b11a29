// Shorthand for throwing the one error type with a formatted message.
#pragma once

#include <fmt/format.h>

#include <spillway/error.hpp>
#include <spillway/progress.hpp>

namespace spillway {

template <class... Args>
Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::bad_input, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error usage_error(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::usage, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error does_not_fit(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::does_not_fit, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error internal_error(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::internal_error, fmt::format(format, std::forward<Args>(args)...)};
}

/// An operating-system call failed on `path`: a full disk or a missing right is the user's to mend.
Error system_error(const char* what, const std::string& path);

}  // namespace spillway
