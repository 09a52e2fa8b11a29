#include "check.hpp"

#include <algorithm>
#include <cmath>

#include <spillway/error.hpp>

namespace spillway::bench {
namespace {

constexpr double check_limit_s = 20;

/// Sums of floating numbers depend on their order. None is infinite; should one be, only itself is near it.
bool near(double a, double b) {
  constexpr double tolerance = 1e-4;
  return a == b || (std::isfinite(a - b) && std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)));
}

bool same(const Column& a, const Column& b) {
  return std::visit(
      [](const auto& left, const auto& right) {
        using Left = std::remove_cvref_t<decltype(left[0])>;
        if constexpr (!std::is_same_v<decltype(left), decltype(right)>)
          return false;
        else if constexpr (std::is_floating_point_v<Left>)
          return std::ranges::equal(left.span(), right.span(), near);
        else
          return std::ranges::equal(left.span(), right.span());
      },
      a.values, b.values);
}

/// The same columns, but for parents if these are not asked for.
bool same(const Result& a, const Result& b, bool parents) {
  if (a.columns.size() != b.columns.size()) return false;
  if (a.columns.empty()) return a.facts.at(0).value == b.facts.at(0).value;
  for (std::size_t i = 0; i < a.columns.size(); ++i)
    if ((parents || a.columns[i].name != "parent") && !same(a.columns[i], b.columns[i])) return false;
  return true;
}

/// Those whose check is serial and long are compared with what the CPU computes.
bool compare_with_cpu(const std::string& algorithm, const Result& result) {
  return result.statistics.device != "cpu" && (algorithm == "bc" || algorithm == "bp");
}

std::string question_of(const Workload& workload, const ParameterValues& values) {
  std::string question = workload.algorithm + " " + workload.graph;
  for (const auto& [name, value] : values) question += " " + name + "=" + value;
  return question;
}

}  // namespace

std::string Checker::verdict(const Workload& workload, const Graph& graph, const ParameterValues& values,
                             Result result, const Deadline& all) {
  const Algorithm&  algorithm = algorithm_named(workload.algorithm);
  const std::string question  = question_of(workload, values);
  const std::string asked     = question + " " + method_name(workload);
  if (const auto found = answers_.find(question); found != answers_.end()) {
    if (same(found->second, result, true)) return "equals a checked answer";
    if ((!thorough_ || parents_.contains(asked)) && same(found->second, result, false))
      return "equals a checked answer";
  }
  if (all.cancelled()) return "not checked: out of time";
  Deadline limit{std::min(check_limit_s, all.seconds_left())};
  try {
    if (compare_with_cpu(workload.algorithm, result)) {
      const RunOptions on_cpu{.progress = &limit, .device = {.kind = cpu_kind()}};
      return same(algorithm.run(graph, values, on_cpu), result, true) ? "equals the CPU's"
                                                                      : "wrong: differs from the CPU's";
    }
    const Verdict found = algorithm.verify(graph, values, result, {.by = CheckBy::properties, .progress = &limit});
    if (!found.problem.empty()) return "wrong: " + found.problem;
    parents_.insert(asked);
    answers_.emplace(question, std::move(result));
    return found.how;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) return "not checked: out of time";
    throw;
  }
}

}  // namespace spillway::bench
