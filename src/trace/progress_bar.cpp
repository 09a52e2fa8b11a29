#include "trace/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr std::int64_t first_draw_ms = 500;
constexpr std::int64_t redraw_ms     = 100;
constexpr std::int64_t echo_ms       = 500;

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // among the few calls that a signal handler may make
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

/// The first asks for a clean end; one who asks again gets it at once. `timeout` and some shells send each signal
/// twice, to the process and to its group: such an echo is no second request.
void on_interrupt(int) {
  static volatile std::int64_t first_ms;  // lock-free on every 64-bit machine
  if (!interrupt_requested)
    first_ms = now_ms();
  else if (now_ms() - first_ms >= echo_ms)
    _exit(130);
  interrupt_requested = 1;
}

/// A signal that the program was started without, by nohup or a shell's background, stays unheard.
void listen_for(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action            = {};
  action.sa_handler = on_interrupt;
  sigaction(signal, &action, nullptr);
}

std::string amount(std::uint64_t value, ProgressUnit unit) {
  if (unit == ProgressUnit::bytes) return human_bytes(value);
  if (value >= 1'000'000'000) return fmt::format("{:.2f} G", static_cast<double>(value) / 1e9);
  if (value >= 1'000'000) return fmt::format("{:.1f} M", static_cast<double>(value) / 1e6);
  return with_commas(value);
}

}  // namespace

bool ProgressBar::terminal() { return isatty(STDERR_FILENO) != 0; }

void ProgressBar::listen_for_interrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) listen_for(signal);
}

bool ProgressBar::cancelled() const { return interrupt_requested != 0; }

void ProgressBar::begin(std::string_view stage, std::uint64_t total, ProgressUnit unit) {
  end();
  const std::scoped_lock lock{mutex_};
  stage_     = stage;
  total_     = total;
  unit_      = unit;
  done_      = 0;
  start_     = Clock::now();
  next_draw_ = first_draw_ms;
}

void ProgressBar::advance(std::uint64_t value) {
  done_.fetch_add(value, std::memory_order_relaxed);
  if (!shown_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count();
  auto       due     = next_draw_.load(std::memory_order_relaxed);
  if (elapsed < due || !next_draw_.compare_exchange_strong(due, elapsed + redraw_ms)) return;
  const std::scoped_lock lock{mutex_};
  draw();
}

void ProgressBar::end() {
  const std::scoped_lock lock{mutex_};
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void ProgressBar::draw() {
  std::fputs(("\r\x1b[K" + line()).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

std::string ProgressBar::line() const {
  const std::uint64_t done    = done_.load(std::memory_order_relaxed);
  const double        seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto          rate    = static_cast<std::uint64_t>(static_cast<double>(done) / seconds);
  const char*         what    = unit_ == ProgressUnit::edges ? " edges" : "";
  if (total_ == 0) return fmt::format("{} {}{} ({}/s)", stage_, amount(done, unit_), what, amount(rate, unit_));
  const double share  = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const double left   = share > 0 ? seconds / share - seconds : 0;
  const int    width  = 24;
  const int    filled = static_cast<int>(share * width);
  std::string  bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  return fmt::format("{:<10} {} {:3.0f}%  {}{}/s  {:.0f} s left", stage_, bar, share * 100, amount(rate, unit_),
                     what, left);
}

}  // namespace spillway
