#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/transfer.hpp>

#include "base/text.hpp"
#include "graph/graph_size.hpp"
#include "io/result_writer.hpp"
#include "plan/rates.hpp"

namespace spillway::cli {
namespace {

ColumnOrder order_of(const Algorithm& algorithm, const Column& column) {
  for (const ColumnInfo& info : algorithm.columns)
    if (info.name == column.name) return info.order;
  return ColumnOrder::largest_first;
}

/// No value, or, where distances are what is asked for, none that is finite.
template <class T>
bool is_missing(const Column& column, ColumnOrder order, const T& value) {
  const bool distance = order == ColumnOrder::smallest_first;
  if constexpr (std::is_integral_v<T>)
    return value == std::numeric_limits<T>::max() && (column.vertices || column.missing == Missing::blank ||
                                                      (distance && column.missing == Missing::infinite));
  else
    return distance && std::isinf(value);
}

template <class T>
bool is_infinite(const Column& column, const T& value) {
  if constexpr (std::is_integral_v<T>)
    return column.missing == Missing::infinite && value == std::numeric_limits<T>::max();
  else
    return std::isinf(value);
}

std::string value_text(const Column& column, Vertex v, const IdMap& ids) {
  std::string text;
  append_value(text, column, v, ids);
  return text;
}

std::string fact_text(const Fact& fact) {
  if (const auto* number = std::get_if<std::uint64_t>(&fact.value)) return with_commas(*number);
  if (const auto* real = std::get_if<double>(&fact.value)) return fmt::format("{:.6g}", *real);
  return std::get<std::string>(fact.value);
}

/// How edges that are not resident reached the device.
std::string transfer_text(const IterationStatistics& iteration) {
  const std::string_view how = iteration.transfer;
  if (how == "whole") return "whole partitions";
  if (how == "kept") return "resident";
  return std::string{how};
}

Json iterations_json(const RunStatistics& statistics) {
  Json list = Json::array();
  for (const IterationStatistics& iteration : statistics.per_iteration)
    list.push_back({{"active_vertices", iteration.active_vertices},
                    {"active_edges", iteration.active_edges},
                    {"edges_processed", iteration.edges_processed},
                    {"direction", std::string{to_string(iteration.direction)}},
                    {"ballot", iteration.balloted},
                    {"transfer", transfer_text(iteration)},
                    {"chunks", iteration.windows},
                    {"bytes_transferred", iteration.bytes_sent},
                    {"bytes_read_in_place", iteration.bytes_read},
                    {"pages_hit", iteration.pages_hit},
                    {"predicted_ms", iteration.predicted_ms},
                    {"gathering_ms", iteration.gathering_ms},
                    {"ms", iteration.milliseconds}});
  return list;
}

}  // namespace

double Answer::median_ms() const {
  std::vector<double> sorted = run_ms;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return 0;
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

namespace {

/// The first `top` vertices, in the order of their values in the first column.
std::vector<Vertex> top_vertices(ColumnOrder order, const Result& result, const Graph& graph, std::uint64_t top) {
  const Column&       column = result.columns.front();
  std::vector<Vertex> best;
  // However many are asked for, there are no more than vertices; a vector that grows may hold twice what it needs.
  Charge memory{graph.budget(), "the list of --top"};
  memory.raise_to(2 * std::min(top, graph.vertex_count()) * sizeof(Vertex));
  std::visit(
      [&](const auto& values) {
        const auto before = [&](Vertex a, Vertex b) {
          if (values[a] == values[b]) return a < b;
          return order == ColumnOrder::smallest_first ? values[a] < values[b] : values[a] > values[b];
        };
        for (std::uint64_t i = 0; i < graph.vertex_count(); ++i) {
          const auto v = static_cast<Vertex>(i);
          if (is_missing(column, order, values[v]) || (best.size() == top && !before(v, best.front()))) continue;
          if (best.size() == top) {
            std::pop_heap(best.begin(), best.end(), before);
            best.pop_back();
          }
          best.push_back(v);
          std::push_heap(best.begin(), best.end(), before);
        }
        std::sort_heap(best.begin(), best.end(), before);
      },
      column.values);
  return best;
}

struct Group {
  Vertex        label;
  std::uint64_t size;
};

struct Groups {
  std::uint64_t      count = 0;
  std::vector<Group> largest;  ///< the largest first
};

/// The groups of a column whose entries are vertices: how many, and the `top` largest.
Groups groups_of(const Column& column, const Graph& graph, std::uint64_t top) {
  const auto&                 labels = std::get<Array<std::uint32_t>>(column.values);
  const Buffer<std::uint32_t> sizes{graph.vertex_count(), graph.budget(), "the sizes of groups"};
  Charge                      memory{graph.budget(), "the list of --top"};
  memory.raise_to(2 * std::min(top, graph.vertex_count()) * sizeof(Group));
  for (const std::uint32_t label : labels.span())
    if (label < sizes.size()) ++sizes[label];
  const auto before = [](const Group& a, const Group& b) {
    return a.size != b.size ? a.size > b.size : a.label < b.label;
  };
  Groups groups;
  for (std::uint64_t v = 0; v < sizes.size(); ++v) {
    const Group group{static_cast<Vertex>(v), sizes[v]};
    groups.count += group.size > 0;
    if (group.size == 0 || (groups.largest.size() == top && !before(group, groups.largest.front()))) continue;
    if (groups.largest.size() == top) {
      std::pop_heap(groups.largest.begin(), groups.largest.end(), before);
      groups.largest.pop_back();
    }
    groups.largest.push_back(group);
    std::push_heap(groups.largest.begin(), groups.largest.end(), before);
  }
  std::sort_heap(groups.largest.begin(), groups.largest.end(), before);
  return groups;
}

/// A summary is not worth failing for.
Groups groups_if_they_fit(const Column& column, const Graph& graph) {
  try {
    return groups_of(column, graph, 1);
  } catch (const MemoryRefusal&) {
    return {};
  }
}

bool is_grouped(const Algorithm& algorithm, const Result& result) {
  return !result.columns.empty() && result.columns.front().vertices &&
         order_of(algorithm, result.columns.front()) == ColumnOrder::by_group;
}

/// How many vertices have a value, and the one that the summary names: the farthest, or the largest.
struct Extreme {
  std::uint64_t valued = 0;
  Vertex        vertex = no_vertex;
};

Extreme extreme_of(const Algorithm& algorithm, const Result& result, const Graph& graph) {
  const Column&     column = result.columns.front();
  const ColumnOrder order  = order_of(algorithm, column);
  Extreme           extreme;
  std::visit(
      [&](const auto& values) {
        for (std::uint64_t v = 0; v < graph.vertex_count(); ++v) {
          if (is_missing(column, order, values[v]) || is_infinite(column, values[v])) continue;
          ++extreme.valued;
          if (extreme.vertex == no_vertex || values[v] > values[extreme.vertex])
            extreme.vertex = static_cast<Vertex>(v);
        }
      },
      column.values);
  return extreme;
}

bool has_fact(const Result& result, std::string_view name) {
  return std::ranges::any_of(result.facts, [&](const Fact& fact) { return fact.name == name; });
}

void print_groups(std::FILE* out, const Result& result, const Graph& graph, std::uint64_t top) {
  const Column& column = result.columns.front();
  fmt::print(out, "{:>20} {:>14}\n", column.name, "vertices");
  for (const Group& group : groups_of(column, graph, top).largest)
    fmt::print(out, "{:>20} {:>14}\n", printable(graph.ids().name(group.label)), with_commas(group.size));
}

}  // namespace

void print_top(std::FILE* out, const Algorithm& algorithm, const Result& result, const Graph& graph,
               std::uint64_t top) {
  if (result.columns.empty()) return;
  if (is_grouped(algorithm, result)) return print_groups(out, result, graph, top);
  fmt::print(out, "{:>20}", "vertex");
  for (const Column& column : result.columns) fmt::print(out, " {:>14}", column.name);
  fmt::print(out, "\n");
  for (const Vertex v : top_vertices(order_of(algorithm, result.columns.front()), result, graph, top)) {
    fmt::print(out, "{:>20}", printable(graph.ids().name(v)));
    for (const Column& column : result.columns)
      fmt::print(out, " {:>14}", printable(value_text(column, v, graph.ids())));
    fmt::print(out, "\n");
  }
}

void print_summary(std::FILE* out, const Algorithm& algorithm, const Result& result, const Graph& graph) {
  if (result.columns.empty() || graph.vertex_count() == 0) return;
  const Column& column = result.columns.front();
  if (is_grouped(algorithm, result)) {
    const Groups groups = has_fact(result, "largest") ? Groups{} : groups_if_they_fit(column, graph);
    if (groups.count == 0) return;
    const Group largest = groups.largest.front();
    fmt::print(out, "largest: {} ({} {})\n", counted(largest.size, "vertex", "vertices"), column.name,
               printable(graph.ids().name(largest.label)));
    return;
  }
  const bool    distances = order_of(algorithm, column) == ColumnOrder::smallest_first;
  const Extreme extreme   = extreme_of(algorithm, result, graph);
  if (distances)
    fmt::print(out, "reached: {} of {}\n", with_commas(extreme.valued),
               counted(graph.vertex_count(), "vertex", "vertices"));
  if (extreme.vertex == no_vertex) return;
  fmt::print(out, "{}: {} {} (vertex {})\n", distances ? "farthest" : "largest", column.name,
             printable(value_text(column, extreme.vertex, graph.ids())),
             printable(graph.ids().name(extreme.vertex)));
}

void print_facts(std::FILE* out, const Result& result) {
  for (const Fact& fact : result.facts) fmt::print(out, "{}: {}\n", fact.name, fact_text(fact));
}

void print_iterations(std::FILE* out, const RunStatistics& statistics) {
  if (statistics.per_iteration.empty()) {
    fmt::print(out, "this algorithm has no statistics per iteration\n");
    return;
  }
  const auto came = [](const IterationStatistics& iteration) { return *iteration.transfer != '\0'; };
  const bool sent = std::ranges::any_of(statistics.per_iteration, came);
  fmt::print(out, "{:>9} {:>14} {:>14} {:>9} {:>10}", "iteration", "vertices", "edges", "direction", "ms");
  if (sent) fmt::print(out, " {:>12} {:>16} {:>8} {:>10}", "predicted ms", "transfer", "chunks", "bytes");
  const auto hits = [](const IterationStatistics& iteration) { return iteration.pages_hit > 0; };
  const bool hit  = std::ranges::any_of(statistics.per_iteration, hits);
  fmt::print(out, "{}\n", hit ? fmt::format(" {:>10}", "cache hits") : "");
  std::uint64_t number = 0;
  for (const IterationStatistics& iteration : statistics.per_iteration) {
    fmt::print(out, "{:>9} {:>14} {:>14} {:>9} {:>10.3f}", ++number, with_commas(iteration.active_vertices),
               with_commas(iteration.active_edges), to_string(iteration.direction), iteration.milliseconds);
    if (sent)
      fmt::print(out, " {:>12} {:>16} {:>8} {:>10}",
                 iteration.predicted_ms > 0 ? fmt::format("{:.3f}", iteration.predicted_ms) : "-",
                 transfer_text(iteration), with_commas(iteration.windows), human_bytes(iteration.bytes_sent));
    const double pages = std::max(1.0, static_cast<double>(iteration.windows));
    fmt::print(out, "{}\n",
               hit ? fmt::format(" {:>8.0f} %", 100 * static_cast<double>(iteration.pages_hit) / pages) : "");
  }
}

Json top_json(const Algorithm& algorithm, const Result& result, const Graph& graph, std::uint64_t top) {
  constexpr std::uint64_t entry_bytes = 384, column_bytes = 128;  // of a JSON object, about
  Json                    list = Json::array();
  if (result.columns.empty()) return list;
  Charge memory{graph.budget(), "the list of --top as JSON"};
  memory.raise_to(std::min(top, graph.vertex_count()) * (entry_bytes + column_bytes * result.columns.size()));
  if (is_grouped(algorithm, result)) {
    for (const Group& group : groups_of(result.columns.front(), graph, top).largest)
      list.push_back({{result.columns.front().name, Json::parse(json_id(group.label, graph.ids()))},
                      {"vertices", group.size}});
    return list;
  }
  for (const Vertex v : top_vertices(order_of(algorithm, result.columns.front()), result, graph, top)) {
    Json entry{{"vertex", Json::parse(json_id(v, graph.ids()))}};
    for (const Column& column : result.columns)
      entry[column.name] = Json::parse(json_value(column, v, graph.ids()));
    list.push_back(std::move(entry));
  }
  return list;
}

Json summary_json(const Algorithm& algorithm, const Result& result, const Graph& graph) {
  Json summary = Json::object();
  if (result.columns.empty() || graph.vertex_count() == 0) return summary;
  const Column& column = result.columns.front();
  if (is_grouped(algorithm, result)) {
    const Groups groups = groups_if_they_fit(column, graph);
    if (groups.count == 0) return summary;
    summary["groups"]        = groups.count;
    summary["largest_group"] = {{column.name, Json::parse(json_id(groups.largest.front().label, graph.ids()))},
                                {"vertices", groups.largest.front().size}};
    return summary;
  }
  const bool    distances = order_of(algorithm, column) == ColumnOrder::smallest_first;
  const Extreme extreme   = extreme_of(algorithm, result, graph);
  if (distances) summary["reached"] = extreme.valued;
  if (extreme.vertex != no_vertex)
    summary[distances ? "farthest" : "largest"] = {
        {"vertex", Json::parse(json_id(extreme.vertex, graph.ids()))},
        {column.name, Json::parse(json_value(column, extreme.vertex, graph.ids()))}};
  return summary;
}

std::string candidate_name(const PlanCandidate& candidate) {
  return fmt::format("{}{}{}{}{}", candidate.method->name, candidate.compressed ? " compressed" : "",
                     candidate.asynchronous ? " asynchronous" : "",
                     candidate.order == VertexOrder::degree ? " hubs first" : "",
                     candidate.balance.by_bins() ? "" : " " + name_of(candidate.balance));
}

Json candidates_json(const std::vector<PlanCandidate>& candidates) {
  Json all = Json::array();
  for (const PlanCandidate& each : candidates) {
    Json entry{{"device", each.device},
               {"method", each.method->name},
               {"compressed", each.compressed},
               {"asynchronous", each.asynchronous},
               {"order", each.order == VertexOrder::degree ? "degree" : "natural"},
               {"balance", name_of(each.balance)},
               {"excluded", each.excluded.empty() ? Json(nullptr) : Json(each.excluded)}};
    if (each.excluded.empty())
      entry.update(Json{{"prepare_ms", each.prepare_ms},
                        {"transfer_ms", each.transfer_ms},
                        {"compute_ms", each.compute_ms},
                        {"run_ms", each.run_ms},
                        {"total_ms", each.total_ms},
                        {"device_bytes", each.device_bytes},
                        {"bus_bytes", each.bus_bytes}});
    all.push_back(std::move(entry));
  }
  return all;
}

Json rates_json(const Rates& rates) {
  Json entry = Json::object();
  for (const auto& [name, value] : rate_fields) entry[name] = rates.*value;
  return entry;
}

Json gpu_json(const RunCounters& counters) {
  return {{"ballots", counters.ballots},
          {"overflows", counters.overflows},
          {"batched", counters.batched},
          {"rows", {{"small", counters.small_rows}, {"large", counters.large_rows}, {"hubs", counters.hub_rows}}},
          {"long_pulls", counters.long_pulls},
          {"skipped_settled", counters.settled},
          {"returned_to_host", counters.handed_over},
          {"local_rounds", counters.local_rounds},
          {"fused_rounds", counters.fused_rounds},
          {"virtual_nodes", counters.virtual_nodes},
          {"summed_hubs", counters.summed_hubs}};
}

Json answer_json(const Answer& answer) {
  const RunStatistics& statistics = answer.result.statistics;
  Json                 verified   = nullptr;
  if (answer.verified)
    verified = {{"how", answer.verdict.how},
                {"right", answer.verdict.problem.empty()},
                {"problem", answer.verdict.problem}};
  Json facts = Json::object();
  for (const Fact& fact : answer.result.facts)
    std::visit([&](const auto& value) { facts[fact.name] = value; }, fact.value);
  return {{"time_ms", {{"prepare", answer.prepare_ms}, {"run", answer.run_ms}, {"transfer", answer.transfer_ms}}},
          {"device", statistics.device},
          {"device_note", statistics.device_note},
          {"device_memory", {{"peak", statistics.device_bytes}}},
          {"bytes",
           {{"host_to_device", statistics.uploaded_bytes},
            {"edges_transferred", statistics.bytes_sent},
            {"edges_read_in_place", statistics.bytes_read}}},
          {"method", statistics.method.empty() ? std::string{resident_edges()->name} : statistics.method},
          {"compressed", statistics.compressed},
          {"balance", statistics.balance},
          {"edges", {{"resident_bytes", statistics.edges_resident}, {"host_bytes", statistics.edges_on_host}}},
          {"pages",
           {{"wanted", statistics.pages_wanted},
            {"sent", statistics.pages_sent},
            {"in_place", statistics.pages_in_place},
            {"read", statistics.pages_read},
            {"io", statistics.page_io}}},
          {"state_chunks", statistics.state_chunks},
          {"kernel_launches", statistics.counters.kernel_launches},
          {"gpu", gpu_json(statistics.counters)},
          {"direction_switches", statistics.counters.switches},
          {"iterations", statistics.iterations},
          {"edges_processed", statistics.edges_processed},
          {"candidates", candidates_json(statistics.candidates)},
          {"per_iteration", answer.lists_iterations() ? iterations_json(statistics) : Json::array()},
          {"facts", facts},
          {"verified", verified}};
}

}  // namespace spillway::cli
