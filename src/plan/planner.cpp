#include "plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "supply/residency.hpp"

namespace spillway {
namespace {

/// A search or an improvement over more levels than this is a long one: each has few active vertices.
constexpr double most_levels_of_short_paths = 32;

/// Windows of less would not keep the bus busy.
constexpr std::uint64_t least_windows = 12u << 20;
constexpr double        slot_bytes    = 4u << 20;

constexpr double never = 1e30;

/// What says where rows are, about: their offsets, and where they are cut if they are read in place.
std::uint64_t places_of(const RunFacts& run, const PlanCandidate& candidate) {
  const unsigned arrays = candidate.compressed ? 3 : candidate.method->reads_in_place ? 3 : 2;
  return arrays * run.vertices * sizeof(EdgeIndex);
}

/// Why a candidate cannot be, whatever it would cost; empty: it can.
class Conditions {
 public:
  Conditions(const RunFacts& run, const GpuFacts& device) : run_(run), device_(device) {}

  std::string excluded(const PlanCandidate& candidate) const {
    const Method         method = candidate.method;
    const SupplyOptions& supply = run_.options.supply;
    if (!run_.options.method.automatic() && method != run_.options.method) return asked_for();
    const bool asks_for_code = supply.compress == Compress::on;
    if (!method->all_resident && run_.form != RowForm::any &&
        (method->transfers || (candidate.compressed && !asks_for_code)))
      return "the algorithm looks rows up: they are read in place, uncompressed";
    if (candidate.compressed && supply.compress == Compress::off) return "--compress off";
    if (!candidate.compressed && asks_for_code && !method->all_resident) return "--compress on";
    if (candidate.compressed && !asks_for_code && !device_.may_compress && !device_.has_compressed)
      return "there was not enough memory to compress in";
    if (method->transfers && !run_.all_active && run_.options.direction == Direction::pull &&
        run_.options.method.automatic())
      return "--direction pull: transferred edges would be pushed";
    if (method->gathers && run_.all_active && run_.options.method.automatic())
      return "all edges are active in every iteration: whole partitions are the same without choosing";
    if (candidate.asynchronous && !run_.supports_async)
      return "the program does not support asynchronous execution";
    if (method->transfers && candidate.compressed && !run_.all_active && run_.options.method.automatic())
      return "compressed partitions are for programs with all vertices active";
    if (!run_.options.method.automatic())
      return "";  // whoever asks for a method is told what it lacks when it runs
    return lacks_memory(candidate);
  }

  std::uint64_t beside(const PlanCandidate& candidate) const {
    if (candidate.method->all_resident) return run_.state;
    return (candidate.method->transfers ? run_.state_in_windows : run_.state) + places_of(run_, candidate);
  }

 private:
  std::string asked_for() const { return fmt::format("--method {}", run_.options.method->name); }

  std::string lacks_memory(const PlanCandidate& candidate) const {
    if (candidate.method->all_resident)
      return device_.holds_all ? "" : needs(run_.state + run_.edge_bytes() + run_.vertices * sizeof(EdgeIndex));
    const std::uint64_t least = beside(candidate) + (candidate.method->transfers ? least_windows : 0);
    if (candidate.method->transfers && device_.room < least) return needs(least);
    if (candidate.compressed && !device_.has_compressed && run_.options.supply.compress != Compress::on &&
        device_.host_room < run_.edge_bytes() / 4)
      return fmt::format("compressing needs at least {} of host memory, and there are {}",
                         human_bytes(run_.edge_bytes() / 4), human_bytes(device_.host_room));
    return "";
  }

  std::string needs(std::uint64_t bytes) const {
    return fmt::format("needs {} of GPU memory, and there are {}", human_bytes(bytes), human_bytes(device_.room));
  }

  const RunFacts& run_;
  const GpuFacts& device_;
};

/// What candidates cost.
class Pricing {
 public:
  Pricing(const RunFacts& run, const Rates& rates, const GraphSample& sample)
      : run_(run),
        rates_(rates),
        sample_(sample),
        costs_(rates, run.weighted),
        activity_(expected_activity(run, sample)),
        code_bytes_(sample.code_bytes + (run.weighted ? sample.weight_bytes : 0)) {}

