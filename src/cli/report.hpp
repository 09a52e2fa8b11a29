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
  bool                verified       = false;
  bool                all_iterations = false;  ///< are told, however many

  double median_ms() const;
  /// A graph of long paths has as many iterations as vertices.
  bool lists_iterations() const {
    constexpr std::size_t most = 4096;
    return all_iterations || result.statistics.per_iteration.size() <= most;
  }
};

/// What matters most in the first column, as the algorithm orders it (ColumnOrder): the largest values, the
/// nearest vertices, or the largest groups. Vertices without a value are left out; the smaller id comes first
/// where values are the same.
void print_top(std::FILE* out, const Algorithm& algorithm, const Result& result, const Graph& graph,
               std::uint64_t top);
void print_facts(std::FILE* out, const Result& result);
/// What a run found, in a line or two: how many are reached and which is farthest, or what is largest.
void print_summary(std::FILE* out, const Algorithm& algorithm, const Result& result, const Graph& graph);
void print_iterations(std::FILE* out, const RunStatistics& statistics);

Json top_json(const Algorithm& algorithm, const Result& result, const Graph& graph, std::uint64_t top);
Json summary_json(const Algorithm& algorithm, const Result& result, const Graph& graph);
Json rates_json(const Rates& rates);
/// What differs from one answer to the next.
Json answer_json(const Answer& answer);

/// "partitions compressed".
std::string candidate_name(const PlanCandidate& candidate);
Json        candidates_json(const std::vector<PlanCandidate>& candidates);

}  // namespace spillway::cli
