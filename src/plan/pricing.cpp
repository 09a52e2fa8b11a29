#include "plan/pricing.hpp"

#include <algorithm>
#include <cmath>

#include "plan/balance_pricing.hpp"
#include "supply/residency.hpp"

namespace spillway {
namespace {

constexpr double part_bytes = 4u << 20;

/// Edges that hold a vote, nearly always.
constexpr double edges_of_a_vote = 8;

/// Nobody knows how many runs are to come: what those so far would have spared has been paid in vain already.
double credit(const PlanCandidate& candidate, const Forgone& forgone) {
  return forgone.on_gpu + (candidate.compressed ? forgone.compressed : 0) +
         (candidate.order == VertexOrder::degree ? forgone.ordered : 0);
}

/// Edges that kernels look at, if they choose to push or to pull.
double looked_at(const Activity& active) { return active.looked_at < 0 ? active.edges : active.looked_at; }

}  // namespace

Pricing::Pricing(const RunFacts& run, const Rates& rates, const GraphSample& sample)
    : run_(run),
      rates_(rates),
      sample_(sample),
      costs_(rates, run.weighted),
      activity_(expected_activity(run, sample)),
      on_cpu_(run.work && run.work->on_cpu ? expected_on_cpu(run, sample) : activity_),
      code_bytes_(sample.code_bytes + (run.weighted ? sample.weight_bytes : 0)) {}

void Pricing::price(PlanCandidate& candidate, const GpuFacts& device, std::uint64_t beside) const {
  const bool          keeps   = run_.form != RowForm::whole;  // prefixes would cut rows
  const std::uint64_t windows = candidate.method->transfers ? least_windows : 0;
  const double        all     = bytes_of_all(candidate) * sides(candidate);
  const double        room =
      candidate.method->all_resident ? all
             : keeps ? static_cast<double>(resident_bytes(device.room, beside + windows, run_.options.supply.resident))
                     : 0;
  const double kept        = all == 0 ? 1 : std::min(1.0, room / all);
  candidate.device_bytes   = candidate.on_cpu() ? 0 : beside + static_cast<std::uint64_t>(kept * all);
  candidate.resident_bytes = candidate.on_cpu() ? 0 : static_cast<std::uint64_t>(kept * all);
  candidate.prepare_ms     = 1e3 * preparing(candidate, device, kept * all);
  Cost run;
  for (const Activity& each : candidate.on_cpu() ? on_cpu_ : activity_) {
    const Cost one = cost(candidate, each, kept);
    run.transfer += each.iterations * one.transfer;
    run.compute += each.iterations * one.compute;
    run.bytes += each.iterations * one.bytes;
    run.total += each.iterations * one.total;
  }
  if (candidate.asynchronous) run = asynchronously(kept);
  if (run_.work) {
    const double seconds = run_.work->lookups / (candidate.on_cpu() ? rates_.host_visited : rates_.visited);
    run.compute += seconds, run.total += seconds;
  }
  if (candidate.on_cpu()) run.total += static_cast<double>(run_.state) / rates_.copied;  // fresh memory
  candidate.transfer_ms = 1e3 * run.transfer;
  candidate.compute_ms  = 1e3 * run.compute;
  candidate.run_ms      = 1e3 * run.total;
  candidate.bus_bytes   = static_cast<std::uint64_t>(run.bytes);
  const double runs     = std::max(1u, run_.options.runs);
  const double paid     = std::min(candidate.prepare_ms, 1e3 * credit(candidate, device.forgone));
  candidate.total_ms    = candidate.prepare_ms - paid + runs * candidate.run_ms;
}

PredictedIteration Pricing::iteration(const PlanCandidate& candidate, const Activity& active, double kept) const {
  const Cost one = cost(candidate, active, kept);
  return {one.total, one.most.rate, one.most.seconds};
}

double Pricing::rows(double share, double kept) const {
  return share * static_cast<double>(run_.vertices) *
         std::min(sample_.nonempty, sample_.longer_than(sample_.prefix_length(kept)));
}

double Pricing::bytes_of_all(const PlanCandidate& candidate) const {
  return static_cast<double>(run_.arcs) * (candidate.compressed ? code_bytes_ : edge_bytes());
}

/// Windows have edges to push, or to pull; what is in place or resident has both, where they differ.
double Pricing::sides(const PlanCandidate& candidate) const {
  return candidate.method->transfers ? 1 : run_.sides;
}

double Pricing::preparing(const PlanCandidate& candidate, const GpuFacts& device, double resident) const {
  if (candidate.on_cpu()) return 0;
  const double all = static_cast<double>(run_.edge_bytes()) * sides(candidate);
  if (candidate.method->all_resident) {
    const double moving =
        candidate.order == VertexOrder::degree && !device.has_order ? arcs(run_.sides) / rates_.reordered : 0;
    return moving + (device.has_resident ? 0 : all / rates_.uploaded);
  }
  const bool there = candidate.method->transfers ? device.has_first : device.has_prefixes && !candidate.compressed;
  const double kept =
      (there ? 0 : keeping(candidate, resident)) + (candidate.method->transfers ? rates_.windows : 0);
  if (candidate.compressed && device.has_compressed) return kept;
  const double pinning = device.has_pinned ? 0 : all / (device.copies() ? rates_.copied : rates_.pinned);
  const double coding =
      static_cast<double>(run_.arcs) / rates_.coded_edges + static_cast<double>(run_.vertices) / rates_.coded_rows;
  return pinning + kept + (candidate.compressed ? sides(candidate) * coding : 0);
}

/// First parts are sent as they lie; prefixes are read in place, a piece of every row.
double Pricing::keeping(const PlanCandidate& candidate, double resident) const {
  if (candidate.method->transfers) return resident / rates_.sent;
  if (resident <= 0) return 0;
  const double pieces = sides(candidate) * rows(1, 0);
  return candidate.compressed ? resident / rates_.read + pieces / rates_.read_chunks
                              : costs_.read(resident / edge_bytes(), pieces);
}

/// Of what edges lead to, the share that a cache holds: all of it, or that of the longest rows, `line` bytes for
/// each.
double Pricing::cached(double cache, double line) const {
  const double entry    = static_cast<double>(run_.entry_bytes);
  const double vertices = std::max(1.0, static_cast<double>(run_.vertices));
  const double degree   = static_cast<double>(run_.arcs) / vertices;
  const double held     = std::min(1.0, cache / (entry * vertices));
  return std::max(held, sample_.edges_of_longest(std::min(1.0, cache / (line * vertices)), degree));
}

/// In an order by degree, hubs lie side by side.
Pricing::Term Pricing::visiting(double edges, VertexOrder order) const {
  constexpr double sector = 32, entry = 4;
  const double     near = cached(rates_.cache, order == VertexOrder::degree ? entry : sector);
  const Term       hit{&Rates::visited, edges * near / rates_.visited};
  const Term       miss{&Rates::visited_far, edges * (1 - near) / rates_.visited_far};
  return {larger(hit, miss).rate, hit.seconds + miss.seconds};
}

/// Of edges that are pushed: each is looked at, and where updates meet in accumulators, each is an atomic
/// operation.
Pricing::Term Pricing::pushing(double edges) const {
  constexpr double sector  = 32;
  const Term       visited = visiting(edges);
  if (!run_.gathers || run_.all_active) return visited;  // those pull
  const double near = cached(rates_.cache, sector);
  const Term   hit{&Rates::atomics, edges * near / rates_.atomics};
  const Term   miss{&Rates::atomics_far, edges * (1 - near) / rates_.atomics_far};
  return larger(visited, {larger(hit, miss).rate, hit.seconds + miss.seconds});
}

Pricing::Cost Pricing::cost(const PlanCandidate& candidate, const Activity& active, double kept) const {
  if (candidate.on_cpu()) return on_cpu(active);
  if (candidate.method->all_resident) return resident(candidate, active);
  if (!candidate.method->transfers)
    return candidate.compressed ? coded_in_place(active, kept) : in_place(active, kept, /*prefixes=*/true);
  return candidate.compressed ? compressed_windows(candidate, active, kept) : in_windows(candidate, active, kept);
}

/// Updates go to memory; what is only read may be in the cache. Where much is active, all vertices are looked at.
Pricing::Cost Pricing::on_cpu(const Activity& active) const {
  constexpr double line = 64, much = 0.01;
  const bool       reads = run_.all_active || run_.voting || run_.work;
  const bool       votes = searches_short_paths() && active.looked_at < 0;
  const double     edges = votes ? rows(active.edges, 0) * edges_of_a_vote : arcs(looked_at(active));
  const double     near  = reads ? cached(rates_.host_cache, line) : 0;
  const double     all   = active.edges > much ? static_cast<double>(run_.vertices) : 0;
  const Term       hit{&Rates::host_visited, (edges * near + all) / rates_.host_visited};
  const Term       miss{&Rates::host_visited_far, edges * (1 - near) / rates_.host_visited_far};
  const double     visiting = hit.seconds + miss.seconds;
  return {.compute = visiting, .total = visiting + rates_.host_iteration, .most = larger(hit, miss)};
}

Pricing::Cost Pricing::resident(const PlanCandidate& candidate, const Activity& active) const {
  const bool   votes   = searches_short_paths() && active.looked_at < 0;
  const double edges   = votes ? rows(active.edges, 0) * edges_of_a_vote : arcs(looked_at(active));
  const Term   visited = visiting(edges * (1 - of_summed_hubs(candidate)), candidate.order);
  const double total   = visited.seconds + rates_.barrier + sharing(candidate.balance, active, visited.seconds);
  return {.compute = total, .total = total, .most = visited};
}

/// The share of the edges that are hubs', where those get what they are sent in shared memory.
double Pricing::of_summed_hubs(const PlanCandidate& candidate) const {
  if (run_.summed_hubs == 0 || candidate.order != VertexOrder::degree || !candidate.balance.by_bins()) return 0;
  const auto   vertices = static_cast<double>(run_.vertices), arcs = static_cast<double>(run_.arcs);
  const double share = sample_.edges_of_longest(std::min(1.0, run_.summed_hubs / vertices), arcs / vertices);
  return run_.options.cuda.hub_sums || share >= CudaTuning::least_hub_share ? share : 0;
}

/// What another balance takes beside what edges do: lanes that wait for others, parts of rows that meet by atomic
/// operations where they are pulled, and long rows that few lanes walk. Bins have a lane for every edge, so
/// nothing is predicted to take less (docs/planning.md has what was measured).
double Pricing::sharing(const BalanceTuning& balance, const Activity& active, double visited) const {
  if (balance.by_bins()) return 0;
  // A step waits for a part of what an iteration over a small frontier waits for; a pull has some edges under way.
  // Fitted to an H200 with grid2048 and kron24 (docs/planning.md).
  constexpr double a_step = 0.3, under_way = 4, uncertain = 0.1;
  const bool       pulls  = run_.all_active;
  const double     rows   = rows_looked_at(active) * static_cast<double>(run_.vertices) * sample_.nonempty;
  const SharedOut  shared = shared_out(sample_, rows, balance);
  const double     lanes  = rows * shared.steps / rates_.visited;
  const double     meet   = pulls && balance.kind == Balance::split ? rows * shared.parts / rates_.atomics : 0;
  const double     steps  = std::max(0.0, shared.longest / (pulls ? under_way : 1) - 1);
  return std::max(0.0, lanes - visited) + meet + steps * a_step * rates_.barrier + uncertain * visited;
}

/// Part by part: a part is sent while the one before is decoded and visited.
Pricing::Cost Pricing::compressed_windows(const PlanCandidate& candidate, const Activity& active,
                                          double kept) const {
  const double bytes = bytes_of_all(candidate) * (1 - kept);
  const Term   bus{&Rates::sent, bytes / rates_.sent};
  const Term   decoding{&Rates::decoded, arcs(active.edges) / rates_.decoded};
  const Term   visited = visiting(arcs(active.edges), VertexOrder::degree);
  const double compute = decoding.seconds + visited.seconds;
  return {bus.seconds, compute, rates_.step + std::max(bus.seconds, compute), bytes,
          bus.seconds >= compute ? bus : larger(decoding, visited)};
}

Pricing::Cost Pricing::overlapped(const Term& bus, double bus_seconds, const Activity& active,
                                  double bytes) const {
  const Term visited = pushing(arcs(active.edges));
  return {bus_seconds, visited.seconds, rates_.step + std::max(bus_seconds, visited.seconds), bytes,
          bus_seconds >= visited.seconds ? bus : visited};
}

Pricing::Cost Pricing::in_windows(const PlanCandidate& candidate, const Activity& active, double kept) const {
  const double whole    = whole_parts(active, kept);
  Cost         best     = overlapped({&Rates::sent, whole / rates_.sent}, whole / rates_.sent, active, whole);
  const auto   consider = [&](const Cost& other) {
    if (other.total < best.total) best = other;
  };
  if (candidate.method->gathers && !run_.all_active) {
    const double edges = arcs(active.edges) * (1 - kept), chunks = rows(active.rows, 0) * (1 - kept);
    const Term   bytes{&Rates::gathered, costs_.gathered(edges, 0)};
    const Term   pieces{&Rates::gathered_chunks, costs_.gathered(0, chunks)};
    consider(overlapped(larger(bytes, pieces), bytes.seconds + pieces.seconds, active, edges * edge_bytes()));
  }
  if (candidate.method->reads_in_place && !run_.all_active) consider(in_place(active, kept, /*prefixes=*/false));
  return best;
}

/// Windows keep the first parts, and not the first edges of every row.
Pricing::Cost Pricing::in_place(const Activity& active, double kept, bool prefixes) const {
  if (searches_short_paths()) return votes(active, kept, prefixes);
  const double seen = looked_at(active), lie = rows_looked_at(active);
  // Rows that are all active lie one behind the other, and their lines are read once; what is left of them
  // beside cached prefixes lies apart, unless the lines hold all of them anyway.
  const double begun   = (1 - active.edges) * rows(lie, 0);
  const double chunks  = prefixes ? (kept > 0 ? rows(lie, kept) : begun) : begun * (1 - kept);
  const double waiting = rates_.barrier + (kept < 1 ? rates_.latency : 0);
  const auto   read    = [&](double edges, double pieces) {
    const double arrays = run_.weighted ? 2 : 1;
    return std::pair{Term{&Rates::read, edges * edge_bytes() / rates_.read},
                     Term{&Rates::read_chunks, pieces * arrays / rates_.read_chunks}};
  };
  const auto   sum    = [](const std::pair<Term, Term>& both) { return both.first.seconds + both.second.seconds; };
  const auto   beside = read(arcs(seen) * (1 - kept), chunks), with_prefixes = read(arcs(seen), begun);
  const bool   apart   = sum(beside) <= sum(with_prefixes);
  const auto&  taken   = apart ? beside : with_prefixes;
  const double bus     = sum(taken);
  const Term   visited = visiting(arcs(seen));
  return {bus, visited.seconds, std::max(bus, visited.seconds) + waiting,
          edge_bytes() * arcs(seen) * (apart ? 1 - kept : 1),
          bus >= visited.seconds ? larger(taken.first, taken.second) : visited};
}

namespace {

/// The header of a row comes before the words that it tells of: rows that lie apart take as long as these many
/// that are read at once, where the bus is not the slower of both; weights as long again. Who looks for a vote
/// needs the first words alone.
constexpr double reads_of_a_coded_row = 5, reads_of_a_coded_vote = 1.5;

}  // namespace

/// What rows took says little of how fast the bus is: each waits for its header.
Pricing::Cost Pricing::coded_in_place(const Activity& active, double kept) const {
  if (searches_short_paths()) return coded_votes(active, kept);
  // Shorter rows share sectors with those beside them, if these are active, too.
  constexpr double fills_sectors = 16;
  const double     seen = looked_at(active), on_host = coded_rows(rows_looked_at(active), kept);
  const double     alone   = std::min(1.0, sample_.longer_than(fills_sectors) / std::max(sample_.nonempty, 1e-12));
  const double     apart   = on_host * (1 - active.edges + active.edges * alone);
  const double     bytes   = arcs(seen) * (1 - kept) * code_bytes_;
  const double     reads   = apart * reads_of_a_coded_row * (run_.weighted ? 2 : 1);
  const double     bus     = std::max(bytes / rates_.read, reads / rates_.read_chunks);
  const Term       compute = larger({&Rates::decoded, arcs(seen) / rates_.decoded}, visiting(arcs(seen)));
  const double     waiting = rates_.barrier + (kept < 1 ? 2 * rates_.latency : 0);
  return {bus, compute.seconds, bus + compute.seconds + waiting, bytes, larger({nullptr, bus}, compute)};
}

/// Share of the rows whose first groups are on the device: those of long rows come first.
double Pricing::with_first_group(double kept) const {
  constexpr unsigned group_log = 5;
  return std::min(1.0, kept / std::max(sample_.within[group_log], 1e-12));
}

/// Rows of a share of which some groups are not on the device.
double Pricing::coded_rows(double share, double kept) const {
  constexpr double group = 32;
  const double     all = share * static_cast<double>(run_.vertices), first = with_first_group(kept);
  if (first >= 1)
    return all * std::min(sample_.nonempty, sample_.longer_than(std::max(group, sample_.prefix_length(kept))));
  return all * (sample_.nonempty * (1 - first) + std::min(sample_.nonempty * first, sample_.longer_than(group)));
}

/// Share of the rows that are looked at, which are more than the active ones where kernels pull.
double Pricing::rows_looked_at(const Activity& active) const {
  if (active.edges <= 0) return active.rows;
  return std::min(1.0, active.rows * std::max(1.0, looked_at(active) / active.edges));
}

/// Whoever looks for one vote finds it among the first edges of a row, mostly: a read for every vertex that
/// looks. Over a whole search nearly everyone does once; the more edges are active, the more do now.
Pricing::Cost Pricing::votes(const Activity& active, double kept, bool prefixes) const {
  // Of bfs over a uniform graph, a third of those who look find nothing in prefixes of four edges, a tenth in
  // eight.
  constexpr double rest = 0.05, sector = 32, of_half = 2.5;
  const double     looking = rows(active.edges, 0);
  const double     missed  = std::exp2(-sample_.prefix_length(kept) / of_half);
  const double     reads   = looking * (prefixes && kept > 0 ? std::max(rest, missed) : 1 - kept);
  const Term       bus{&Rates::read_chunks, kept < 1 ? reads / rates_.read_chunks : 0};
  const Term       visited = visiting(looking * edges_of_a_vote);
  const double     waiting = rates_.barrier + (kept < 1 ? rates_.latency : 0);
  return {bus.seconds, visited.seconds, std::max(bus.seconds, visited.seconds) + waiting, reads * sector,
          larger(bus, visited)};
}

Pricing::Cost Pricing::coded_votes(const Activity& active, double kept) const {
  constexpr double rest = 0.05, sector = 32;
  const double     looking = rows(active.edges, 0);
  const double     missed  = std::max(rest, 1 - with_first_group(kept));
  const double     reads   = kept < 1 ? looking * missed : 0;
  const double     bytes   = reads * sector;
  const double     bus     = reads * reads_of_a_coded_vote / rates_.read_chunks;
  const Term       decoding{&Rates::decoded, looking * edges_of_a_vote / rates_.decoded};
  const double     waiting = rates_.barrier + (kept < 1 ? rates_.latency : 0);
  return {bus, decoding.seconds, bus + decoding.seconds + waiting, bytes, larger({nullptr, bus}, decoding)};
}

double Pricing::whole_parts(const Activity& active, double kept) const {
  const double bytes = static_cast<double>(run_.edge_bytes()) * (1 - kept);
  const double parts = std::max(1.0, bytes / part_bytes);
  const double begun = active.rows * static_cast<double>(run_.vertices) * sample_.nonempty;
  return run_.all_active ? bytes : bytes * (1 - std::pow(1 - 1 / parts, std::max(1.0, begun)));
}

/// Parts are sent whole, a few times over, or twice for what is active of them in order, if that is more; and each
/// is run to a local fixed point while the next is on its way: a round for every level, many more where buckets
/// are settled in each (docs/experiments.md), and little more work than in order.
Pricing::Cost Pricing::asynchronously(double kept) const {
  constexpr double least_times = 4, of_active = 2, again = 1.3, barriers_of_a_round = 3, rounds_a_level = 1.3,
                   with_buckets = 16;
  const double rounds           = sample_.levels * (run_.prioritised ? with_buckets : rounds_a_level);
  double       shares           = 0;
  for (const Activity& each : activity_) shares += each.iterations * each.edges;
  const double times   = std::max(least_times, of_active * shares);
  const double bytes   = times * static_cast<double>(run_.edge_bytes()) * (1 - kept);
  const double bus     = bytes / rates_.sent + times * rates_.step;
  const double compute = pushing(again * arcs(shares)).seconds + rounds * barriers_of_a_round * rates_.barrier;
  return {bus, compute, bus + compute, bytes, {}};
}

}  // namespace spillway
