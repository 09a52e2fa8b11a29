// Ctrl-C for work that does not look at it: checks of results are plain serial code, and those of plug-ins are
// anybody's.
#pragma once

#include <optional>
#include <thread>

#include "trace/progress_bar.hpp"

namespace spillway::cli {

/// While it lives, an interrupt that the work itself does not heed within a moment ends the program. Only for work
/// that leaves nothing half-made behind: no file may be open for writing.
class InterruptWatch {
 public:
  explicit InterruptWatch(ProgressBar& bar);

 private:
  std::optional<std::jthread> watcher_;  ///< none where the system grants no thread
};

}  // namespace spillway::cli
