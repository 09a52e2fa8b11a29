// What every algorithm of the registry is tried with: parameters beside the defaults, and weights where it needs
// them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <spillway/algorithms.hpp>

namespace spillway::testing {

/// What an algorithm is tried with beside its defaults.
inline std::vector<ParameterValues> variants_of(const std::string& algorithm) {
  static const std::map<std::string, std::vector<ParameterValues>> variants{
      {"bc", {{{"sources", "4"}}, {{"sources", "1"}}, {{"sources", "all"}, {"normalized", "yes"}}}},
      {"bp",
       {{},
        {{"form", "vertex"}},
        {{"form", "vertex"}, {"states", "3"}, {"damping", "0.3"}},
        {{"form", "vertex"}, {"states", "5"}, {"iterations", "4"}, {"tolerance", "0"}}}},
      {"cc", {{}, {{"form", "afforest"}}, {{"form", "propagate"}}}},
      {"kcore", {{}, {{"k", "2"}}, {{"k", "4"}}}},
      {"pagerank",
       {{},
        {{"iterations", "7"}},
        {{"dangling", "drop"}},
        {{"form", "residual"}},
        {{"form", "residual"}, {"iterations", "3"}},
        {{"form", "residual"}, {"iterations", "3"}, {"dangling", "drop"}},
        {{"damping", "0.5"}},
        {{"damping", "0.99"}}}},
      {"ppr", {{}, {{"iterations", "5"}}, {{"form", "residual"}}, {{"form", "residual"}, {"iterations", "2"}}}},
      {"radius", {{}, {{"sketches", "8"}, {"steps", "3"}}}},
      {"ssnsp", {{}, {{"form", "accumulative"}}}},
      {"tc", {{}, {{"per-vertex", "yes"}}}},
      {"sssp", {{}, {{"delta", "1"}}, {{"delta", "1000"}}, {{"parents", "carry"}}, {{"parents", "search"}}}},
      {"neighborhood",
       {{},
        {{"hops", "0"}},
        {{"hops", "1"}, {"along", "in"}},
        {{"hops", "3"}, {"along", "both"}},
        {{"hops", "100"}, {"along", "in"}}}},
  };
  const auto found = variants.find(algorithm);
  return found == variants.end() ? std::vector<ParameterValues>{{}} : found->second;
}

/// Algorithms that are no vertex programs: of a way, the device and the number of threads are all that concerns
/// them. Some are programs in one form, or on a GPU; cc may be one, where the method needs it.
inline bool is_program(const std::string& algorithm, const ParameterValues& values) {
  static const std::set<std::string> others{"cdlp", "crossedges",   "egonet", "induced",
                                            "lcc",  "neighborhood", "scc",    "tc"};
  if (algorithm == "bp") return values.at("form") == "vertex";
  if (algorithm == "cc") return values.at("form") != "afforest";
#if !defined(SPILLWAY_TEST_ON_GPU)
  if (algorithm == "degrees") return false;
#endif
  return !others.contains(algorithm);
}

/// The method decides whether a program runs.
inline bool is_left_to_method(const std::string& algorithm, const ParameterValues& values) {
  return algorithm == "cc" && values.at("form") == "auto";
}

/// Whether a run this way is one of a program.
inline bool is_program(const std::string& algorithm, const ParameterValues& values, const RunOptions& way) {
  return is_program(algorithm, values) && (!is_left_to_method(algorithm, values) || way.method->transfers);
}

/// Every `step`th id with commas between, and the first once more at the end.
inline std::string some_ids(const Graph& graph, Vertex step) {
  std::string list;
  for (Vertex v = 0; v < graph.vertex_count(); v += step) list += graph.ids().name(v) + ",";
  return list + graph.ids().name(0);
}

/// A value for each parameter that has no default, or one that takes long; none if the graph has no vertex to
/// name.
inline std::optional<ParameterValues> filled(const Algorithm& algorithm, const Graph& graph,
                                             ParameterValues values) {
  static const std::map<std::string, Vertex> lists{{"members", 2}, {"from", 2}, {"to", 3}};
  if (algorithm.name == "bc" && !values.contains("source")) values.try_emplace("sources", "4");  // all take long
  for (const Parameter& parameter : algorithm.parameters) {
    const auto list = lists.find(parameter.name);
    if (!parameter.default_value.empty() || values.contains(parameter.name)) continue;
    if (parameter.kind != ParameterKind::source && list == lists.end()) continue;
    if (graph.vertex_count() == 0) return std::nullopt;
    values[parameter.name] = list == lists.end() ? graph.ids().name(0) : some_ids(graph, list->second);
  }
  return completed_parameters(algorithm, values);
}

inline std::string as_text(const ParameterValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += " --" + name + " " + value.substr(0, 40);
  return text;
}

inline Graph with_weights_for(const Algorithm& algorithm, const Graph& graph) {
  const bool lacks_weights = algorithm.weights == WeightUse::needed && graph.weight_type() == WeightType::none;
  return lacks_weights ? with_random_weights(graph, 1) : graph;
}

}  // namespace spillway::testing
