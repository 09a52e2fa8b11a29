// Whether answers are right. To check one by its properties takes seconds on a large graph, so this is done once
// for each question: other methods' answers are compared with it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "deadline.hpp"
#include "workload.hpp"

#include <spillway/algorithms.hpp>

namespace spillway::bench {

class Checker {
 public:
  /// Of several shortest paths any will do, so parents can seldom be compared: `thorough` checks them by
  /// themselves, once for each method.
  explicit Checker(bool thorough) : thorough_(thorough) {}

  /// How the result was found to be right; "wrong: …" where it is not, "not checked: …" where there was no time.
  std::string verdict(const Workload& workload, const Graph& graph, const ParameterValues& values, Result result,
                      const Deadline& all);

 private:
  bool                          thorough_;
  std::map<std::string, Result> answers_;  ///< that were found to be right, by question
  std::set<std::string>         parents_;  ///< questions and methods whose trees were checked by themselves
};

}  // namespace spillway::bench
