#include "cli/interrupt_watch.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>

#include "cli/command.hpp"

#include <spillway/error.hpp>

namespace spillway::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_every{50};
constexpr milliseconds grace{200};  // for work that does look: its own end is the better one

/// Returns early when the work is done.
void sleep_through(milliseconds time, const std::stop_token& done) {
  std::mutex                  mutex;
  std::unique_lock            lock{mutex};
  std::condition_variable_any sleeper;
  sleeper.wait_for(lock, done, time, [] { return false; });
}

void watch(const std::stop_token& done, Progress& progress) {
  while (!done.stop_requested() && !progress.cancelled()) sleep_through(look_every, done);
  sleep_through(grace, done);
  if (done.stop_requested()) return;
  progress.end();
  complain("interrupted");
  _exit(static_cast<int>(ExitCode::interrupted));  // destructors are not safe while the work goes on
}

}  // namespace

InterruptWatch::InterruptWatch(Progress& progress) {
  std::fflush(stdout);  // answers that are there already are not to go with the rest
  try {
    watcher_.emplace([&progress](const std::stop_token& done) { watch(done, progress); });
  } catch (const std::system_error&) {  // the work is worth more than its prompt end
  }
}

}  // namespace spillway::cli
