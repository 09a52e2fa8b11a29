// What a balance makes of rows (options.hpp), for the planner: how many steps lanes take, those that wait for
// longer rows included, in how many parts rows come, and how long one lane walks.
#pragma once

#include <span>

#include <spillway/options.hpp>
#include "plan/graph_sample.hpp"

namespace spillway {

struct SharedOut {
  double steps   = 0;  ///< of a row, on average, by all lanes that have it or wait for others of their warp
  double parts   = 1;  ///< of a row, which meet at its vertex
  double longest = 1;  ///< steps that one lane takes, one after the other
};

/// Those that `auto` compares; the first is the one that others have to beat.
std::span<const BalanceTuning> compared_balances();

/// `rows`: how many are shared out at once. Of bins nothing is said: they have as many lanes for rows as there are
/// edges.
SharedOut shared_out(const GraphSample& sample, double rows, const BalanceTuning& balance);

}  // namespace spillway
