// How `run` shows what came out: tables for people, one object for programs.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.hpp"

#include <spillway/algorithms.hpp>

namespace spillway::cli {

/// One question and its answer: with several sources a command has several.
struct Answer {
  std::string         source;  ///< empty where the algorithm has none
  Result              result;
  std::vector<double> prepare_ms;   ///< of every repeat; later ones find much of it done
  std::vector<double> run_ms;       ///< of every repeat
  std::vector<double> transfer_ms;  ///< of every repeat: to a device and back
  Verdict             verdict;
  bool                verified = false;

  double median_ms() const;
};

/// The vertices with the largest values of the first column; infinite is largest, missing ones are left out. The
/// smaller id comes first where values are the same.
std::vector<Vertex> top_vertices(const Result& result, const Graph& graph, std::uint64_t top);

void print_top(std::FILE* out, const Result& result, const Graph& graph, std::uint64_t top);
void print_facts(std::FILE* out, const Result& result);
void print_iterations(std::FILE* out, const RunStatistics& statistics);

Json top_json(const Result& result, const Graph& graph, std::uint64_t top);
Json rates_json(const Rates& rates);
/// time_ms, iterations, per_iteration, facts, verified: what differs from one answer to the next.
Json answer_json(const Answer& answer);

}  // namespace spillway::cli
