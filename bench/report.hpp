// The result file: written anew after every workload, so that a run that is killed leaves what it has.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace spillway::bench {

class Report {
 public:
  Report(std::string path, Json about) : path_(std::move(path)), about_(std::move(about)) {}

  void add_graph(const std::string& name, const Graph& graph, double generate_ms);
  void add(Json workload);
  /// The last writing: how long everything took, and for how many workloads there was no time.
  void finish(double seconds, std::uint64_t not_run);

 private:
  void write() const;

  std::string       path_;
  Json              about_;
  Json              graphs_ = Json::object();
  std::vector<Json> workloads_;
};

}  // namespace spillway::bench
