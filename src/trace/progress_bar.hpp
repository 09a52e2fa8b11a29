// The progress line of the command line: on a terminal only, and only for what takes over half a second.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include <spillway/progress.hpp>

namespace spillway {

class ProgressBar : public Progress {
 public:
  /// `shown` false: it hears everything and draws nothing.
  explicit ProgressBar(bool shown) : shown_(shown) {}
  ~ProgressBar() override { end(); }

  void begin(std::string_view stage, std::uint64_t total, ProgressUnit unit) override;
  void advance(std::uint64_t amount) override;
  void end() override;
  bool cancelled() const override;

  /// Draws to standard error when that is a terminal.
  static bool terminal();
  /// Ctrl-C asks the work to stop; a second one ends the process. What was ignored before, as with nohup, still
  /// is.
  static void listen_for_interrupt();

 private:
  using Clock = std::chrono::steady_clock;

  void        draw();
  std::string line() const;

  bool                       shown_;
  std::mutex                 mutex_;
  std::string                stage_;
  ProgressUnit               unit_  = ProgressUnit::items;
  std::uint64_t              total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  Clock::time_point          start_;
  std::atomic<std::int64_t>  next_draw_{0};  ///< milliseconds after start_
  bool                       drawn_ = false;
};

}  // namespace spillway
