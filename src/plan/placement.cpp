#include "plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supply/residency.hpp"

namespace spillway {
namespace {

/// Compressed rows spare more than half of the bytes; compressing goes at
/// so many a second (measured on an H200, docs/experiments.md).
constexpr double spared = 0.6, coding = 3.5e9;

/// Passes after which it pays to have compressed.
double passes_to_pay(const Rates& rates) { return rates.read / coding / spared; }

/// What says where rows are, about: their offsets, and where they are cut if they are read in place.
std::uint64_t places_of(const PlacementRequest& request, Method method) {
  return (method->reads_in_place ? 3 : 2) * request.vertices * sizeof(EdgeIndex);
}

/// One run, one device: the choice as it is made.
class Chooser {
 public:
  Chooser(const PlacementRequest& request, const PlacementDevice& device)
      : request_(request), device_(device), options_(request.options), free_(request.options.method.automatic()) {}

  Placement chosen() && {
    if (options_.method->all_resident) return {};
    if (free_ && device_.holds_all) {
      because("all edges fit on the GPU with the vertex state");
      return std::move(choice_);
    }
    if (free_) because("not enough GPU memory for all edges and the vertex state");
    choice_.method = options_.method->transfers ? options_.method : edges_in_place();
    know_rates();
    if (options_.method->transfers)
      choice_.compressed = options_.supply.compress == Compress::on;
    else
      choose();
    return std::move(choice_);
  }

 private:
  void because(std::string text) { choice_.why.push_back(std::move(text)); }

  /// Where nothing is left to choose, what a machine can do need not be known.
  void know_rates() {
    const bool no_code = options_.supply.compress != Compress::automatic || !device_.may_compress;
    const bool is_determined =
        !options_.method->transfers && (request_.form != RowForm::any || (!free_ && no_code));
    if (options_.supply.rates)
      choice_.rates = *options_.supply.rates;
    else if (!is_determined)
      choice_.rates = device_.rates();
  }

  void choose() {
    choice_.compressed = worth_compressing();
    if (choice_.compressed && free_ && request_.all_active && request_.form == RowForm::any &&
        room_for_windows()) {
      choice_.method = whole_partitions();
      because("all edges are needed in every iteration: whole partitions are transferred, compressed");
    }
    if (!choice_.compressed && free_ && request_.form == RowForm::any) choose_supply();
  }

  /// It pays where rows are compressed already, where this run makes good for it, or where the runs before it
  /// together would have.
  bool worth_compressing() {
    if (options_.supply.compress == Compress::on) return true;
    if (options_.supply.compress == Compress::off || request_.form != RowForm::any || !device_.may_compress)
      return false;
    if (device_.has_compressed) return true;
    const double passes = device_.passes_so_far + request_.passes;  // who comes again will come again
    const double needed = passes_to_pay(choice_.rates);
    because(
        fmt::format("coding edges pays after some {:.0f} passes over all of them; this run, and those before it, "
                    "have about {:.1f}",
                    needed, passes));
    choice_.may_compress_later = passes <= needed;
    return !choice_.may_compress_later;
  }

  void choose_supply() {
    // Values are improved until they are right, and paths are short: once or twice most edges are active.
    const bool dense = request_.improving && !has_long_paths(request_.vertices, request_.arcs);
    if (request_.voting)
      return because("one edge decides for a vertex: cached row prefixes answer nearly all requests");
    if (!request_.all_active && options_.direction == Direction::pull)
      return because("--direction pull: transferred edges would be pushed");
    if (request_.prioritised)
      return because("bucketed programs have many small iterations, for which reading in place is fastest");
    if (!request_.all_active && !dense && keeps_many())
      return because("cached row prefixes spare most requests; the rest is read in place");
    if (!room_for_windows()) return because("not enough GPU memory for transfer buffers");
    choice_.method = method_in_windows();
    if (dense) because("most edges are active once or twice, which amortizes transferring them");
    because(request_.all_active
                ? "all edges are needed in every iteration: whole partitions are transferred"
                : "the transfer strategy with the least predicted time is chosen per iteration and partition");
  }

  Method method_in_windows() const { return request_.all_active ? whole_partitions() : least_predicted(); }

  /// Below this windows would be too small to keep the bus busy.
  bool room_for_windows() const {
    constexpr std::uint64_t least = 12u << 20;
    return device_.room >= request_.state_in_windows + places_of(request_, method_in_windows()) + least;
  }

  /// Kept, prefixes of all rows spare the bus most requests, and what is left is read nearly as fast as it
  /// could be sent; but then it cannot be sent without them. With few of them, sending more than makes up for
  /// that.
  bool keeps_many() const {
    constexpr std::uint64_t enough = 16;  // one edge of so many (measured: docs/experiments.md)
    const std::uint64_t     beside = request_.state + places_of(request_, edges_in_place());
    return resident_bytes(device_.room, beside, options_.supply.resident) >= request_.edge_bytes() / enough;
  }

  const PlacementRequest& request_;
  const PlacementDevice&  device_;
  const RunOptions&       options_;
  bool                    free_;
  Placement               choice_;
};

}  // namespace

Placement chosen_placement(const PlacementRequest& request, const PlacementDevice& device) {
  return Chooser{request, device}.chosen();
}

Plan planned_placement(const PlacementRequest& request, const PlacementDevice& device) {
  Placement choice = chosen_placement(request, device);
  Plan      plan;
  plan.device      = device.name;
  plan.method      = choice.method->name;
  plan.compressed  = choice.compressed;
  plan.weighted    = request.weighted;
  plan.room        = device.room;
  plan.state_bytes = choice.method->transfers ? request.state_in_windows : request.state;
  plan.edge_bytes  = request.edge_bytes();
  plan.vertices    = request.vertices;
  plan.arcs        = request.arcs;
  if (!choice.method->all_resident) plan.rates = choice.rates;
  plan.why = std::move(choice.why);
  if (request.form == RowForm::whole && !choice.method->all_resident) return plan;  // nothing is kept
  const std::uint64_t taken =
      plan.state_bytes + (choice.method->all_resident ? 0 : places_of(request, choice.method));
  plan.resident_bytes =
      std::min(plan.edge_bytes, resident_bytes(plan.room, taken, request.options.supply.resident));
  return plan;
}

}  // namespace spillway