  void price(PlanCandidate& candidate, const GpuFacts& device, std::uint64_t beside) const {
    const bool          keeps = run_.form != RowForm::whole;  // prefixes would cut rows
    const std::uint64_t resident =
        candidate.method->all_resident ? run_.edge_bytes()
        : keeps ? resident_bytes(device.room, beside + (candidate.method->transfers ? least_windows : 0),
                                 run_.options.supply.resident)
                : 0;
    const double all         = bytes_of_all(candidate);
    const double kept        = all == 0 ? 1 : std::min(1.0, static_cast<double>(resident) / all);
    candidate.device_bytes   = beside + static_cast<std::uint64_t>(kept * all);
    candidate.resident_bytes = static_cast<std::uint64_t>(kept * all);
    candidate.prepare_ms     = 1e3 * preparing(candidate, device, kept * all);
    Cost cost;
    for (const Activity& each : activity_) {
      const Cost one = iteration(candidate, each, kept);
      cost.transfer += each.iterations * one.transfer;
      cost.compute += each.iterations * one.compute;
      cost.bytes += each.iterations * one.bytes;
      cost.total += each.iterations * one.total;
    }
    if (candidate.asynchronous) cost = asynchronously(kept);
    candidate.transfer_ms = 1e3 * cost.transfer;
    candidate.compute_ms  = 1e3 * cost.compute;
    candidate.run_ms      = 1e3 * cost.total;
    candidate.bus_bytes   = static_cast<std::uint64_t>(cost.bytes);
    const double runs     = std::max(1u, run_.options.runs);
    const double paid     = candidate.compressed ? std::min(candidate.prepare_ms, 1e3 * device.forgone) : 0;
    candidate.total_ms    = candidate.prepare_ms - paid + runs * candidate.run_ms;
  }

  double seconds(const PlanCandidate& candidate, const Activity& active, double kept) const {
    return iteration(candidate, active, kept).total;
  }

 private:
  /// Of an iteration: seconds on the bus and of computing, which overlap or not, and bytes over the bus.
  struct Cost {
    double transfer = 0, compute = 0, total = 0, bytes = 0;
  };

  double bytes_of_all(const PlanCandidate& candidate) const {
    return static_cast<double>(run_.arcs) *
           (candidate.compressed ? code_bytes_ : static_cast<double>(edge_bytes(run_.weighted)));
  }

  double preparing(const PlanCandidate& candidate, const GpuFacts& device, double resident) const {
    const double all = static_cast<double>(run_.edge_bytes());
    if (candidate.method->all_resident) return all / rates_.uploaded;
    const double kept = resident / rates_.sent + (candidate.method->transfers ? rates_.windows : 0);
    if (candidate.compressed && device.has_compressed) return kept;
    const double pinning = device.has_pinned ? 0 : all / (device.copies() ? rates_.copied : rates_.pinned);
    const double coding  = static_cast<double>(run_.arcs) / rates_.coded_edges +
                          static_cast<double>(run_.vertices) / rates_.coded_rows;
    return pinning + kept + (candidate.compressed ? coding : 0);
  }

  double arcs(double share) const { return share * static_cast<double>(run_.arcs); }
  /// Rows of a share of the edges of which some are not on the device, if the first of all rows are.
  double rows(double share, double kept) const {
    return share * static_cast<double>(run_.vertices) *
           std::min(sample_.nonempty, sample_.longer_than(sample_.prefix_length(kept)));
  }

  Cost iteration(const PlanCandidate& candidate, const Activity& active, double kept) const {
    const Method method  = candidate.method;
    const double compute = arcs(active.edges) / rates_.visited;
    if (method->all_resident) {
      const double visiting = arcs(looked_at(active)) / rates_.visited + rates_.barrier;
      return {.compute = visiting, .total = visiting};
    }
    if (!method->transfers) return in_place(candidate.compressed, active, kept, /*prefixes=*/true);
    if (candidate.compressed) {
      const double bytes = bytes_of_all(candidate) * (1 - kept), bus = bytes / rates_.sent;
      const double decode = arcs(active.edges) / rates_.decoded + compute;  // and visited, part by part
      return {bus, decode, rates_.step + std::max(bus, decode), bytes};
    }
    const Cost whole = {whole_parts(active, kept) / rates_.sent, compute,
                        rates_.step + std::max(whole_parts(active, kept) / rates_.sent, compute),
                        whole_parts(active, kept)};
    if (!method->gathers && !method->reads_in_place) return whole;
    Cost       best     = whole;
    const auto consider = [&](const Cost& other) {
      if (other.total < best.total) best = other;
    };
    if (!run_.all_active) {
      const double edges = arcs(active.edges) * (1 - kept), chunks = rows(active.rows, 0) * (1 - kept);
      const double bus = costs_.gathered(edges, chunks);
      consider({bus, compute, rates_.step + std::max(bus, compute),
                edges * static_cast<double>(edge_bytes(run_.weighted))});
    }
    if (method->reads_in_place) consider(in_place(false, active, kept, /*prefixes=*/false));
    return best;
  }

