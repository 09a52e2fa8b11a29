#include "plan/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/hash.hpp"
#include "engine/rows.hpp"
#include "plan/cache_file.hpp"
#include "store/paged_rows.hpp"

#include <spillway/engine/prepared_run.hpp>

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto        attached   = "history";
constexpr std::size_t most_kept  = 64;  ///< graphs
constexpr auto        format_key = "format";
constexpr int         format     = 1;

/// Numbers that make no sense are none.
std::vector<Activity> activity_from(const Json& entries) {
  std::vector<Activity> activity;
  for (const Json& entry : entries) {
    constexpr std::size_t numbers = 4;
    if (!entry.is_array() || entry.size() != numbers) return {};
    for (const Json& number : entry)
      if (!number.is_number()) return {};
    const Activity one{entry[0].get<double>(), entry[1].get<double>(), entry[2].get<double>(),
                       entry[3].get<double>()};
    const auto     is_share = [](double value) { return value >= 0 && value <= 1; };
    if (!(one.iterations > 0) || !is_share(one.edges) || !is_share(one.rows) || !(one.looked_at <= 1)) return {};
    activity.push_back(one);
  }
  return activity;
}

std::pair<double, double> totals(const std::vector<Activity>& activity) {
  std::pair<double, double> all{0, 0};
  for (const Activity& each : activity) all.first += each.iterations, all.second += each.iterations * each.edges;
  return all;
}

/// To the planner.
bool are_alike(const std::vector<Activity>& one, const std::vector<Activity>& other) {
  constexpr double about         = 0.1;
  const auto       near          = [](double a, double b) { return std::abs(a - b) <= about * std::max(a, b); };
  const auto [iterations, edges] = totals(one);
  const auto [iterations_2, edges_2] = totals(other);
  return !one.empty() && !other.empty() && near(iterations, iterations_2) && near(edges, edges_2);
}

void keep(const std::string& key, const std::string& program, const std::vector<Activity>& activity) {
  const std::string path = history_path();
  if (path.empty()) return;
  Json cache = read_cache(path);
  if (cache.value(format_key, Json{}) != format) cache = {{format_key, format}};
  Json programs = cache.value(key, Json::object());
  if (!programs.is_object()) programs = Json::object();
  programs[program] = Json::array();
  for (const Activity& each : activity)
    programs[program].push_back({each.iterations, each.edges, each.rows, each.looked_at});
  cache.erase(key);  // the latest are the last
  cache[key] = std::move(programs);
  while (cache.size() > most_kept + 1) cache.erase(std::next(cache.begin()));
  write_cache(path, cache);
}

/// Of a few places in the rows: a graph that was changed is another one.
std::uint64_t checksum_of(const Graph& graph) {
  if (graph.pages()) return graph.pages()->checksum();
  constexpr std::uint64_t    places = 256;
  const Csr&                 out    = walked_rows(graph);
  std::vector<std::uint64_t> seen{out.vertex_count(), out.arc_count(), graph.symmetric(),
                                  static_cast<std::uint64_t>(graph.weight_type())};
  for (std::uint64_t i = 0; i < places; ++i) {
    const EdgeIndex at = out.arc_count() * i / places;
    seen.push_back(out.offsets[out.vertex_count() * i / places]);
    if (out.arc_count() > 0) seen.push_back(out.targets[at]);
    if (!out.weights.empty()) seen.push_back(out.weights[at]);
  }
  return XXH3_64bits(seen.data(), seen.size() * sizeof(seen[0]));
}

}  // namespace

std::string identity_of(const Graph& graph) {
  std::error_code   none;
  const auto        path  = std::filesystem::canonical(graph.name(), none);
  const std::string name  = none ? graph.name() : path.string();
  const auto        bytes = std::filesystem::file_size(name, none);
  return fmt::format("{} ({} bytes, {:016x})", name, none ? 0 : bytes, checksum_of(graph));
}

std::string history_path() { return cache_path("history.json"); }

Activity activity_of(const IterationStatistics& iteration, std::uint64_t vertices, std::uint64_t arcs,
                     bool chose) {
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
  };
  return {1, share(iteration.active_edges, arcs), share(iteration.active_vertices, vertices),
          chose ? share(iteration.edges_processed, arcs) : -1};
}

