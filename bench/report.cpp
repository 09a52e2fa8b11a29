#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace spillway::bench {
namespace {

std::string line_of(const Json& workload) {
  const std::string name = workload["name"];
  if (workload.contains("error")) return fmt::format("{:<40} {}", name, std::string{workload["error"]});
  if (workload.contains("over_s")) return fmt::format("{:<40} ended after {} s", name, double{workload["over_s"]});
  std::string line = fmt::format("{:<40} {:>9.2f} ms", name, double{workload["run_ms"]});
  if (workload.contains("kernels_ms")) line += fmt::format(", kernels {:.2f}", double{workload["kernels_ms"]});
  if (workload.contains("cold_ms")) line += fmt::format(", first run {:.1f}", double{workload["cold_ms"]});
  if (workload.contains("ran")) line += ", by " + std::string{workload["ran"]};
  if (workload.contains("check"))
    line += fmt::format(" ({}, {:.1f} s)", std::string{workload["check"]}, double{workload["check_s"]});
  return line;
}

}  // namespace

void Report::add_graph(const std::string& name, const Graph& graph, double generate_ms) {
  graphs_[name] = {
      {"vertices", graph.vertex_count()}, {"arcs", graph.arc_count()}, {"generate_ms", rounded(generate_ms)}};
  fmt::print("{}: {} vertices, {} arcs, made in {:.1f} s\n", name, graph.vertex_count(), graph.arc_count(),
             generate_ms / 1000);
}

void Report::add(Json workload) {
  fmt::print("{}\n", line_of(workload));
  std::fflush(stdout);
  workloads_.push_back(std::move(workload));
  write();
}

void Report::finish(double seconds, std::uint64_t not_run) {
  about_["seconds"] = rounded(seconds);
  if (not_run > 0) {
    about_["not_run"] = not_run;
    fmt::print("out of time: {} workloads were not run\n", not_run);
  }
  write();
}

/// A line for each workload: small, and changes are seen one by one.
void Report::write() const {
  Json document      = about_;
  document["graphs"] = graphs_;
  std::string text   = document.dump(1);
  text.resize(text.rfind('\n'));  // its closing brace
  text += ",\n \"workloads\": [";
  for (std::size_t i = 0; i < workloads_.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + workloads_[i].dump();
  text += "\n ]\n}\n";
  const std::string beside = path_ + ".tmp";
  std::ofstream{beside} << text;
  std::filesystem::rename(beside, path_);
}

}  // namespace spillway::bench