  /// Edges that kernels look at, if they choose to push or to pull.
  static double looked_at(const Activity& active) {
    return active.looked_at < 0 ? active.edges : active.looked_at;
  }

  /// Windows keep the first parts, and not the first edges of every row.
  Cost in_place(bool compressed, const Activity& active, double kept, bool prefixes) const {
    if (run_.voting && sample_.levels <= most_levels_of_short_paths)
      return votes(compressed, active, kept, prefixes);
    const double seen = looked_at(active);
    const double lie =
        active.edges > 0 ? std::min(1.0, active.rows * std::max(1.0, seen / active.edges)) : active.rows;
    const double edges = arcs(seen) * (1 - kept);
    // Rows that are all active lie one behind the other, and their lines are read once; what is left of them
    // beside cached prefixes lies apart, unless the lines hold all of them anyway.
    const double begun   = (1 - active.edges) * rows(lie, 0);
    const double chunks  = prefixes ? (kept > 0 ? rows(lie, kept) : begun) : begun * (1 - kept);
    const double waiting = rates_.barrier + (kept < 1 ? rates_.latency : 0);
    const double bytes   = compressed ? code_bytes_ : static_cast<double>(edge_bytes(run_.weighted));
    const auto   read    = [&](double read_edges, double pieces) {
      return compressed ? read_edges * bytes / rates_.read + pieces / rates_.read_chunks
                             : costs_.read(read_edges, pieces);
    };
    const double beside = read(edges, chunks), with_prefixes = read(arcs(seen), begun);
    const double bus   = std::min(beside, with_prefixes);
    const double moved = bytes * (beside <= with_prefixes ? edges : arcs(seen));
    if (!compressed) {
      const double compute = arcs(seen) / rates_.visited;
      return {bus, compute, std::max(bus, compute) + waiting, moved};
    }
    const double decode = arcs(seen) / rates_.decoded;
    return {bus, decode, bus + decode + waiting, moved};
  }

  /// Whoever looks for one vote finds it among the first edges of a row, mostly: a read for every vertex that
  /// looks. Over a whole search nearly everyone does once; the more edges are active, the more do now.
  Cost votes(bool compressed, const Activity& active, double kept, bool prefixes) const {
    constexpr double few  = 8;  // edges that hold the vote, nearly always
    constexpr double rest = 0.05, sector = 32;
    const double     looking = rows(active.edges, 0);
    const double     found   = std::min(1.0, sample_.prefix_length(kept) / few);
    const double     reads   = looking * (prefixes ? std::max(rest, 1 - found) : 1 - kept);
    const double     bus     = kept < 1 ? reads / rates_.read_chunks : 0;
    const double     compute = looking * few / (compressed ? rates_.decoded : rates_.visited);
    const double     waiting = rates_.barrier + (kept < 1 ? rates_.latency : 0);
    return {bus, compute, (compressed ? bus + compute : std::max(bus, compute)) + waiting, reads * sector};
  }

  /// Parts of the graph in which somebody is active.
  double whole_parts(const Activity& active, double kept) const {
    const double bytes = static_cast<double>(run_.edge_bytes()) * (1 - kept);
    const double parts = std::max(1.0, bytes / slot_bytes);
    const double rows  = active.rows * static_cast<double>(run_.vertices) * sample_.nonempty;
    return run_.all_active ? bytes : bytes * (1 - std::pow(1 - 1 / parts, std::max(1.0, rows)));
  }

