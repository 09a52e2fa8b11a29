// The one error type. It carries the exit code the command line ends with.
#pragma once

#include <stdexcept>
#include <string>

#include <spillway/api.hpp>

namespace spillway {

enum class ExitCode : int {
  done                = 0,
  internal_error      = 1,
  usage               = 2,
  bad_input           = 3,
  does_not_fit        = 4,
  verification_failed = 5,
  interrupted         = 130,
};

class SPILLWAY_API Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A GPU that cannot be used for what was asked: too small, too old, or taken by others.
class SPILLWAY_API DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace spillway
