#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <spillway/algorithms.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/error.hpp>

namespace spillway::bench {
namespace {

constexpr std::uint64_t source_seed = 27491095;  // GAPBS's

std::string highest_degree(const Graph& graph) {
  Vertex best = 0;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    if (graph.out().degree(v) > graph.out().degree(best)) best = v;
  return graph.ids().name(best);
}

std::vector<std::string> drawn_sources(const Graph& graph, int count) {
  std::mt19937_64          random{source_seed};
  std::vector<std::string> sources;
  while (sources.size() < static_cast<std::size_t>(count)) {
    const auto v = static_cast<Vertex>(random() % graph.vertex_count());
    if (graph.out().degree(v) > 0) sources.push_back(graph.ids().name(v));
  }
  return sources;
}

bool has_source(const Algorithm& algorithm) {
  return std::ranges::any_of(algorithm.parameters, [](const Parameter& p) { return p.name == "source"; });
}

std::uint64_t edge_bytes(const Workload& workload, const Graph& graph) {
  return graph.arc_count() * (algorithm_named(workload.algorithm).weights == WeightUse::ignored ? 4 : 8);
}

/// A figure counts for the method and device that were asked for, or not at all.
void require_as_asked(const Workload& workload, const RunStatistics& ran, DeviceKind device) {
  const bool on_gpu = ran.device.starts_with("cuda");
  if (on_gpu != (device == cuda_kind()))
    throw Error{ExitCode::internal_error, "ran on " + ran.device + ": " + ran.device_note};
  const std::string asked{workload.method->name},
      method = ran.method.empty() ? std::string{resident_edges()->name} : ran.method;
  if (workload.method != Method{} && method != asked)
    throw Error{ExitCode::internal_error, "ran by " + method + ", not by " + asked};
  if (workload.balance.kind != Balance::automatic && ran.balance != name_of(workload.balance))
    throw Error{ExitCode::internal_error, "balanced by " + ran.balance + ", not by " + name_of(workload.balance)};
}

double kernels_ms(const RunStatistics& statistics) {
  double sum = 0;
  for (const IterationStatistics& iteration : statistics.per_iteration) sum += iteration.milliseconds;
  return sum > 0 ? sum : statistics.run_ms;
}

std::string what_ran(const RunStatistics& ran) {
  const bool asynchronous = !ran.candidates.empty() && ran.candidates.front().asynchronous;
  return (ran.method.empty() ? std::string{resident_edges()->name} : ran.method) +
         (ran.compressed ? " compressed" : "") + (asynchronous ? " asynchronous" : "");
}

/// Milliseconds to prepare and to run, of each candidate that was possible.
void add_predicted(Json& entry, const std::vector<PlanCandidate>& candidates) {
  for (const PlanCandidate& each : candidates)
    if (each.excluded.empty())
      entry["predicted_ms"].push_back(
          {{"candidate",
            fmt::format("{} {}{}{}{}", each.device, each.method->name, each.compressed ? " compressed" : "",
                        each.asynchronous ? " asynchronous" : "",
                        each.order == VertexOrder::degree ? " hubs first" : "")},
           {"prepare", rounded(each.prepare_ms)},
           {"run", rounded(each.run_ms)}});
}

std::string question_of(const Workload& workload) {
  return workload.algorithm + " " + workload.graph + " " + share_name(workload);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double least(const std::vector<double>& values) { return values.empty() ? 0 : *std::ranges::min_element(values); }

double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  // Through text: the nearest double of a short number prints short.
  return std::stod(fmt::format("{:.4g}", std::round(value / unit) * unit));
}

void add_repeats(Json& entry, const std::string& name, const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  entry[name]              = rounded(median(values));
  entry["repeats"]         = values.size();
  if (values.size() > 1) entry["spread"] = rounded((most - least) / median(values));
}

/// What a workload's runs took, in milliseconds.
struct Runner::Samples {
  std::vector<double> kernels, run, transfer, prepare_again, wall;  // of warm runs
  std::vector<double> cold, prepare;                                // of cold ones
  ParameterValues     values;                                       // of the last run
  Result              result;

