#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "engine/cuda/pages_in_place.hpp"
#include "engine/cuda/supplies.hpp"
#include "plan/page_pricing.hpp"
#include "store/paged_rows.hpp"
#include "supply/edges.hpp"
#include "supply/methods.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/trace.hpp>

namespace spillway::cuda {

struct Session::State {
  const Graph&                 graph;
  const Topology&              topology;
  const RunOptions&            options;
  ProgramNeeds                 needs;
  std::shared_ptr<DeviceGraph> device_graph;
  std::uint64_t                state = 0, in_windows = 0;  ///< bytes of a run, all edges resident or transferred
  std::optional<Placement>     choice;
  double                       choosing_ms = 0;
  std::unique_lock<std::mutex> lock;  ///< while host-resident rows are used

  /// Rows to push and rows to pull, each once, by the arcs of a pass.
  double sides() const {
    std::vector<const Vertex*> counted;
    double                     arcs = 0;
    for (const auto* blocks : {&topology.push, &topology.pull})
      for (const RowBlock& block : *blocks)
        if (std::ranges::find(counted, block.rows.targets) == counted.end()) {
          counted.push_back(block.rows.targets);
          arcs += static_cast<double>(block.arcs());
        }
    return topology.arcs == 0 ? 1 : arcs / static_cast<double>(topology.arcs);
  }

  /// Of rows that are alike in both directions.
  Vertex hubs() const {
    const bool alike = !topology.push.empty() && !topology.pull.empty() && sides() == 1;
    return alike && needs.summed_hubs ? needs.summed_hubs() : 0;
  }

  RunFacts facts() {
    const ProgramFacts&   program = needs.facts;
    std::vector<Activity> history;
    if (!needs.program.empty()) history = RunHistory::of(graph)->find(graph, needs.program, options.history);
    if (state == 0) {
      state      = needs.state_bytes(resident_edges());
      in_windows = needs.state_bytes(program.all_active ? whole_partitions() : least_predicted());
    }
    return {.options          = options,
            .vertices         = topology.vertices,
            .arcs             = topology.arcs,
            .weighted         = program.weighted,
            .all_active       = program.all_active,
            .voting           = program.voting,
            .prioritised      = needs.prioritised,
            .supports_async   = program.supports_async,
            .may_reorder      = needs.may_reorder,
            .summed_hubs      = hubs(),
            .may_use_cpu      = needs.may_use_cpu,
            .sides            = sides(),
            .form             = needs.form,
            .max_iterations   = needs.max_iterations,
            .state            = state,
            .state_in_windows = in_windows,
            .entry_bytes      = needs.entry_bytes,
            .gathers          = program.gathers,
            .history          = std::move(history),
            .work             = needs.work};
  }

  /// The only way that edges come from disk, or unsorted.
  PlanCandidate streamed() const {
    return {.device = "cuda:" + std::to_string(device_graph->device().index()), .method = options.method};
  }

  bool pulls_pages() const { return needs.facts.pulls_windows(topology, options.direction); }

  /// Those that are pulled or pushed, where pages are sent.
  const std::vector<RowBlock>& streamed_blocks() const {
    return pulls_pages() || topology.push.empty() ? topology.pull : topology.push;
  }

  /// Host memory that pages may take, with those that earlier runs have left there.
  double host_room() const {
    const auto&         budget = graph.budget();
    const std::uint64_t used   = budget->used() + needs.answer_bytes + answer_rounding;
    double              room   = static_cast<double>(budget->limit() - std::min(budget->limit(), used));
    for (const store::PagedRows* each : pages_of(topology))
      if (device_graph->pages_in_place(each)) room += static_cast<double>(each->bytes());
    return room;
  }

  /// Whether a GPU would read all pages in host memory.
  bool reads_in_place() const {
    const InPlace asked = options.supply.pages_in_place;
    if (asked == InPlace::off || (asked == InPlace::automatic && !needs.facts.voting)) return false;
    if (needs.form == RowForm::whole || options.supply.state_chunks > 1) return false;
    double all = 0;
    for (const store::PagedRows* each : pages_of(topology)) {
      if (!PagesInPlace::why_not(*each).empty()) return false;
      all += static_cast<double>(PagesInPlace::host_bytes(*each, thread_count(options.threads)));
    }
    return all <= host_room();
  }

