// Work that Python waits for: without its lock, on a thread of its own, so that Ctrl-C and a progress bar are
// heard whatever the work is busy with.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <spillway/progress.hpp>

namespace spillway::python {

namespace nb = nanobind;

/// Runs `body` and returns when it is done. Every now and then, with Python's lock, signals are looked at and
/// tick(stage, done, total, unit) is called, unless it is None. What either raises ends the work: `body` sees it
/// in its Progress. If it does not heed that within a moment it is left behind, so it must own what it uses.
void wait_for(nb::handle tick, std::function<void(Progress&)> body);

/// The same for work with a result.
template <class Body>
auto work(nb::handle tick, Body body) {
  using Result      = std::invoke_result_t<Body&, Progress&>;
  const auto result = std::make_shared<std::optional<Result>>();
  wait_for(tick,
           [result, body = std::move(body)](Progress& progress) mutable { result->emplace(body(progress)); });
  return std::move(**result);
}

/// Ends what was left behind, for the end of the interpreter.
void finish_all_work();

}  // namespace spillway::python
