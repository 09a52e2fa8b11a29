#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <spillway/engine/memory.hpp>

#include "base/text.hpp"
#include "io/result_writer.hpp"
#include "plan/rates.hpp"

namespace spillway::cli {
namespace {

template <class T>
bool is_missing(const Column& column, const T& value) {
  if constexpr (std::is_integral_v<T>)
    return (column.vertices || column.missing == Missing::blank) && value == std::numeric_limits<T>::max();
  else
    return false;
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

Json iterations_json(const RunStatistics& statistics) {
  Json list = Json::array();
  for (const IterationStatistics& iteration : statistics.per_iteration)
    list.push_back({{"active_vertices", iteration.active_vertices},
                    {"active_edges", iteration.active_edges},
                    {"direction", std::string{to_string(iteration.direction)}},
                    {"ballot", iteration.balloted},
                    {"brought", iteration.brought},
                    {"windows", iteration.windows},
                    {"bytes_sent", iteration.bytes_sent},
                    {"bytes_read", iteration.bytes_read},
                    {"reckoned_ms", iteration.reckoned_ms},
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

std::vector<Vertex> top_vertices(const Result& result, const Graph& graph, std::uint64_t top) {
  std::vector<Vertex> best;
  if (result.columns.empty() || top == 0) return best;
  const Column& column = result.columns.front();
  // However many are asked for, there are no more than vertices; a vector that grows may hold twice what it needs.
  Charge memory{graph.budget(), "the list of --top"};
  memory.raise_to(2 * std::min(top, graph.vertex_count()) * sizeof(Vertex));
  std::visit(
      [&](const auto& values) {
        const auto before = [&](Vertex a, Vertex b) {
          return values[a] != values[b] ? values[a] > values[b] : a < b;
        };
        for (std::uint64_t i = 0; i < graph.vertex_count(); ++i) {
          const auto v = static_cast<Vertex>(i);
          if (is_missing(column, values[v]) || (best.size() == top && !before(v, best.front()))) continue;
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

void print_top(std::FILE* out, const Result& result, const Graph& graph, std::uint64_t top) {
  if (result.columns.empty()) return;
  fmt::print(out, "{:>20}", "vertex");
  for (const Column& column : result.columns) fmt::print(out, " {:>14}", column.name);
  fmt::print(out, "\n");
  for (const Vertex v : top_vertices(result, graph, top)) {
    fmt::print(out, "{:>20}", printable(graph.ids().name(v)));
    for (const Column& column : result.columns)
      fmt::print(out, " {:>14}", printable(value_text(column, v, graph.ids())));
    fmt::print(out, "\n");
  }
}

void print_facts(std::FILE* out, const Result& result) {
  for (const Fact& fact : result.facts) fmt::print(out, "{}: {}\n", fact.name, fact_text(fact));
}

void print_iterations(std::FILE* out, const RunStatistics& statistics) {
  if (statistics.per_iteration.empty()) {
    fmt::print(out, "there are no figures of single iterations\n");
    return;
  }
  const auto came = [](const IterationStatistics& iteration) { return *iteration.brought != '\0'; };
  const bool sent = std::ranges::any_of(statistics.per_iteration, came);
  fmt::print(out, "{:>9} {:>14} {:>14} {:>9} {:>10}", "iteration", "vertices", "edges", "direction", "ms");
  fmt::print(out, "{}\n",
             sent ? fmt::format(" {:>11} {:>9} {:>8} {:>10}", "reckoned ms", "brought", "windows", "sent") : "");
  std::uint64_t number = 0;
  for (const IterationStatistics& iteration : statistics.per_iteration) {
    fmt::print(out, "{:>9} {:>14} {:>14} {:>9} {:>10.3f}", ++number, with_commas(iteration.active_vertices),
               with_commas(iteration.active_edges), to_string(iteration.direction), iteration.milliseconds);
    if (sent)
      fmt::print(out, " {:>11} {:>9} {:>8} {:>10}",
                 iteration.reckoned_ms > 0 ? fmt::format("{:.3f}", iteration.reckoned_ms) : "-", iteration.brought,
                 with_commas(iteration.windows), human_bytes(iteration.bytes_sent));
    fmt::print(out, "\n");
  }
}

Json top_json(const Result& result, const Graph& graph, std::uint64_t top) {
  Json list = Json::array();
  for (const Vertex v : top_vertices(result, graph, top)) {
    Json entry{{"vertex", Json::parse(json_id(v, graph.ids()))}};
    for (const Column& column : result.columns)
      entry[column.name] = Json::parse(json_value(column, v, graph.ids()));
    list.push_back(std::move(entry));
  }
  return list;
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
          {"settled", counters.settled},
          {"handed_over", counters.handed_over},
          {"local_rounds", counters.local_rounds}};
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
            {"edges_sent", statistics.bytes_sent},
            {"edges_read_in_place", statistics.bytes_read}}},
          {"method", statistics.method.empty() ? "frontier" : statistics.method},
          {"compressed", statistics.compressed},
          {"edges", {{"resident_bytes", statistics.edges_resident}, {"host_bytes", statistics.edges_outside}}},
          {"kernel_launches", statistics.counters.kernel_launches},
          {"gpu", gpu_json(statistics.counters)},
          {"direction_switches", statistics.counters.switches},
          {"iterations", statistics.iterations},
          {"edges_processed", statistics.edges_processed},
          {"per_iteration", iterations_json(statistics)},
          {"facts", facts},
          {"verified", verified}};
}

}  // namespace spillway::cli