  /// As the CPU's executor would have it (supply/state_chunks.cpp), whose state is not known here.
  PagedWay on_cpu(double bytes) const {
    constexpr double a_vertex = 40;  // bytes of state, frontier and work lists, at most (docs/design.md)
    const double     state = a_vertex * static_cast<double>(topology.vertices), room = host_room();
    if (state <= room) return {.host_kept = std::min(bytes, room - state)};
    return {.passes = std::ceil(2 * state / std::max(room, 1.0)), .state_each = state};
  }

  /// What pages are to a price: of rows that are pulled or pushed, or of all that are read in place.
  PagedFacts paged_facts() const {
    PagedFacts facts{.in_place = reads_in_place()};
    for (const RowBlock& block : streamed_blocks()) facts.bytes += static_cast<double>(block.pages->bytes());
    const auto has = [&](const store::PagedRows* each) { return device_graph->pages_in_place(each) != nullptr; };
    facts.is_kept  = facts.in_place && std::ranges::all_of(pages_of(topology), has);
    const std::uint64_t there   = device_graph->room(true);
    const std::uint64_t chunks  = paged_chunks(needs, topology, options, there);
    const Device::Bytes state   = needs.state_bytes_in_chunks(chunks);
    const Device::Bytes offsets = paged_offset_bytes(topology, chunks);
    const auto          rest    = static_cast<double>(state.host + offsets.host);
    const std::uint64_t beside  = state.device + offsets.device;
    facts.device_kept           = std::min(facts.bytes, static_cast<double>(there - std::min(there, beside)));
    if (options.supply.resident)
      facts.device_kept = std::min(facts.device_kept, static_cast<double>(*options.supply.resident));
    facts.gpu = {.host_kept  = std::min(facts.bytes, std::max(0.0, host_room() - rest)),
                 .passes     = static_cast<double>(chunks),
                 .state_each = static_cast<double>(state.host)};
    facts.cpu = on_cpu(facts.bytes);
    return facts;
  }

  /// What keeps pages from a GPU; empty: nothing, for all that is known.
  std::string excluded() const {
    const auto leaves_out = [](const RowBlock& block) { return block.pages->leaves_out(); };
    if (std::ranges::any_of(topology.push, leaves_out))
      return "with loops or parallel arcs to leave out are for the CPU";
    if (reads_in_place()) return {};
    if (!pulls_pages() && topology.push.empty())
      return "are pushed by a GPU, which needs those of in-edges for this";
    if (!pulls_pages() && options.direction == Direction::pull)
      return "are pushed by a GPU in this program, and --direction pull was asked for";
    const std::uint64_t room   = device_graph->room(true);
    const std::uint64_t chunks = paged_chunks(needs, topology, options, room);
    const std::uint64_t least  = least_paged_bytes(needs, topology, chunks);
    if (least > room)
      return fmt::format("need {} on the GPU with the state of their vertices, and there are {}",
                         human_bytes(least), human_bytes(room));
    const std::uint64_t host =
        needs.state_bytes_in_chunks(chunks).host + paged_offset_bytes(topology, chunks).host;
    if (!graph.budget()->has_room(host + needs.answer_bytes))
      return fmt::format("need {} of host memory for chunks of the state", human_bytes(host));
    return {};
  }

  /// Whoever says how a GPU is to go about it wants one.
  bool wants_gpu() const {
    return !needs.may_use_cpu || options.device.kind == cuda_kind() || options.cuda != CudaTuning{} ||
           options.balance.requires_gpu() || options.supply.compress != Compress::automatic;
  }

  /// On a GPU if that is asked for, or else where pages are processed sooner.
  Placement placed_pages() {
    if (wants_gpu()) return {.candidates = {streamed()}, .why = {}};
    const RunFacts run   = facts();
    const auto     known = [&] { return known_rates_of(device_graph->device(), thread_count(options.threads)); };
    Placement      placed{.rates = options.supply.rates ? *options.supply.rates : known(), .priced = true};
    placed.candidates = priced_pages(run, placed.rates, paged_facts(), streamed().device);
    for (PlanCandidate& each : placed.candidates)
      if (!each.on_cpu()) each.excluded = excluded();
    std::ranges::stable_sort(placed.candidates, {},
                             [](const PlanCandidate& each) { return !each.excluded.empty(); });
    return placed;
  }