std::vector<Activity> summary_of(std::span<const IterationStatistics> iterations, std::uint64_t vertices,
                                 std::uint64_t arcs, bool chose) {
  constexpr std::size_t         classes = 40;
  std::array<Activity, classes> alike{};
  for (Activity& each : alike) each = {0, 0, 0, 0};
  for (const IterationStatistics& made : iterations) {
    const Activity    one      = activity_of(made, vertices, arcs, chose);
    const double      halvings = one.edges > 0 ? -std::log2(one.edges) : static_cast<double>(classes);
    const std::size_t which    = std::min(classes - 1, static_cast<std::size_t>(halvings * 2));
    Activity&         all      = alike[which];
    all.iterations += 1, all.edges += one.edges, all.rows += one.rows, all.looked_at += one.looked_at;
  }
  std::vector<Activity> summary;
  for (const Activity& each : alike)
    if (const double of = each.iterations; of > 0)
      summary.push_back({of, each.edges / of, each.rows / of, each.looked_at / of});
  return summary;
}

std::shared_ptr<RunHistory> RunHistory::of(const Graph& graph) {
  auto there = std::dynamic_pointer_cast<RunHistory>(graph.attachment(attached));
  if (there) return there;
  there = std::make_shared<RunHistory>();
  graph.attach(attached, there);
  return there;
}

void RunHistory::read_kept(const Graph& graph) {
  if (!key_.empty()) return;
  key_             = identity_of(graph);
  const Json cache = read_cache(history_path());
  if (cache.value(format_key, Json{}) != format) return;
  const auto found = cache.find(key_);
  if (found == cache.end() || !found->is_object()) return;
  for (const auto& [program, entries] : found->items())
    if (auto activity = activity_from(entries); !activity.empty()) {
      kept_.emplace(program, activity);
      programs_.emplace(program, std::move(activity));
    }
}

std::vector<Activity> RunHistory::find(const Graph& graph, const std::string& program, History history) {
  const std::scoped_lock lock{mutex_};
  if (history == History::off) return {};
  if (history == History::kept) read_kept(graph);
  const auto found = programs_.find(program);
  return found == programs_.end() ? std::vector<Activity>{} : found->second;
}

void RunHistory::note(const Graph& graph, const std::string& program, std::vector<Activity> activity,
                      History history) {
  if (history == History::off || activity.empty()) return;
  const std::scoped_lock lock{mutex_};
  if (history == History::kept) read_kept(graph);
  std::vector<Activity>& last            = programs_[program];
  constexpr double       next_to_nothing = 0.1;  // from a vertex without edges, say
  if (totals(activity).second < next_to_nothing * totals(last).second) return;
  // A run in windows says nothing of what kernels would have looked at; one before it may have.
  const bool knows = activity.front().looked_at >= 0, knew = !last.empty() && last.front().looked_at >= 0;
  if (!knows && knew && are_alike(last, activity)) return;
  last                           = std::move(activity);
  std::vector<Activity>& in_file = kept_[program];
  const bool             new_to_file =
      !are_alike(in_file, last) || (in_file.front().looked_at < 0 && last.front().looked_at >= 0);
  // Once a process: the runs of a command are like each other.
  if (history != History::kept || !new_to_file || !written_.insert(program).second) return;
  in_file = last;
  keep(key_, program, last);
}

void note_run(const Graph& graph, const std::string& program, const Topology& topology, const RunOptions& options,
              std::uint64_t max_iterations, const RunStatistics& statistics) {
  const bool asynchronous = statistics.counters.local_rounds > 0;     // with other activity
  const bool cut_off      = statistics.iterations >= max_iterations;  // another run may go on
  if (options.history == History::off || asynchronous || cut_off || statistics.iterations == 0) return;
  // Where edges fit on the GPU, or nothing was to choose, no plan depends on it: no file is written.
  const bool    fits = statistics.candidates.empty() || (statistics.method.empty() && statistics.device != "cpu");
  const History history = fits ? History::process : options.history;
  const bool    chose   = statistics.device != "cpu" && statistics.bytes_sent == 0;
  RunHistory::of(graph)->note(
      graph, program, summary_of(statistics.per_iteration, topology.vertices, topology.arcs, chose), history);
}

}  // namespace spillway
