// Covering arrays: few rows in which every pair of levels of any two factors stands together at least once. Most
// mistakes need one option or two to show, hardly ever three (Kuhn, Wallace, Gallo, TSE 2004).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace spillway::testing {

/// A level of each factor; while a row is being made, `undecided` where none is chosen yet.
using Levels            = std::vector<int>;
constexpr int undecided = -1;

class Pairwise {
 public:
  /// `fits(levels)`: whether the levels that are chosen so far can go together. Level 0 of a factor goes with
  /// all others but levels of the first factor, which is therefore chosen first.
  Pairwise(std::vector<int> level_counts, std::function<bool(const Levels&)> fits, std::uint64_t seed)
      : counts_(std::move(level_counts)), fits_(std::move(fits)), random_(seed) {
    for (int a = 0; a < factors(); ++a)
      for (int b = a + 1; b < factors(); ++b)
        for (int i = 0; i < counts_[index(a)]; ++i)
          for (int j = 0; j < counts_[index(b)]; ++j) wanted_.push_back({a, i, b, j});
  }

  std::vector<Levels> rows() {
    std::vector<Levels> rows;
    while (!wanted_.empty()) {
      Levels row = best_row(wanted_[random_() % wanted_.size()]);
      if (row.empty()) continue;  // the pair was dropped: nothing can go with both
      std::erase_if(wanted_, [&](const Pair& pair) { return pair.in(row); });
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  struct Pair {
    int a, i, b, j;

    bool in(const Levels& row) const { return row[index(a)] == i && row[index(b)] == j; }
  };

  static std::size_t index(int factor) { return static_cast<std::size_t>(factor); }
  int                factors() const { return static_cast<int>(counts_.size()); }

  std::uint64_t gain(const Levels& row) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(wanted_, [&](const Pair& pair) { return pair.in(row); }));
  }

  /// Of some rows with this pair, one that has most other pairs as well.
  Levels best_row(const Pair& pair) {
    constexpr int tries = 20;
    Levels        best;
    for (int t = 0; t < tries; ++t) {
      Levels row = a_row(pair);
      if (!row.empty() && (best.empty() || gain(row) > gain(best))) best = std::move(row);
    }
    if (best.empty()) std::erase_if(wanted_, [&](const Pair& other) { return same(other, pair); });
    return best;
  }

  static bool same(const Pair& x, const Pair& y) { return x.a == y.a && x.i == y.i && x.b == y.b && x.j == y.j; }

  /// Factors in any order after the first, each with the level that gains most among those that fit; none if none
  /// fits.
  Levels a_row(const Pair& pair) {
    Levels row(counts_.size(), undecided);
    row[index(pair.a)] = pair.i, row[index(pair.b)] = pair.j;
    if (!fits_(row)) return {};
    std::vector<int> order(counts_.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + 1, order.end(), random_);
    for (const int factor : order)
      if (row[index(factor)] == undecided && !choose(row, factor)) return {};
    return row;
  }

  bool choose(Levels& row, int factor) {
    int           best      = undecided;
    std::uint64_t best_gain = 0;
    const int     first     = static_cast<int>(random_() % static_cast<std::uint64_t>(counts_[index(factor)]));
    for (int k = 0; k < counts_[index(factor)]; ++k) {
      const int level    = (first + k) % counts_[index(factor)];
      row[index(factor)] = level;
      if (!fits_(row)) continue;
      const std::uint64_t this_gain = gain(row);
      if (best == undecided || this_gain > best_gain) best = level, best_gain = this_gain;
    }
    row[index(factor)] = best;
    return best != undecided;
  }

  std::vector<int>                   counts_;
  std::function<bool(const Levels&)> fits_;
  std::mt19937_64                    random_;
  std::vector<Pair>                  wanted_;
};

}  // namespace spillway::testing
