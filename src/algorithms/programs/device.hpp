// How a program of the library comes to its kernels. A line SPILLWAY_DEVICE_PROGRAM(Program) in one of these
// headers makes the build compile a translation unit for it, which sees the program and the kernels and nothing
// else. What g++ compiles is the same with them and without: a build without device code has units instead that
// refuse to run.
#pragma once

#include <spillway/engine/cuda/continuation.hpp>
#include <spillway/engine/device_program.hpp>
#include <spillway/program.hpp>

#define SPILLWAY_DEVICE_PROGRAM(...) \
  template <>                        \
  inline constexpr bool compiled_apart<__VA_ARGS__> = true;

namespace spillway::gpu {

/// Whether this build has code for GPUs at all.
extern const bool built;

}  // namespace spillway::gpu
