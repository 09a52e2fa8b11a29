#include "plan/balance_pricing.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {
namespace {

constexpr double warp = 32;

/// Edges of the longest of so many rows, a power of two, on average.
double longest_of_group(const GraphSample& sample, double rows) {
  return sample.longest_of_group[static_cast<std::size_t>(std::log2(rows))];
}

/// Parts of at most so many edges, on average over all rows: long rows end with a part that is half full.
double expected_parts(const GraphSample& sample, double edges) {
  const double mean = longest_of_group(sample, 1), longer = sample.longer_than(edges);
  const double shorter = std::max(0.0, sample.nonempty - longer);
  return shorter + longer / 2 + std::max(0.0, mean - shorter * std::min(mean, edges / 2)) / edges;
}

/// A row takes a whole step of its lanes for what is left of it.
SharedOut by_lanes(const GraphSample& sample, double rows, double lanes) {
  return {.steps   = longest_of_group(sample, warp / lanes) + (lanes - 1) / 2 + 1,
          .longest = std::ceil(sample.longest_of(rows) / lanes)};
}

SharedOut by_nodes(const GraphSample& sample, double rows, double degree_bound) {
  const double parts = expected_parts(sample, degree_bound);
  const double each  = std::min(degree_bound, longest_of_group(sample, warp));
  return {.steps = parts * (each + 1), .parts = parts, .longest = std::min(degree_bound, sample.longest_of(rows))};
}

}  // namespace

std::span<const BalanceTuning> compared_balances() {
  static constexpr BalanceTuning all[] = {{.kind = Balance::bins},
                                          {.kind = Balance::split},
                                          {.kind = Balance::thread},
                                          {.kind = Balance::warp, .lanes = 8}};
  return all;
}

SharedOut shared_out(const GraphSample& sample, double rows, const BalanceTuning& balance) {
  switch (balance.kind) {
    case Balance::split:
      return by_nodes(sample, rows, static_cast<double>(balance.split.degree_bound));
    case Balance::thread:
      return by_lanes(sample, rows, 1);
    case Balance::warp:
      return by_lanes(sample, rows, balance.lanes);
    case Balance::automatic:
    case Balance::bins:
    case Balance::hybrid:
      break;
  }
  return {};
}

}  // namespace spillway
