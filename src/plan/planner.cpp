#include "plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "plan/balance_pricing.hpp"
#include "plan/pricing.hpp"

namespace spillway {
namespace {

/// Of a vertex, at least.
constexpr std::uint64_t message_bytes = 4;

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
    if (candidate.on_cpu()) return excluded_cpu();
    if (!run_.options.method.automatic() && method != run_.options.method) return asked_for();
    if (candidate.order == VertexOrder::degree && run_.options.cuda.order == VertexOrder::automatic) {
      // The last bits are not to depend on whether there is room for another order today.
      if (run_.options.deterministic) return "--deterministic";
      if (run_.vertices * message_bytes < device_.cache / 2) return "the GPU's cache holds what all vertices send";
      if (!device_.may_reorder) return "no order of the vertices pays, or there was no room for a second copy";
      const std::uint64_t twice = run_.state + 2 * all_edges();
      if (!device_.has_order && device_.room < twice) return needs(twice);
    }
    const BalanceTuning& asked = run_.options.balance;
    if (run_.options.deterministic && asked.kind == Balance::automatic && candidate.balance.kind == Balance::split)
      return "--deterministic";
    if (method->transfers && (asked.split.array || !asked.split.worklist))
      return asked.split.array ? "--split-mapping array" : "--worklist off";
    const bool asks_for_code = supply.compress == Compress::on;
    if (!method->all_resident && run_.form != RowForm::any &&
        (method->transfers || (candidate.compressed && !asks_for_code)))
      return "the algorithm looks rows up: they are read in place, uncompressed";
    if (candidate.compressed && supply.compress == Compress::off) return "--compress off";
    if (candidate.compressed && !run_.options.balance.by_bins()) return "compressed rows are dealt out in bins";
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
  std::string excluded_cpu() const {
    if (!run_.may_use_cpu) return "an option of GPUs was given, or values stay on the GPU";
    const std::uint64_t about = 2 * run_.state;
    if (device_.host_room >= about) return "";
    return fmt::format("needs about {} of host memory, and there are {}", human_bytes(about),
                       human_bytes(device_.host_room));
  }

  std::uint64_t all_edges() const {
    return static_cast<std::uint64_t>(static_cast<double>(run_.edge_bytes()) * run_.sides) +
           run_.vertices * sizeof(EdgeIndex);
  }

  std::string asked_for() const { return fmt::format("--method {}", run_.options.method->name); }

  std::string lacks_memory(const PlanCandidate& candidate) const {
    if (candidate.method->all_resident)
      return device_.holds_all ? "" : needs(run_.state + run_.edge_bytes() + run_.vertices * sizeof(EdgeIndex));
    if (run_.work && device_.room < run_.state_in_windows) return needs(run_.state_in_windows);
    const std::uint64_t least = beside(candidate) + (candidate.method->transfers ? least_windows : 0);
    if (candidate.method->transfers && device_.room < least) return needs(least);
    if (candidate.compressed && !device_.has_compressed && run_.options.supply.compress != Compress::on &&
        device_.host_room < run_.edge_bytes() / 4)
      return fmt::format("compressing needs at least {} of host memory, and there are {}",
                         human_bytes(run_.edge_bytes() / 4), human_bytes(device_.host_room));
    return "";
  }

  std::string needs(std::uint64_t bytes) const {
    return fmt::format("needs {} of GPU memory, and there are {}{}", human_bytes(bytes), human_bytes(device_.room),
                       run_.options.device.memory > 0 ? " by --device-memory" : "");
  }

