#include "pairwise.hpp"

#include <gtest/gtest.h>

#include "ways.hpp"

#include <array>
#include <set>

namespace spillway::testing {
namespace {

using Pair = std::array<int, 4>;

const std::vector<int> counts{5, 2, 4, 3, 2, 3};

/// As options exclude one another: some methods leave others nothing to choose.
bool some_fit(const Levels& row) {
  const auto above_zero = [&](std::size_t factor) { return row[factor] > 0; };
  if (row[0] == 0) return !above_zero(1) && !above_zero(2);
  if (row[0] == 1) return !above_zero(4);
  return row[0] != 4 || (!above_zero(1) && !above_zero(5));
}

void insert_pairs(const Levels& row, std::set<Pair>& pairs) {
  for (std::size_t a = 0; a < row.size(); ++a)
    for (std::size_t b = a + 1; b < row.size(); ++b)
      pairs.insert({static_cast<int>(a), row[a], static_cast<int>(b), row[b]});
}

/// Of all rows that there can be.
std::set<Pair> possible_pairs() {
  std::set<Pair> pairs;
  Levels         row(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size();) {
    if (some_fit(row)) insert_pairs(row, pairs);
    for (i = 0; i < counts.size() && ++row[i] == counts[i]; ++i) row[i] = 0;
  }
  return pairs;
}

TEST(Pairwise, HasAllPairsThatThereCanBe) {
  const std::set<Pair> possible = possible_pairs();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<Pair> found;
    const auto     rows = Pairwise{counts, some_fit, seed}.rows();
    for (const Levels& row : rows) {
      EXPECT_TRUE(some_fit(row)) << "seed " << seed;
      insert_pairs(row, found);
    }
    EXPECT_EQ(found, possible) << "seed " << seed;
    EXPECT_LT(rows.size(), 40u) << "of " << 5 * 2 * 4 * 3 * 2 * 3 << ", seed " << seed;
  }
}

/// Those of ways that are drawn at random.
TEST(Pairwise, HasThePairsOfWays) {
  const std::vector<int> levels = level_counts();
  std::mt19937_64        random{seed()};
  std::set<Pair>         found, drawn;
  for (const Levels& row : Pairwise{levels, fits, seed()}.rows()) insert_pairs(row, found);
  for (int i = 0; i < 200'000; ++i) {
    Levels row;
    for (const int count : levels) row.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(count)));
    if (fits(row)) insert_pairs(row, drawn);
  }
  EXPECT_GT(drawn.size(), levels.size() * levels.size());
  EXPECT_EQ(found, drawn);
}

}  // namespace
}  // namespace spillway::testing