  void add(const RunStatistics& statistics, double milliseconds, bool is_cold) {
    (is_cold ? cold : wall).push_back(milliseconds);
    (is_cold ? prepare : prepare_again).push_back(statistics.prepare_ms);
    if (!is_cold) add_run(statistics);
  }
  void add_run(const RunStatistics& statistics) {
    kernels.push_back(kernels_ms(statistics));
    run.push_back(statistics.run_ms);
    transfer.push_back(statistics.transfer_ms);
  }
};

const std::vector<std::string>& Runner::sources_of(const Workload& workload, const Graph& graph) {
  auto& sources = sources_[workload.graph];
  if (sources.empty())
    sources = source_count_ == 1 ? std::vector{highest_degree(graph)} : drawn_sources(graph, source_count_);
  return sources;
}

DeviceKind Runner::device_of(const Workload& workload) const {
  return workload.device.automatic() ? device_ : workload.device;
}

RunOptions Runner::options_of(const Workload& workload, const Graph& graph) const {
  RunOptions options;
  options.device.kind      = device_of(workload);
  options.method           = workload.method;
  options.supply.compress  = workload.compress;
  options.supply.async     = workload.async;
  options.supply.all_parts = workload.all_parts;
  options.cuda             = workload.cuda;
  options.balance          = workload.balance;
  options.runs             = workload.runs;
  if (!workload.beyond_memory) {
    options.runs = static_cast<unsigned>(workload.repeats.cold + workload.repeats.warm);
    return options;
  }
  if (workload.resident_of == 1) return options;  // all
  options.supply.resident = workload.resident_of == 0 ? 0 : edge_bytes(workload, graph) / workload.resident_of;
  if (workload.method == Method{})
    if (const auto found = taken_.find(question_of(workload)); found != taken_.end())
      options.device.memory = found->second;
  return options;
}

Runner::Samples Runner::sampled(const Workload& workload, const Graph& graph, RunOptions options) {
  const Algorithm& algorithm = algorithm_named(workload.algorithm);
  Samples          samples;
  Stopwatch        all;
  std::size_t      turn = 0;
  const auto       once = [&](bool cold) {
    ParameterValues given = workload.parameters;
    if (has_source(algorithm)) {
      const auto& sources = sources_of(workload, graph);
      given["source"]     = sources[turn++ % sources.size()];
    }
    samples.values = completed_parameters(algorithm, given);
    samples.result = {};  // before the next takes its memory
    if (cold) graph.attach("cuda:0", nullptr);
    Deadline limit{std::min(workload.limit_s, all_.seconds_left())};
    options.progress = &limit;
    Stopwatch clock;
    samples.result = algorithm.run(graph, samples.values, options);
    samples.add(samples.result.statistics, clock.milliseconds(), cold);
    require_as_asked(workload, samples.result.statistics, device_of(workload));
  };
  const Repeats repeats = workload.repeats;
  const auto    goes_on = [&] { return all.milliseconds() < workload.enough_s * 1000; };
  for (int i = 0; i < std::max(1, repeats.cold) && goes_on(); ++i) {
    if (repeats.cold > 0) once(true);
    for (int k = 0; k < repeats.warm && goes_on(); ++k) once(false);
  }
  if (samples.run.empty()) samples.add_run(samples.result.statistics), samples.wall = samples.cold;
  return samples;
}

/// Long iterations, each with what was predicted of it and what it took. Where all edges fit, nothing is predicted
/// unless somebody asks: then once more.
void Runner::add_iterations(Json& entry, const Workload& workload, const Graph& graph, const Samples& samples) {
  constexpr double long_ms = 5;
  const auto       rows    = [](const RunStatistics& ran) {
    Json list = Json::array();
    for (std::size_t i = 0; i < ran.per_iteration.size(); ++i)
      if (const auto& made = ran.per_iteration[i]; made.milliseconds > long_ms)
        list.push_back({i, rounded(made.predicted_ms), rounded(made.milliseconds)});
    return list;
  };
  Json list = rows(samples.result.statistics);
  if (!list.empty() && std::ranges::all_of(list, [](const Json& row) { return row[1] == 0; })) {
    RunOptions explained = options_of(workload, graph);
    explained.explain    = true;
    list = rows(algorithm_named(workload.algorithm).run(graph, samples.values, explained).statistics);
  }
  if (!list.empty()) entry["iterations_ms"] = std::move(list);
}

Json Runner::measure(const Workload& workload, const Graph& graph) {
  Json entry{{"name", name_of(workload)},
             {"table", workload.table},
             {"algorithm", workload.algorithm},
             {"graph", workload.graph},
             {"method", method_name(workload)}};
  if (workload.beyond_memory) entry["resident"] = share_name(workload);
  if (workload.per_iteration) entry["per_iteration"] = true;
  try {
    const RunOptions options = options_of(workload, graph);
    Samples          samples = sampled(workload, graph, options);
    const auto&      ran     = samples.result.statistics;
    add_repeats(entry, "run_ms", samples.run);
    entry["kernels_ms"] = rounded(median(samples.kernels));
    entry["wall_ms"]    = rounded(median(samples.wall));
    const auto add      = [&](const char* name, double value) {
      if (value >= 0.01) entry[name] = value;
    };
    add("cold_ms", rounded(workload.table == "planning" ? least(samples.cold) : median(samples.cold)));
    add("prepare_ms", rounded(median(samples.prepare)));
    add("prepare_again_ms", rounded(median(samples.prepare_again)));
    add("transfer_ms", rounded(median(samples.transfer)));
    if (workload.beyond_memory && workload.method == Method{}) entry["ran"] = what_ran(ran);
    if (workload.runs > 1) entry["walls_ms"] = samples.wall;
    if (workload.table == "planning" && workload.method == Method{}) {
      add_predicted(entry, ran.candidates);
      add_iterations(entry, workload, graph, samples);
    }
    if (workload.runs > 1) entry["runs"] = workload.runs;
    if (workload.table.starts_with("tigr")) entry["balance"] = ran.balance;
    for (const auto& [name, value] : {std::pair{"iterations", ran.iterations},
                                      {"edges_processed", ran.edges_processed},
                                      {"device_bytes", ran.device_bytes},
                                      {"edges_resident", ran.edges_resident},
                                      {"bytes_sent", ran.bytes_sent},
                                      {"bytes_read", ran.bytes_read},
                                      {"device_memory", options.device.memory}})
      if (value > 0) entry[name] = value;
    if (workload.beyond_memory && workload.method != Method{}) {
      std::uint64_t& taken = taken_[question_of(workload)];
      taken                = std::max(taken, ran.device_bytes + ran.device_bytes / 2);
    }
    if (source_count_ > 1 && has_source(algorithm_named(workload.algorithm)))
      entry["sources"] = sources_of(workload, graph);
    Stopwatch clock;
    entry["check"]   = checker_.verdict(workload, graph, samples.values, std::move(samples.result), all_);
    entry["check_s"] = rounded(clock.milliseconds() / 1000);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted)
      entry["over_s"] = workload.limit_s;
    else
      entry["error"] = error.what();
  } catch (const std::exception& error) {
    entry["error"] = error.what();
  }
  return entry;
}

}  // namespace spillway::bench