  void choose() {
    if (options.method->of_edge_lists) {
      choice = Placement{.candidates = {streamed()}, .why = {}};
      return;
    }
    if (options.method->streams_pages) {
      choice = placed_pages();
      return;
    }
    const RunFacts  run = facts();
    const Stopwatch clock;
    choice = chosen_supply(*device_graph, topology, run, graph.budget());
    choosing_ms += clock.milliseconds();
  }
};

Session::Session(const Graph& graph, const Topology& topology, const RunOptions& options, ProgramNeeds needs)
    : state_(new State{.graph        = graph,
                       .topology     = topology,
                       .options      = options,
                       .needs        = std::move(needs),
                       .device_graph = DeviceGraph::of(graph, options.device),
                       .choice       = {},
                       .lock         = {}}) {}

Session::~Session() = default;

Device&                        Session::device() const { return state_->device_graph->device(); }
const std::shared_ptr<Device>& Session::shared_device() const { return state_->device_graph->shared_device(); }
bool                           Session::make_room() { return state_->device_graph->make_room(); }

Plan Session::plan() {
  if (state_->options.method->of_edge_lists) return plan_of_list(*state_);
  if (state_->options.method->streams_pages) {
    if (!state_->choice) state_->choose();
    Plan plan       = plan_of_pages(*state_);
    plan.candidates = candidates();
    return plan;
  }
  return planned_supply(*state_->device_graph, state_->topology, state_->facts(), state_->graph.budget());
}

Plan Session::plan_of_list(const State& state) {
  const RowBlock& block = state.topology.push.front();
  Plan            plan{.device   = state.streamed().device,
                       .method   = std::string{state.options.method->name},
                       .weighted = state.needs.facts.weighted,
                       .vertices = state.topology.vertices,
                       .arcs     = state.topology.arcs};
  plan.edge_bytes   = block.edges->words().size() * sizeof(std::uint32_t);
  const EdgeRun all = block.edges->unchecked();
  plan.room         = state.device_graph->device().room() + (state.device_graph->edges(all) ? all.bytes() : 0);
  plan.state_bytes  = state.needs.state_bytes(state.options.method) + list_offset_bytes(state.topology);
  const ListOrder     order = ListOrder::of(state.needs.facts, state.options);
  const SharedIndex   index = shared_index_for(state.options, block.along, state.needs.facts.local_bytes);
  const std::uint64_t left  = plan.room - std::min(plan.room, plan.state_bytes);
  if (const std::uint64_t stated = state.device_graph->device().stated(); stated > 0)
    require_room_for_list(all, plan.state_bytes, order.concatenates(), index, plan.room, stated);
  const ChunkSizes sizes =
      ChunkSizes::of(all, left, EdgeRounds::slots, order.concatenates(), index, state.options);
  plan.resident_bytes = sizes.whole ? plan.edge_bytes : 0;
  plan.why.push_back("unsorted edges are processed without rows, on the GPU" + text_of_chunks(sizes));
  return plan;
}

Plan Session::plan_of_pages(const State& state) {
  const bool        on_cpu = state.choice->best().on_cpu();
  const PagedFacts  paged  = state.paged_facts();
  const std::string gpu    = state.streamed().device;
  Plan              plan{.device   = on_cpu ? "cpu" : gpu,
                         .method   = std::string{state.options.method->name},
                         .weighted = state.needs.facts.weighted,
                         .vertices = state.topology.vertices,
                         .arcs     = state.topology.arcs};
  const auto&       blocks = state.streamed_blocks();
  for (const RowBlock& block : blocks) {
    plan.edge_bytes += block.pages->bytes();
    plan.compressed |= block.pages->table().format().compressed;
  }
  if (state.choice->candidates.size() > 1) {
    const PlanCandidate &best = state.choice->candidates[0], &next = state.choice->candidates[1];
    if (next.excluded.empty())
      plan.why.push_back(fmt::format("edges are in pages on disk: {} is predicted to take {:.3g} ms, {} {:.3g}",
                                     on_cpu ? "the CPU" : gpu, best.total_ms, on_cpu ? gpu : "the CPU",
                                     next.total_ms));
    else
      plan.why.push_back(
          fmt::format("edges are in pages on disk, and not for {}: {} {}", gpu, next.method->name, next.excluded));
  }
  if (on_cpu) return plan;
  plan.room = state.device_graph->device().room();
  if (paged.in_place) {
    plan.state_bytes =
        state.needs.state_bytes(edges_in_place()) + plan.vertices * sizeof(CompressedRows::RowSlice);
    plan.why.emplace_back("host memory holds all of the compressed pages: the GPU reads them there");
    return plan;
  }
  plan.state_chunks        = static_cast<std::uint64_t>(paged.gpu.passes);
  plan.state_bytes         = state.needs.state_bytes_in_chunks(plan.state_chunks).device;
  const std::uint64_t held = plan.state_bytes + paged_offset_bytes(state.topology, plan.state_chunks).device;
  const std::uint64_t left = plan.room - std::min(plan.room, held);
  plan.resident_bytes      = std::min({plan.edge_bytes, left, state.options.supply.resident.value_or(left)});
  plan.why.emplace_back("edges are in pages on disk, which are streamed to the GPU; what fits stays there");
  return plan;
}

bool Session::prefers_cpu() {
  if (!state_->choice) state_->choose();
  return state_->choice->best().on_cpu();
}

double Session::choosing_ms() const { return state_->choosing_ms; }

std::vector<PlanCandidate> Session::candidates() const {
  const auto& choice = state_->choice;
  return choice && choice->priced ? choice->candidates : std::vector<PlanCandidate>{};
}

SuppliedRows Session::rows() {
  State& state = *state_;
  if (!state.choice) state.choose();
  const PlanCandidate& chosen = state.choice->best();
  if (!chosen.excluded.empty())
    throw DeviceError{ExitCode::does_not_fit, fmt::format("{} {}", chosen.method->name, chosen.excluded)};
  SuppliedRows   made{.rows = {}, .options = state.options, .so_far = {}};
  SupplyOptions& supply = made.options.supply;
  if (!chosen.method->all_resident) made.options.method = chosen.method;
  if (made.options.balance.kind == Balance::automatic) made.options.balance = chosen.balance;
  if (state.choice->knows_rates) supply.rates = state.choice->rates;
  if (chosen.method->transfers) supply.compress = chosen.compressed ? Compress::on : Compress::off;
  if (chosen.method->transfers && supply.async == Async::automatic)
    supply.async = chosen.asynchronous ? Async::on : Async::off;
  SupplyJob   job{*state.device_graph, state.graph,  state.topology, state.needs,
                chosen.compressed,   chosen.order, state.lock,     made};
  MakeSupply* make = entry_of(chosen.method).on_device;
  if (!make) throw usage_error("--method {} requires the CPU", chosen.method->name);
  make(job);
  state.device_graph->use_gpu();
  const bool ordered = std::visit([](const auto& rows) { return rows.order != nullptr; }, made.rows);
  if (chosen.order == VertexOrder::degree && !ordered)  // it would not have paid, or there was no room
    state.choice->candidates.front().order = VertexOrder::natural;
  made.so_far.prepare_ms += state.choosing_ms;
  made.so_far.candidates = candidates();
  if (chosen.method->all_resident) return made;
  made.so_far.method = chosen.method->name;
  made.so_far.compressed |= chosen.compressed;
  return made;
}

void Session::predict_iterations(RunStatistics& statistics) {
  State& state = *state_;
  if (!state.choice || !state.choice->priced || state.choice->best().asynchronous) return;
  if (state.options.method->streams_pages || state.options.method->of_edge_lists) return;
  const PlanCandidate& chosen   = state.choice->best();
  const RunFacts       run      = state.facts();
  const GraphSample    sample   = sample_of(*state.device_graph, state.topology, run);
  const auto           on_host  = static_cast<double>(statistics.edges_on_host);
  const double         resident = on_host > 0 ? static_cast<double>(statistics.edges_resident) / on_host : 1;
  std::vector<RateObservation> observed;
  for (IterationStatistics& made : statistics.per_iteration) {
    Activity active = activity_of(made, run.vertices, run.arcs, !chosen.method->transfers);
    active.rows     = std::min(1.0, active.rows / std::max(sample.nonempty, 1e-6));
    const auto prediction =
        predicted_iteration(run, state.choice->rates, sample, chosen, active, std::min(1.0, resident));
    if (made.predicted_ms <= 0) made.predicted_ms = 1e3 * prediction.seconds;
    observed.push_back({prediction.rate, prediction.seconds, prediction.by_rate, made.milliseconds / 1e3});
  }
  const bool as_usual = state.options.cuda == CudaTuning{} && state.options.balance == BalanceTuning{} &&
                        state.options.direction == Direction::automatic;
  if (as_usual && !state.options.supply.rates && state.options.history != History::off)
    correct_rates(device(), thread_count(state.options.threads), observed, state.options.history == History::kept);
}

/// Memory that the plan counted on may be gone, here or on the host: the next candidate is tried.
bool Session::falls_back(const Error& error) {
  State& state = *state_;
  if (error.code() != ExitCode::does_not_fit || !state.choice) return false;
  auto&      candidates = state.choice->candidates;
  const auto is_cpu     = [](const PlanCandidate& each) { return each.on_cpu(); };
  const bool was_on_cpu = is_cpu(candidates.front());
  std::erase_if(candidates, is_cpu);                     // it is asked again when all others have failed
  if (state.options.balance.kind == Balance::automatic)  // another balance takes as much memory
    std::erase_if(candidates, [](const PlanCandidate& each) { return !each.balance.by_bins(); });
  if (was_on_cpu) return !candidates.empty() && candidates.front().excluded.empty();
  if (candidates.size() < 2 || !candidates[1].excluded.empty()) return false;
  // Compressing failed, unless it is done and what failed came after it.
  const auto& blocks   = state.topology.push.empty() ? state.topology.pull : state.topology.push;
  const auto  has_code = [&](const RowBlock& block) {
    return state.device_graph->has_compressed(block, state.needs.facts.weighted);
  };
  if (candidates[0].compressed && std::ranges::none_of(blocks, has_code) &&
      std::ranges::none_of(state.topology.pull, has_code))
    state.device_graph->cannot_compress = true;
  state.lock = {};
  candidates.erase(candidates.begin());
  return true;
}

namespace {

/// Hubs first, where that was chosen.
DeviceTopology chosen_order(const SupplyJob& job, DeviceTopology rows) {
  const bool weighted = job.needs.facts.weighted;
  if (job.order != VertexOrder::degree || job.topology.vertices == 0) return rows;
  if (job.supplied.options.cuda.order == VertexOrder::degree)
    return job.device_graph.reordered(job.topology, std::move(rows), weighted, true);
  try {
    return job.device_graph.reordered(job.topology, rows, weighted, false);
  } catch (const DeviceError&) {  // no room for a second copy
    job.device_graph.cannot_reorder = true;
  }
  return rows;
}

/// The whole graph on the device.
void make_resident(SupplyJob& job) {
  Stopwatch      clock;
  DeviceTopology rows;
  {
    const TraceSpan span{job.supplied.options.trace, Track::to_device, "rows"};
    rows = job.device_graph.topology(job.topology, job.needs.facts.weighted);
    job.device().wait();
  }
  job.supplied.so_far.transfer_ms = clock.lap();
  rows                            = chosen_order(job, std::move(rows));
  job.device().wait();
  job.supplied.so_far.prepare_ms = clock.lap();
  job.supplied.rows              = resident_supply(std::move(rows));
}

/// What is kept of host-resident rows is for one run at a time. Returns what that needs beside them.
std::uint64_t exclusive_host_rows(SupplyJob& job) {
  const std::uint64_t state = job.state();
  job.lock                  = job.device_graph.exclusive_host_rows();
  job.device().require_at_all(state, "the state of the vertices");
  return state;
}

/// Rows in host memory, some of them on the device.
void make_in_place(SupplyJob& job) {
  const std::uint64_t  state = exclusive_host_rows(job);
  const Stopwatch      clock;
  const ProgramFacts&  facts  = job.needs.facts;
  const SupplyOptions& supply = job.supplied.options.supply;
  const Room           room{.state = state, .resident = supply.resident, .some_rows = !facts.voting};
  if (job.needs.form == RowForm::whole && !job.compressed)
    job.supplied.rows = whole_supply(job.device_graph, job.graph, job.topology, facts.weighted, state);
  else if (job.compressed)
    job.supplied.rows = compressed_supply(job.device_graph, job.graph, job.topology, facts.weighted, room,
                                          supply.coding_batch_arcs);
  else
    job.supplied.rows = plain_supply(job.device_graph, job.graph, job.topology, facts.weighted, room);
  job.device().wait();
  job.supplied.so_far.prepare_ms = clock.milliseconds();
}

/// Rows that come in windows.
void make_in_windows(SupplyJob& job) {
  const std::uint64_t state = exclusive_host_rows(job);
  const Stopwatch     clock;
  const ProgramFacts& facts = job.needs.facts;
  const bool          pulls = facts.pulls_windows(job.topology, job.supplied.options.direction);
  const WindowNeeds   needs = WindowNeeds::of(facts);
  job.supplied.rows =
      window_supply(job.device_graph, job.graph, job.topology, job.supplied.options, needs, pulls, state);
  job.device().wait();
  job.supplied.so_far.prepare_ms = clock.milliseconds();
}

}  // namespace

MakeSupply* const supply_resident   = make_resident;
MakeSupply* const supply_in_place   = make_in_place;
MakeSupply* const supply_in_windows = make_in_windows;

}  // namespace spillway::cuda
