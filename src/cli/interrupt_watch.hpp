// Ctrl-C for work that does not look at it, or not often enough: checks of mapped files, building in-edges, checks
// of results, and whatever plug-ins do.
#pragma once

#include <optional>
#include <thread>

#include <spillway/progress.hpp>

namespace spillway::cli {

/// While it lives, an interrupt that the work itself does not heed within a moment ends the program. Only for work
/// that leaves nothing half-made behind: no file may be open for writing.
class InterruptWatch {
 public:
  explicit InterruptWatch(Progress& progress);

 private:
  std::optional<std::jthread> watcher_;  ///< none where the system grants no thread
};

}  // namespace spillway::cli
