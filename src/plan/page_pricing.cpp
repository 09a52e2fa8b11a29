#include "plan/page_pricing.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {
namespace {

// Bytes a second, for both devices: between the 1.6 and the 3.3 GB/s of the two disks in docs/performance.md.
constexpr double disk_rate = 2.5e9;
// Edges a second, by all threads: 10.4 ns of CPU time each ("Larger than memory" there) on 16 cores.
constexpr double decoded_on_cpu = 16 / 10.4e-9;

/// Of the pages, those with a row of so large a share of the edges: a page has many rows. Where a fiftieth of the
/// edges is active, a search over kron27 touches half of the pages (docs/performance.md), and programs whose
/// active vertices lie anywhere more.
double touched(double active) { return std::min(1.0, 64 * active); }

struct Seconds {
  double disk = 0, bus = 0, visits = 0;

  /// They overlap.
  double all() const { return std::max({disk, bus, visits}); }
};

class PagePricing {
 public:
  PagePricing(const RunFacts& run, const Rates& rates, const PagedFacts& pages)
      : rates_(rates), pages_(pages), runs_(run.options.runs) {
    GraphSample sample;
    if (has_long_paths(run.vertices, run.arcs)) sample.levels = std::sqrt(static_cast<double>(run.vertices));
    activity_ = expected_activity(run, sample);
    arcs_     = static_cast<double>(run.arcs);
  }

  void price(PlanCandidate& candidate) const {
    const bool cpu  = candidate.on_cpu();
    double     seen = 0, run = 0, moved = 0;
    double     prepared = 0;
    if (!cpu && pages_.in_place && pages_.is_kept) seen = 1;
    if (!cpu && pages_.in_place && !pages_.is_kept) {  // all are read, decoded once and pinned
      seen = 1;
      prepared += std::max(pages_.bytes / disk_rate, arcs_ / decoded_on_cpu) + pages_.bytes / rates_.pinned;
    }
    for (const Activity& each : activity_) {
      double left = each.iterations;
      if (touched(each.edges) > seen) {  // pages come from disk for the first time
        run += iteration(cpu, each.edges, touched(each.edges) - seen, moved).all();
        seen = touched(each.edges);
        left -= 1;
      }
      run += std::max(0.0, left) * iteration(cpu, each.edges, 0, moved).all();
    }
    candidate.prepare_ms  = 1e3 * prepared;
    candidate.run_ms      = 1e3 * run;
    candidate.total_ms    = candidate.prepare_ms + std::max(1u, runs_) * candidate.run_ms;
    candidate.transfer_ms = 1e3 * moved / rates_.sent;
    candidate.bus_bytes   = static_cast<std::uint64_t>(moved);
  }

 private:
  /// Pages that come for the first time, and those that no memory keeps, in every pass.
  double disk_seconds(bool cpu, double share, double fresh) const {
    const PagedWay& way   = cpu ? pages_.cpu : pages_.gpu;
    const double    kept  = way.host_kept + (cpu ? 0 : pages_.device_kept);
    const double    again = std::max(0.0, way.passes * share - fresh);
    return (fresh * pages_.bytes + again * std::max(0.0, pages_.bytes - kept)) / disk_rate;
  }

  Seconds iteration(bool cpu, double active, double fresh, double& moved) const {
    const double share = touched(active), edges = active * arcs_;
    if (cpu) {
      const double state = pages_.cpu.passes * pages_.cpu.state_each / disk_rate;
      const double visit = edges * (1 / rates_.host_visited_far + pages_.cpu.passes / decoded_on_cpu);
      return {.disk = disk_seconds(cpu, share, fresh) + state, .bus = 0, .visits = visit + rates_.host_iteration};
    }
    Seconds seconds;
    if (!pages_.in_place) seconds.disk = disk_seconds(cpu, share, fresh);
    const double sent =
        pages_.in_place ? active * pages_.bytes : share * std::max(0.0, pages_.bytes - pages_.device_kept);
    const double passes = pages_.in_place ? 1 : pages_.gpu.passes;
    moved += passes * sent;
    const double state = pages_.in_place ? 0 : pages_.gpu.state_each / rates_.read;
    seconds.bus        = passes * (sent / (pages_.in_place ? rates_.read : rates_.sent) + state) + rates_.latency;
    seconds.visits =
        passes * (edges / rates_.decoded + edges / rates_.visited_far + (pages_.in_place ? 0 : rates_.step));
    return seconds;
  }

  const Rates&          rates_;
  const PagedFacts&     pages_;
  unsigned              runs_;
  std::vector<Activity> activity_;
  double                arcs_ = 0;
};

}  // namespace

std::vector<PlanCandidate> priced_pages(const RunFacts& run, const Rates& rates, const PagedFacts& pages,
                                        const std::string& gpu) {
  std::vector<PlanCandidate> all{{.device = gpu, .method = pages_from_disk()},
                                 {.device = "cpu", .method = pages_from_disk()}};
  const PagePricing          pricing{run, rates, pages};
  for (PlanCandidate& each : all) pricing.price(each);
  std::ranges::stable_sort(all, {}, &PlanCandidate::total_ms);
  return all;
}

}  // namespace spillway
