// What ran when: spans on tracks, of host and devices, for people to look at.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// Where something ran.
enum class Track { host, disk, gathering, to_device, kernels, to_host };

/// Filled while runs last (RunOptions::trace), from several threads. Times are those of steady_milliseconds().
class Trace {
 public:
  struct Span {
    Track         track;
    std::string   name;
    double        begin, end;  ///< milliseconds
    std::uint64_t bytes = 0;   ///< that were moved; 0: none
  };

  void add(Span span);

  std::vector<Span> spans() const;
  /// Milliseconds during which anything was under way on a track.
  double busy_ms(Track track) const;
  /// Of the time that edges were on their way to the device, the share during which kernels ran, too.
  double overlap() const;
  /// In the trace format of Chrome, which ui.perfetto.dev and chrome://tracing show.
  std::string chrome_json() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Span>  spans_;
};

/// From here to the end of the scope, by the host's clock; nothing without a trace.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, Track track, std::string_view name, std::uint64_t bytes = 0);
  ~TraceSpan();
  TraceSpan(const TraceSpan&)            = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  Trace*           trace_;
  Track            track_;
  std::string_view name_;  ///< a literal
  std::uint64_t    bytes_;
  double           begin_ = 0;
};

}  // namespace spillway
