#include <chrono>

#include <spillway/engine/stopwatch.hpp>

namespace spillway {

double steady_milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace spillway
