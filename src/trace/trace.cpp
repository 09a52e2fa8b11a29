#include <spillway/trace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

struct TrackName {
  Track       track;
  const char* name;
};
constexpr TrackName track_names[] = {{Track::host, "host"},
                                     {Track::disk, "disk, reads"},
                                     {Track::gathering, "host threads, gathering"},
                                     {Track::to_device, "bus, to the device"},
                                     {Track::kernels, "device, kernels"},
                                     {Track::to_host, "bus, to the host"}};

using Interval = std::pair<double, double>;

/// Where anything is under way, as intervals that ascend and do not touch.
std::vector<Interval> covered(const std::vector<Trace::Span>& spans, Track track) {
  std::vector<Interval> all, joined;
  for (const Trace::Span& span : spans)
    if (span.track == track && span.end > span.begin) all.emplace_back(span.begin, span.end);
  std::ranges::sort(all);
  for (const Interval& each : all)
    if (!joined.empty() && each.first <= joined.back().second)
      joined.back().second = std::max(joined.back().second, each.second);
    else
      joined.push_back(each);
  return joined;
}

double length(const std::vector<Interval>& intervals) {
  double all = 0;
  for (const auto& [begin, end] : intervals) all += end - begin;
  return all;
}

std::vector<Interval> both(const std::vector<Interval>& one, const std::vector<Interval>& other) {
  std::vector<Interval> shared;
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
    const double begin = std::max(a->first, b->first), end = std::min(a->second, b->second);
    if (begin < end) shared.emplace_back(begin, end);
    if (a->second < b->second)
      ++a;
    else
      ++b;
  }
  return shared;
}

/// Rows of a picture: a track has as many as it has spans at once.
std::size_t row_of(Track track, std::size_t i) { return 1000 * static_cast<std::size_t>(track) + i; }

}  // namespace

void Trace::add(Span span) {
  const std::scoped_lock lock{mutex_};
  spans_.push_back(std::move(span));
}

std::vector<Trace::Span> Trace::spans() const {
  const std::scoped_lock lock{mutex_};
  return spans_;
}

double Trace::busy_ms(Track track) const { return length(covered(spans(), track)); }

double Trace::overlap() const {
  const auto all = spans();
  const auto bus = covered(all, Track::to_device);
  return bus.empty() ? 0 : length(both(bus, covered(all, Track::kernels))) / length(bus);
}

std::string Trace::chrome_json() const {
  using Json       = nlohmann::ordered_json;
  const auto all   = spans();
  double     start = all.empty() ? 0 : all.front().begin;
  for (const Span& span : all) start = std::min(start, span.begin);
  Json events = Json::array();
  for (const auto& [track, name] : track_names) {
    std::vector<const Span*> here;
    for (const Span& span : all)
      if (span.track == track) here.push_back(&span);
    std::ranges::stable_sort(here, {}, [](const Span* span) { return std::pair{span->begin, -span->end}; });
    // What runs at once lies side by side, unless one is a part of the other.
    std::vector<std::vector<double>> rows(1);  // the ends of what is under way in each, the innermost last
    for (const Span* span : here) {
      const auto takes = [&](std::vector<double>& open) {
        while (!open.empty() && open.back() <= span->begin) open.pop_back();
        return open.empty() || span->end <= open.back();
      };
      auto row = std::ranges::find_if(rows, takes);
      if (row == rows.end()) row = rows.emplace(row);
      row->push_back(span->end);
      Json event{{"ph", "X"},
                 {"name", span->name},
                 {"pid", 1},
                 {"tid", row_of(track, static_cast<std::size_t>(row - rows.begin()))},
                 {"ts", 1e3 * (span->begin - start)},
                 {"dur", 1e3 * (span->end - span->begin)}};
      if (span->bytes > 0) event["args"] = {{"bytes", span->bytes}};
      events.push_back(std::move(event));
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      events.push_back({{"ph", "M"},
                        {"name", "thread_name"},
                        {"pid", 1},
                        {"tid", row_of(track, i)},
                        {"args", {{"name", i == 0 ? name : fmt::format("{} ({})", name, i + 1)}}}});
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump() + "\n";
}

TraceSpan::TraceSpan(Trace* trace, Track track, std::string_view name, std::uint64_t bytes)
    : trace_(trace), track_(track), name_(name), bytes_(bytes), begin_(trace ? steady_milliseconds() : 0) {}

TraceSpan::~TraceSpan() {
  if (!trace_) return;
  try {
    trace_->add({track_, std::string{name_}, begin_, steady_milliseconds(), bytes_});
  } catch (const std::bad_alloc&) {  // then it is not in the trace
  }
}

}  // namespace spillway
