// The graph handle: what is shared, what is checked once, what is built on demand.
#include <spillway/engine/stopwatch.hpp>
#include <spillway/graph.hpp>

#include <map>
#include <mutex>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/edge_collector.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
#include "store/paged_rows.hpp"

namespace spillway {

struct Graph::State {
  Parts                                   parts;
  bool                                    in_given = false;  ///< in-edges came with the graph
  std::mutex                              mutex;
  std::atomic<bool>                       ids_checked{false};
  std::atomic<bool>                       out_checked{false};
  std::atomic<bool>                       in_ready{false};
  std::uint64_t                           vertices = 0;
  EdgeIndex                               arcs     = 0;
  Csr                                     simple;
  std::atomic<bool>                       simple_ready{false};
  std::shared_ptr<const store::PagedRows> simple_pages;

  std::map<std::string, std::shared_ptr<Attachment>> attachments;  ///< last: they may point to what lies above
};

Graph::Graph() : Graph(Parts{}) {}

Graph::Graph(Parts parts) : state_(std::make_shared<State>()) {
  if (!parts.budget) parts.budget = std::make_shared<MemoryBudget>();
  static constexpr EdgeIndex no_rows[1] = {0};
  if (parts.out.offsets.empty()) parts.out.offsets = Array<EdgeIndex>{no_rows, nullptr};
  state_->vertices    = parts.split   ? parts.split->originals()
                        : parts.edges ? parts.edges->vertex_count()
                                      : parts.out.vertex_count();
  state_->arcs        = parts.split   ? parts.split->original_arcs()
                        : parts.edges ? parts.edges->arc_count()
                        : parts.pages ? parts.out.offsets[state_->vertices]
                                      : parts.out.arc_count();
  state_->ids_checked = parts.trusted;
  state_->out_checked = parts.trusted && !parts.split && !parts.edges;
  state_->in_given    = !parts.in.offsets.empty();
  state_->in_ready    = parts.trusted && !parts.in.offsets.empty();
  state_->parts       = std::move(parts);
}

std::shared_ptr<Graph::Attachment> Graph::attachment(const std::string& device) const {
  const std::scoped_lock lock{state_->mutex};
  const auto             found = state_->attachments.find(device);
  return found == state_->attachments.end() ? nullptr : found->second;
}

/// What was there before is given back when the lock is.
void Graph::attach(const std::string& device, std::shared_ptr<Attachment> attachment) const {
  const std::scoped_lock lock{state_->mutex};
  std::swap(state_->attachments[device], attachment);
}

std::uint64_t     Graph::vertex_count() const { return state_->vertices; }
EdgeIndex         Graph::arc_count() const { return state_->arcs; }
WeightType        Graph::weight_type() const { return state_->parts.weight_type; }
bool              Graph::symmetric() const { return state_->parts.symmetric; }
const LoadReport& Graph::report() const { return state_->parts.report; }

const std::shared_ptr<const SplitRows>& Graph::split() const { return state_->parts.split; }

const std::shared_ptr<const EdgeList>& Graph::edges() const { return state_->parts.edges; }

const std::shared_ptr<const store::PagedRows>& Graph::pages() const { return state_->parts.pages; }
const std::shared_ptr<const store::PagedRows>& Graph::in_pages() const {
  return symmetric() ? state_->parts.pages : state_->parts.in_pages;
}

const std::string& Graph::name() const { return state_->parts.name; }

const std::shared_ptr<MemoryBudget>& Graph::budget() const { return state_->parts.budget; }

const IdMap& Graph::ids() const {
  State& state = *state_;
  if (!state.ids_checked.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{state.mutex};
    if (!state.parts.ids.valid_for(vertex_count()))
      throw bad_input("{}: the table of vertex ids is damaged; make the file again", state.parts.name);
    state.ids_checked.store(true, std::memory_order_release);
  }
  return state.parts.ids;
}

namespace {

[[noreturn]] void refuse_paged(const Graph& graph) {
  const std::uint64_t bytes =
      graph.vertex_count() * sizeof(EdgeIndex) +
      graph.arc_count() * (graph.weight_type() == WeightType::none ? 1 : 2) * sizeof(Vertex);
  throw does_not_fit(
      "{}: its edges are in pages on disk, and this needs all of them in memory, {}; where that is there, convert "
      "the file with --layout rows",
      graph.name(), human_bytes(bytes));
}

}  // namespace

const Csr& Graph::out() const {
  State& state = *state_;
  if (state.parts.pages) refuse_paged(*this);
  if (!state.out_checked.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{state.mutex};
    if (!state.out_checked) {
      if (state.parts.split) state.parts.out = state.parts.split->original_rows(thread_count());
      if (state.parts.edges)
        state.parts.out = rows_of(*state.parts.edges,
                                  {.budget = state.parts.budget, .transform = {}, .threads = thread_count()});
      check_rows(state.parts.out, state.parts.weight_type, state.parts.name, thread_count());
      state.out_checked.store(true, std::memory_order_release);
    }
  }
  return state.parts.out;
}

bool Graph::has_rows() const {
  return !state_->parts.edges || state_->out_checked.load(std::memory_order_acquire);
}

void Graph::give_out(Csr rows) const {
  const std::scoped_lock lock{state_->mutex};
  if (has_rows()) return;
  state_->parts.out = std::move(rows);
  state_->out_checked.store(true, std::memory_order_release);
}

bool Graph::has_in() const {
  return symmetric() || state_->parts.in_pages || state_->in_given ||
         state_->in_ready.load(std::memory_order_acquire);
}

const Csr& Graph::in() const {
  if (symmetric()) return out();
  const Csr& forward = out();
  State&     state   = *state_;
  if (!state.in_ready.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{state.mutex};
    if (!state.in_ready) {
      if (!state.in_given) {
        const BuildContext context{.budget = state.parts.budget, .transform = {}, .threads = thread_count()};
        state.parts.in = transposed(forward, state.parts.weight_type, context);
      } else {
        check_rows(state.parts.in, state.parts.weight_type, state.parts.name + " (in-edges)", thread_count());
      }
      state.in_ready.store(true, std::memory_order_release);
    }
  }
  return state.parts.in;
}

void Graph::give_in(Csr rows) const {
  const std::scoped_lock lock{state_->mutex};
  if (has_in()) return;
  state_->parts.in = std::move(rows);
  state_->in_ready.store(true, std::memory_order_release);
}

const Csr& Graph::simple() const {
  const Csr& forward = out();
  State&     state   = *state_;
  if (!state.simple_ready.load(std::memory_order_acquire)) {
    const std::scoped_lock lock{state.mutex};
    if (!state.simple_ready) {
      Csr rows{forward.offsets, forward.targets, {}};
      if (!symmetric() || !rows_simple(rows, thread_count())) {
        const Transform    to_simple{.undirected = true, .symmetrize = false, .dedup = true, .drop_loops = true};
        const BuildContext context{
            .budget = state.parts.budget, .transform = to_simple, .threads = thread_count()};
        rows = rebuilt(rows, WeightType::none, context);
      }
      state.simple = std::move(rows);
      state.simple_ready.store(true, std::memory_order_release);
    }
  }
  return state.simple;
}

const std::shared_ptr<const store::PagedRows>& Graph::simple_pages(int threads, Progress& progress) const {
  State& state = *state_;
  if (!symmetric() && arc_count() > 0)
    throw does_not_fit(
        "{}: this takes the graph as undirected, and its pages have the arcs of one direction; convert what it "
        "was "
        "made from with --undirected",
        name());
  {
    const std::scoped_lock lock{state.mutex};
    if (state.simple_pages) return state.simple_pages;
  }
  // Without the lock, which whoever watches the progress may want.
  auto                   pages = store::simple_rows(state.parts.pages, state.parts.budget, threads, progress);
  const std::scoped_lock lock{state.mutex};
  if (!state.simple_pages) state.simple_pages = std::move(pages);
  return state.simple_pages;
}

namespace {

BuildContext context_of(const LoadOptions& options) {
  return {.budget    = std::make_shared<MemoryBudget>(options.host_memory, options.temporary),
          .transform = options.transform,
          .threads   = thread_count(options.threads),
          .progress  = options.progress ? options.progress : &Progress::none()};
}

Graph finished(Csr csr, WeightType weight_type, const BuildContext& context, double build_ms) {
  Graph::Parts parts;
  parts.out               = std::move(csr);
  parts.weight_type       = weight_type;
  parts.symmetric         = context.transform.undirected || context.transform.symmetrize;
  parts.name              = "arrays in memory";
  parts.report.format     = "arrays";
  parts.report.build_ms   = build_ms;
  parts.report.peak_bytes = context.budget->peak();
  parts.budget            = context.budget;
  return Graph{std::move(parts)};
}

/// As they were given, but for loops that are to be dropped.
Graph edges_of_arrays(std::span<const Vertex> sources, std::span<const Vertex> targets,
                      std::span<const std::uint32_t> weights, WeightType weight_type, std::uint64_t vertex_count,
                      const BuildContext& context) {
  refuse_changes(context.transform, "arrays in memory");
  EdgeCollector collector{context, weight_type};
  auto&         appender = collector.appender(0);
  for (std::uint64_t i = 0; i < sources.size(); ++i)
    appender.add(sources[i], targets[i], weights.empty() ? 0 : weights[i]);
  Graph::Parts parts;
  parts.edges       = std::move(collector).finish(vertex_count).edges;
  parts.weight_type = weight_type;
  parts.symmetric   = context.transform.undirected;
  parts.name        = "arrays in memory";
  parts.budget      = context.budget;
  return Graph{std::move(parts)};
}

void check_weight_array(std::size_t weights, std::size_t arcs, WeightType type) {
  if ((type == WeightType::none) != (weights == 0 && arcs > 0) && arcs > 0)
    throw usage_error("weights and their type must be given together");
  if (weights != 0 && weights != arcs) throw usage_error("{} weights for {} arcs", weights, arcs);
}

}  // namespace

Graph from_csr(std::span<const EdgeIndex> offsets, std::span<const Vertex> targets,
               std::span<const std::uint32_t> weights, WeightType weight_type, const LoadOptions& options) {
  return adopt_csr(Csr{{offsets, nullptr}, {targets, nullptr}, {weights, nullptr}}, weight_type, options);
}

Graph adopt_csr(Csr csr, WeightType weight_type, const LoadOptions& options) {
  if (csr.offsets.empty()) throw usage_error("CSR offsets need n+1 entries; none were given");
  if (csr.vertex_count() > max_vertices)
    throw bad_input("{} vertices: at most 2^32-1 are supported", csr.vertex_count());
  check_weight_array(csr.weights.size(), csr.targets.size(), weight_type);
  const BuildContext context = context_of(options);
  const Stopwatch    clock;
  check_indices(csr, weight_type, "CSR arrays", context.threads);
  if (options.transform.any() || !rows_sorted(csr, weight_type, context.threads))
    csr = rebuilt(csr, weight_type, context);
  return finished(std::move(csr), weight_type, context, clock.milliseconds());
}

Graph from_arcs(std::span<const Vertex> sources, std::span<const Vertex> targets,
                std::span<const std::uint32_t> weights, WeightType weight_type, std::uint64_t vertex_count,
                const LoadOptions& options) {
  if (sources.size() != targets.size())
    throw usage_error("{} sources for {} targets", sources.size(), targets.size());
  check_weight_array(weights.size(), targets.size(), weight_type);
  std::uint64_t least = 0;
  for (const auto ids : {sources, targets})
    for (const Vertex v : ids) least = std::max(least, std::uint64_t{v} + 1);
  if (vertex_count == 0) vertex_count = least;
  if (vertex_count > max_vertices) throw bad_input("{} vertices: at most 2^32-1 are supported", vertex_count);
  if (least > vertex_count) throw bad_input("vertex {} in a graph of {} vertices", least - 1, vertex_count);
  if (weight_type == WeightType::f32) check_weights(weights, "weight array", thread_count(options.threads));

  const BuildContext context = context_of(options);
  const Stopwatch    clock;
  if (options.edges) return edges_of_arrays(sources, targets, weights, weight_type, vertex_count, context);
  Csr csr = with_collector(context, weight_type, [&](auto& collector) {
    for_each_share(context.threads, sources.size(), [&](std::uint64_t begin, std::uint64_t end, int thread) {
      auto& appender = collector.appender(thread);
      for (std::uint64_t i = begin; i < end; ++i)
        appender.add(sources[i], targets[i], weights.empty() ? 0 : weights[i]);
    });
    return std::move(collector).finish(vertex_count).csr;
  });
  if (options.transform.symmetrize && !options.transform.dedup) csr = symmetrized(csr, weight_type, context);
  return finished(std::move(csr), weight_type, context, clock.milliseconds());
}

}  // namespace spillway
