// Runs a workload several times: medians of what it took, what ran, and whether the answer is right.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "workload.hpp"

namespace spillway::bench {

using Json = nlohmann::ordered_json;

double median(std::vector<double> values);
/// Of first runs, on a host that others use, too.
double least(const std::vector<double>& values);
/// Four digits are more than repeats agree in.
double rounded(double value);
/// `name`, how many there were and their spread, (most - least) / median.
void add_repeats(Json& entry, const std::string& name, const std::vector<double>& values);

class Runner {
 public:
  /// Up to `sources` of them take turns; `thorough`: trees are checked for every method.
  Runner(DeviceKind device, int sources, bool thorough, const Deadline& all)
      : device_(device), source_count_(sources), all_(all), checker_(thorough) {}

  Json measure(const Workload& workload, const Graph& graph);

 private:
  struct Samples;

  const std::vector<std::string>& sources_of(const Workload& workload, const Graph& graph);
  DeviceKind                      device_of(const Workload& workload) const;
  RunOptions                      options_of(const Workload& workload, const Graph& graph) const;
  void    add_iterations(Json& entry, const Workload& workload, const Graph& graph, const Samples& samples);
  Samples sampled(const Workload& workload, const Graph& graph, RunOptions options);

  DeviceKind                                      device_;
  int                                             source_count_;
  const Deadline&                                 all_;
  Checker                                         checker_;
  std::map<std::string, std::vector<std::string>> sources_;  ///< by graph
  std::map<std::string, std::uint64_t>            taken_;    ///< device memory that methods took, by question
};

}  // namespace spillway::bench
