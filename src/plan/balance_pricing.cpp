#include "plan/balance_pricing.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {
namespace {

constexpr double warp = 32;

/// Edges of the longest of so many rows, on average.
double expected_longest(const GraphSample& sample, double rows) {
  const auto any_longer = [&](double length) {
    return 1 - std::pow(1 - std::min(1.0, sample.longer_than(length)), rows);
  };
  double sum = 0, from = 0, before = any_longer(0);
  for (double to = 1; from < sample.longest; to = std::max(to + 1, 1.25 * to)) {
    const double next = any_longer(to);
    sum += (before + next) / 2 * (to - from);
    from = to, before = next;
  }
  return sum;
}

/// Parts of at most so many edges, on average over all rows.
double expected_parts(const GraphSample& sample, double edges) {
  double parts = 0;
  for (double at = 0, step = edges; at < sample.longest; at += step, step = std::max(edges, at / 4))
    parts += sample.longer_than(at) * step / edges;
  return parts;
}

/// A row takes a whole step of its lanes for what is left of it, and one to turn to it.
SharedOut by_lanes(const GraphSample& sample, double rows, double lanes) {
  return {.steps   = expected_longest(sample, warp / lanes) + lanes / 2 + 1,
          .longest = std::ceil(sample.longest_of(rows) / lanes)};
}

SharedOut by_nodes(const GraphSample& sample, double rows, double degree_bound) {
  const double parts = expected_parts(sample, degree_bound);
  const double each  = std::min(degree_bound, expected_longest(sample, warp));
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
