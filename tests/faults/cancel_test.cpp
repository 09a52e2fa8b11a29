// Runs that are stopped at the k-th look, k = 1, 2, … to the end, and runs side by side on one graph.
#include <gtest/gtest.h>

#include "faults/cases.hpp"

namespace spillway {
namespace {

class Cancelling : public ::testing::TestWithParam<std::string> {};

TEST_P(Cancelling, AtAnyLookEndsTheRunAndNothingElse) {
  constexpr std::uint64_t each = 20;
  for (const testing::Case& one : testing::cases_of(GetParam(), testing::methods_on_cpu))
    testing::expect_stops_at_every_look(one, each);
}

INSTANTIATE_TEST_SUITE_P(Registry, Cancelling, ::testing::ValuesIn(testing::algorithm_names()),
                         [](const auto& test) { return test.param; });

TEST(SideBySide, RunsOnOneGraphAreRight) {
  const int                  times = testing::full_matrix() ? 20 : 3;
  std::vector<testing::Case> cases;
  for (const std::string& name : testing::algorithm_names())
    for (testing::Case& one : testing::cases_of(name, testing::methods_on_cpu))
      for (int i = 0; i < times; ++i) cases.push_back(one);
  testing::expect_right_side_by_side(std::move(cases));
}

}  // namespace
}  // namespace spillway