  /// What is active is gathered, and run to a local fixed point: few transfers, and a round for every level.
  Cost asynchronously(double kept) const {
    constexpr double transfers = 8, again = 2, barriers_of_a_round = 3;
    double           shares = 0;
    for (const Activity& each : activity_) shares += each.iterations * each.edges;
    const double edges = again * arcs(shares) * (1 - kept);
    const double bus   = costs_.gathered(edges, again * rows(shares, 0) * (1 - kept)) + transfers * rates_.step;
    const double compute =
        again * arcs(shares) / rates_.visited + sample_.levels * barriers_of_a_round * rates_.barrier;
    return {bus, compute, bus + compute, edges * static_cast<double>(edge_bytes(run_.weighted))};
  }

  const RunFacts&       run_;
  const Rates&          rates_;
  const GraphSample&    sample_;
  TransferCosts         costs_;
  std::vector<Activity> activity_;
  double                code_bytes_;
};

/// Methods that this GPU may use, each with and without compression and asynchrony where it has them.
std::vector<PlanCandidate> all_candidates(const RunFacts& run, const std::string& device) {
  std::vector<PlanCandidate> all;
  const bool                 free = run.options.method.automatic();
  for (const Method method : methods()) {
    if (method->requires_cpu || (free && !method->chosen_by_auto)) continue;
    const Async async = run.options.supply.async;
    const auto  add   = [&](bool compressed, bool asynchronous) {
      all.push_back({.device = device, .method = method, .compressed = compressed, .asynchronous = asynchronous});
    };
    if (method->all_resident) {
      add(false, false);
      continue;
    }
    RunOptions asked = run.options;
    asked.method     = method;
    if (!free) {  // as it will run
      add(run.options.supply.compress == Compress::on,
          run.supports_async && goes_asynchronously(asked, run.vertices, run.arcs));
      if (!method->transfers && method->compresses && run.options.supply.compress == Compress::automatic)
        add(true, false);
      continue;
    }
    add(false, false);
    if (method->compresses) add(true, false);
    if (method->asynchronous && method->gathers && run.supports_async && async != Async::off) add(false, true);
  }
  return all;
}

std::string described(const PlanCandidate& candidate) {
  return fmt::format("{}{}{}", candidate.method->name, candidate.compressed ? ", compressed" : "",
                     candidate.asynchronous ? ", asynchronous" : "");
}

/// How a run's place was found.
std::vector<std::string> reasons(const Placement& placement, const RunFacts& run, const GpuFacts& device) {
  std::vector<std::string> why;
  if (!run.options.method.automatic()) return why;
  if (device.holds_all) return {"all edges fit on the GPU with the vertex state"};
  why.emplace_back("not enough GPU memory for all edges and the vertex state");
  const auto& all  = placement.candidates;
  const auto  left = std::ranges::count_if(all, [](const PlanCandidate& each) { return each.excluded.empty(); });
  if (!placement.knows_rates || left < 2) return why;
  why.push_back(
      fmt::format("of {} candidates, {} has the least predicted time: {:.3g} ms to prepare, {:.3g} ms to run",
                  left, described(all[0]), all[0].prepare_ms, all[0].run_ms));
  if (!run.history.empty()) why.emplace_back("active vertices are expected as in the last run over this graph");
  why.push_back(fmt::format("next: {}, {:.3g} ms to prepare, {:.3g} ms to run", described(all[1]),
                            all[1].prepare_ms, all[1].run_ms));
  return why;
}

}  // namespace

namespace {

/// Of an earlier run: as many iterations as this one may make, and rows as a share of those that have edges.
std::vector<Activity> adapted(std::vector<Activity> activity, std::uint64_t max_iterations,
                              const GraphSample& sample) {
  double all = 0;
  for (const Activity& each : activity) all += each.iterations;
  const double most = static_cast<double>(max_iterations);
  for (Activity& each : activity) {
    each.rows = std::min(1.0, each.rows / std::max(sample.nonempty, 1e-6));
    if (all > most) each.iterations *= most / all;
  }
  return activity;
}

}  // namespace

std::vector<Activity> expected_activity(const RunFacts& run, const GraphSample& sample) {
  constexpr double until_converged = 30, hardly_any = 1e-6;
  if (!run.history.empty()) return adapted(run.history, run.max_iterations, sample);
  if (run.all_active) return {{std::min(static_cast<double>(run.max_iterations), until_converged), 1}};
  // Fitted to run times of bfs, sssp and sswp on kron24 (docs/planning.md).
  const double passes = run.voting ? 1 : 1.6, rounds_a_level = run.prioritised ? 6 : 1;
  const double levels = std::max(1.0, sample.levels);
  if (levels > most_levels_of_short_paths) return {{levels, passes / levels}};
  std::vector<Activity> active;
  if (run.voting)
    active = {{1, 0.6}, {1, 0.3}, {1, 0.08}, {1, 0.02}};
  else if (run.prioritised)
    active = {{3, 0.28}, {2, 0.18}, {3, 0.1}};
  else
    active = {{1, 0.9}, {1, 0.5}, {1, 0.2}, {1, 0.05}};
  active.push_back({levels * rounds_a_level, hardly_any});
  return active;
}

Placement chosen_placement(const RunFacts& run, const GpuFacts& device, bool all) {
  Placement        placement;
  const Conditions conditions{run, device};
  placement.candidates = all_candidates(run, device.name);
  for (PlanCandidate& each : placement.candidates) each.excluded = conditions.excluded(each);
  const auto possible = [](const PlanCandidate& each) { return each.excluded.empty(); };
  std::stable_partition(placement.candidates.begin(), placement.candidates.end(), possible);
  const auto left = std::ranges::count_if(placement.candidates, possible);
  // Edges that fit are put there: what else could be done is not measured for it.
  const bool settled = (run.options.method.automatic() && device.holds_all) || left < 2;
  const bool needs_rates =
      left > 0 && !placement.best().method->all_resident && placement.best().method->transfers;
  if (settled && !all && !needs_rates) {
    placement.why = reasons(placement, run, device);
    return placement;
  }
  placement.rates       = run.options.supply.rates ? *run.options.supply.rates : device.rates();
  placement.knows_rates = true;
  if (left > 0 && !(settled && !all)) {
    const GraphSample sample = device.sample();
    const Pricing     pricing{run, placement.rates, sample};
    placement.priced = true;
    for (PlanCandidate& each : placement.candidates)
      if (possible(each)) pricing.price(each, device, conditions.beside(each));
    // Of equals, the one that has more strategies to choose from while it runs.
    const auto cost = [&](const PlanCandidate& each) {
      const bool   first      = run.options.method.automatic() && device.holds_all && each.method->all_resident;
      const double total      = !possible(each) ? never : first ? 0 : each.total_ms;
      const int    strategies = int{each.method->gathers} + int{each.method->reads_in_place};
      return std::pair{total, each.method->transfers ? -strategies : -2};
    };
    std::ranges::stable_sort(placement.candidates, {}, cost);
  }
  const PlanCandidate& best = placement.best();
  if (!best.compressed && !best.method->all_resident)
    for (const PlanCandidate& each : placement.candidates)
      if (possible(each) && each.compressed)
        placement.forgone = std::max(placement.forgone, (best.run_ms - each.run_ms) / 1e3);
  placement.why = reasons(placement, run, device);
  return placement;
}

double predicted_seconds(const RunFacts& run, const Rates& rates, const GraphSample& sample,
                         const PlanCandidate& candidate, const Activity& active, double resident) {
  return Pricing{run, rates, sample}.seconds(candidate, active, resident);
}

Plan planned_placement(const RunFacts& run, const GpuFacts& device) {
  Placement            choice = chosen_placement(run, device, /*all=*/true);
  const PlanCandidate& best   = choice.best();
  Plan                 plan;
  plan.device      = device.name;
  plan.method      = best.method->name;
  plan.compressed  = best.compressed;
  plan.weighted    = run.weighted;
  plan.room        = device.room;
  plan.state_bytes = best.method->transfers ? run.state_in_windows : run.state;
  plan.edge_bytes  = run.edge_bytes();
  plan.vertices    = run.vertices;
  plan.arcs        = run.arcs;
  if (!best.method->all_resident) plan.rates = choice.rates;
  plan.resident_bytes = run.form == RowForm::whole && !best.method->all_resident
                            ? 0
                            : std::min(plan.edge_bytes, best.resident_bytes);
  plan.knows_activity = !run.history.empty();
  plan.why            = std::move(choice.why);
  plan.candidates     = std::move(choice.candidates);
  return plan;
}

}  // namespace spillway