  const RunFacts& run_;
  const GpuFacts& device_;
};

/// Methods that this GPU may use, each with and without compression and asynchrony where it has them; where
/// balances are to be compared, with each of them.
std::vector<PlanCandidate> all_candidates(const RunFacts& run, const std::string& device, bool with_balances) {
  std::vector<PlanCandidate> all;
  const bool                 free = run.options.method.automatic();
  for (const Method method : methods()) {
    if (method->requires_cpu || method->streams_pages || (free && !method->chosen_by_auto)) continue;
    const Async async = run.options.supply.async;
    const auto  add   = [&](bool compressed, bool asynchronous) {
      all.push_back({.device = device, .method = method, .compressed = compressed, .asynchronous = asynchronous});
    };
    if (method->all_resident) {
      const VertexOrder    order = run.may_reorder ? run.options.cuda.order : VertexOrder::natural;
      const BalanceTuning& asked = run.options.balance;
      const bool           open  = with_balances && asked.kind == Balance::automatic && !run.work;
      for (const BalanceTuning& balance : open ? compared_balances() : std::span{&asked, 1}) {
        if (order != VertexOrder::degree) add(false, false), all.back().balance = balance;
        if (order != VertexOrder::natural) {
          add(false, false);
          all.back().order = VertexOrder::degree, all.back().balance = balance;
        }
      }
      continue;
    }
    const Compress compress  = run.options.supply.compress;
    const bool     may_go_on = method->asynchronous && run.supports_async && async != Async::off;
    if (!free) {  // what was asked for, and what was left open
      const bool coded = compress == Compress::on;
      if (async != Async::on || !may_go_on || coded) add(coded, false);
      if (!method->transfers && method->compresses && compress == Compress::automatic) add(true, false);
      if (may_go_on && !coded) add(false, true);
      continue;
    }
    add(false, false);
    if (method->compresses) add(true, false);
    if (may_go_on && method->gathers) add(false, true);
  }
  if (free) all.push_back({.device = "cpu", .method = resident_edges()});
  return all;
}

std::string described(const PlanCandidate& candidate) {
  if (candidate.on_cpu()) return "the CPU";
  return fmt::format("{}{}{}{}{}", candidate.method->name, candidate.compressed ? ", compressed" : "",
                     candidate.asynchronous ? ", asynchronous" : "",
                     candidate.order == VertexOrder::degree ? ", hubs first" : "",
                     candidate.balance.by_bins() ? "" : ", " + name_of(candidate.balance));
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
  if (run.work) return run.work->on_gpu(sample);
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

std::vector<Activity> expected_on_cpu(const RunFacts& run, const GraphSample& sample) {
  return run.work && run.work->on_cpu ? run.work->on_cpu(sample) : expected_activity(run, sample);
}

namespace {

bool is_possible(const PlanCandidate& candidate) { return candidate.excluded.empty(); }

/// Edges that fit are put on the GPU: what else could be done with them is not measured for it.
class Choice {
 public:
  Choice(const RunFacts& run, const GpuFacts& device, bool all)
      : run_(run),
        device_(device),
        conditions_(run, device),
        fits_(run.options.method.automatic() ? device.holds_all : run.options.method->all_resident),
        all_(all) {}

  Placement made() && {
    found_.candidates = all_candidates(run_, device_.name, fits_ && all_);
    for (PlanCandidate& each : found_.candidates) each.excluded = conditions_.excluded(each);
    std::stable_partition(found_.candidates.begin(), found_.candidates.end(), is_possible);
    const auto left = std::ranges::count_if(found_.candidates, is_possible);
    find_rates(left);
    if (left > 0 && (all_ || has_a_choice(left))) price();
    note_forgone();
    found_.why = reasons(found_, run_, device_);
    return std::move(found_);
  }

 private:
  bool has_a_choice(std::ptrdiff_t left) const {
    if (!fits_) return left > 1;
    return std::ranges::any_of(found_.candidates, [](const PlanCandidate& each) {
      return is_possible(each) && each.order == VertexOrder::degree;
    });
  }

  void find_rates(std::ptrdiff_t left) {
    const bool windows = left > 0 && !fits_ && found_.best().method->transfers;
    const bool asks    = all_ || windows || has_a_choice(left);
    if (!asks) return;
    const auto& given  = run_.options.supply.rates;
    found_.rates       = given ? *given : fits_ && !all_ ? device_.known_rates() : device_.rates();
    found_.knows_rates = true;
  }

  void price() {
    const GraphSample sample = device_.sample();
    const Pricing     pricing{run_, found_.rates, sample};
    found_.priced = true;
    for (PlanCandidate& each : found_.candidates)
      if (is_possible(each)) pricing.price(each, device_, conditions_.beside(each));
    // Of equals, the one that has more strategies to choose from while it runs.
    const auto rank = [&](const PlanCandidate& each) {
      const bool first      = fits_ && each.method->all_resident && !each.on_cpu();
      const int  strategies = int{each.method->gathers} + int{each.method->reads_in_place};
      return std::tuple{!is_possible(each), !first, each.total_ms, each.method->transfers ? -strategies : -2};
    };
    std::ranges::stable_sort(found_.candidates, {}, rank);
  }

  /// What this run would take less, had it been prepared for in another way.
  void note_forgone() {
    if (!found_.priced) return;
    const PlanCandidate& best   = found_.best();
    const auto           spared = [&](auto&& is_such) {
      double most = 0;
      for (const PlanCandidate& each : found_.candidates)
        if (is_possible(each) && is_such(each)) most = std::max(most, (best.run_ms - each.run_ms) / 1e3);
      return most;
    };
    const auto compressed = [](const PlanCandidate& each) { return each.compressed; };
    const auto ordered    = [](const PlanCandidate& each) { return each.order == VertexOrder::degree; };
    if (best.on_cpu())
      found_.forgone.on_gpu = spared([](const PlanCandidate& each) { return !each.on_cpu(); });
    else if (best.method->all_resident)
      found_.forgone.ordered = ordered(best) ? 0 : spared(ordered);
    else if (!best.compressed)
      found_.forgone.compressed = spared(compressed);
  }

  const RunFacts&  run_;
  const GpuFacts&  device_;
  const Conditions conditions_;
  const bool       fits_, all_;
  Placement        found_;
};

}  // namespace

Placement chosen_placement(const RunFacts& run, const GpuFacts& device, bool all) {
  return Choice{run, device, all}.made();
}

PredictedIteration predicted_iteration(const RunFacts& run, const Rates& rates, const GraphSample& sample,
                                       const PlanCandidate& candidate, const Activity& active, double resident) {
  return Pricing{run, rates, sample}.iteration(candidate, active, resident);
}

Plan planned_placement(const RunFacts& run, const GpuFacts& device) {
  Placement            choice = chosen_placement(run, device, /*all=*/true);
  const PlanCandidate& best   = choice.best();
  Plan                 plan;
  plan.device      = best.device;
  plan.method      = best.method->name;
  plan.compressed  = best.compressed;
  plan.weighted    = run.weighted;
  plan.room        = best.on_cpu() ? 0 : device.room;
  plan.state_bytes = best.on_cpu() ? 0 : best.method->transfers ? run.state_in_windows : run.state;
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
