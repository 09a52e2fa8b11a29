// Edges from arrays of a caller: the reader without a file. The ids that appear are the vertices, as in a list of
// edges, whether they are small numbers, large ones or names.
#include <atomic>
#include <bit>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/edge_collector.hpp"
#include "graph/edge_list.hpp"
#include "graph/vertex_set.hpp"
#include "io/interner.hpp"

#include <spillway/graph.hpp>

namespace spillway {
namespace {

constexpr const char* arrays_name = "arrays in memory";

constexpr std::uint64_t stretch = 256u << 10;  // of edges, between two looks at whether the work is cancelled

struct ArrayEdges {
  std::span<const std::uint32_t> weights;
  WeightType                     weight_type;
  const LoadOptions&             options;
  BuildContext                   context;

  std::uint32_t weight(std::uint64_t i) const { return weights.empty() ? 0 : weights[i]; }
};

struct Built {
  BuiltCsr csr;
  IdMap    ids;
};

template <class Ids>
std::uint64_t size_of(const Ids& ids) {
  if constexpr (requires { ids.size(); })
    return ids.size();
  else
    return ids.size;
}

/// body(first, last, thread) over stretches of all edges.
template <class Body>
void for_each_stretch(const BuildContext& context, const char* stage, std::uint64_t edges, Body&& body) {
  context.progress->begin(stage, edges, ProgressUnit::edges);
  for_each_task(context.threads, (edges + stretch - 1) / stretch, [&](std::uint64_t task, int thread) {
    check_cancelled(*context.progress);
    const std::uint64_t first = task * stretch, last = std::min(edges, first + stretch);
    body(first, last, thread);
    context.progress->advance(last - first);
  });
}

/// Entries side by side, which is what the compiler makes wide loads of.
template <class T>
struct Adjacent {
  const T* data;

  T operator[](std::uint64_t i) const { return data[i]; }
};

/// use(sources, targets), as Adjacent if they are.
template <class T, class Use>
auto with_ends(const Strided<T>& sources, const Strided<T>& targets, Use&& use) {
  if (sources.step == 1 && targets.step == 1) return use(Adjacent<T>{sources.data}, Adjacent<T>{targets.data});
  return use(sources, targets);
}

/// The largest id; Error{bad_input} of one that is negative.
template <class T>
std::uint64_t largest_of(const Strided<T>& ids, const char* what, const BuildContext& context) {
  std::atomic<std::uint64_t> largest{0};
  for_each_share(context.threads, ids.size, [&](std::uint64_t begin, std::uint64_t end, int) {
    check_cancelled(*context.progress);
    T most = 0, least = 0;
    with_ends(ids, ids, [&](const auto& entries, const auto&) {
      for (std::uint64_t i = begin; i < end; ++i)
        most = std::max<T>(most, entries[i]), least = std::min<T>(least, entries[i]);
    });
    if (least < 0)
      for (std::uint64_t i = begin; i < end; ++i)
        if (ids[i] < 0) throw bad_input("{} {} is {}: ids are not negative", what, i, ids[i]);
    std::uint64_t known = largest;
    while (known < static_cast<std::uint64_t>(most) && !largest.compare_exchange_weak(known, most)) {
    }
  });
  return largest;
}

/// Whether edges of ids below 2^32 come as rows have them: by source, then target, then weight.
template <class Ids>
bool in_order(const Ids& sources, const Ids& targets, std::uint64_t count, const ArrayEdges& edges) {
  const auto ends = [&](std::uint64_t i) {
    return static_cast<std::uint64_t>(sources[i]) << 32 | static_cast<std::uint32_t>(targets[i]);
  };
  const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
    return edges.weight_type == WeightType::f32 ? std::bit_cast<float>(a) > std::bit_cast<float>(b) : a > b;
  };
  std::atomic<bool> ordered{true};
  for_each_stretch(edges.context, "checking", count, [&](std::uint64_t first, std::uint64_t last, int) {
    if (!ordered) return;
    std::uint64_t before = first == 0 ? 0 : ends(first - 1);
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t here = ends(i);
      if (here < before || (here == before && i > 0 && heavier(edges.weight(i - 1), edges.weight(i))))
        return ordered.store(false);
      before = here;
    }
  });
  return ordered;
}

/// Ids are looked at before, and must be the same when they are used.
template <class T>
Vertex below(std::uint64_t bound, T id) {
  if (static_cast<std::uint64_t>(id) >= bound) [[unlikely]]
    throw bad_input("the arrays changed while they were read; nobody may write to them meanwhile");
  return static_cast<Vertex>(id);
}

/// The ids that appear, if some below the largest do not.
template <class T>
std::unique_ptr<VertexSet> members_of(const Strided<T>& sources, const Strided<T>& targets, std::uint64_t bound,
                                      const ArrayEdges& edges, BuiltCsr& built) {
  auto members = std::make_unique<VertexSet>(bound, edges.context.budget);
  for_each_stretch(edges.context, "numbering", sources.size, [&](std::uint64_t first, std::uint64_t last, int) {
    for (std::uint64_t i = first; i < last; ++i) {
      if (i == first || sources[i] != sources[i - 1]) members->insert(below(bound, sources[i]));
      members->insert(below(bound, targets[i]));
    }
  });
  return numbered(std::move(members), built, edges.context.budget);
}

/// Rows of edges in order are the targets as they come. `members`: the ids that are vertices; null: all are.
template <class Ids>
void copy_rows(const Ids& sources, const Ids& targets, std::uint64_t count, std::uint64_t n, std::uint64_t bound,
               const VertexSet* members, const ArrayEdges& edges, BuiltCsr& built) {
  const auto& budget = edges.context.budget;
  const auto  vertex = [&](auto id) {
    const Vertex v = below(bound, id);
    return members ? members->rank(v) : v;
  };

  Buffer<EdgeIndex>     offsets{n + 1, budget, "the rows"};
  Buffer<Vertex>        rows{count, budget, "the rows"};
  Buffer<std::uint32_t> weights{edges.weights.size(), budget, "the weights"};
  for_each_stretch(edges.context, "building", count, [&](std::uint64_t first, std::uint64_t last, int) {
    std::uint64_t begun = first == 0 ? 0 : vertex(sources[first - 1]) + 1;  // rows whose offset is known
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t row = vertex(sources[i]);
      for (; begun <= row; ++begun) offsets[begun] = i;
      rows[i] = vertex(targets[i]);
      if (!edges.weights.empty()) weights[i] = edges.weights[i];
    }
  });
  for (std::uint64_t r = count == 0 ? 0 : vertex(sources[count - 1]) + 1; r <= n; ++r) offsets[r] = count;
  built.csr = {std::move(offsets).freeze(), std::move(rows).freeze(), std::move(weights).freeze()};
  check_indices(built.csr, edges.weight_type, arrays_name, edges.context.threads);
}

template <class T>
BuiltCsr copied_rows(const Strided<T>& sources, const Strided<T>& targets, std::optional<std::uint64_t> vertices,
                     std::uint64_t bound, const ArrayEdges& edges) {
  BuiltCsr            built;
  const auto          members = vertices ? nullptr : members_of(sources, targets, bound, edges, built);
  const std::uint64_t n       = vertices ? *vertices : members ? members->size() : bound;
  with_ends(sources, targets, [&](const auto& from, const auto& to) {
    copy_rows(from, to, sources.size, n, bound, members.get(), edges, built);
  });
  return built;
}

/// Ids below 2^32 need no table while they are collected.
template <class T>
BuiltCsr collected(const Strided<T>& sources, const Strided<T>& targets, std::optional<std::uint64_t> vertices,
                   std::uint64_t bound, const ArrayEdges& edges) {
  return with_input_collector(edges.context, edges.weight_type, [&](auto& collector) {
    for_each_stretch(edges.context, "reading", sources.size,
                     [&](std::uint64_t first, std::uint64_t last, int thread) {
                       auto& to = collector.appender(thread);
                       to.at(first);
                       for (std::uint64_t i = first; i < last; ++i)
                         to.add(below(bound, sources[i]), below(bound, targets[i]), edges.weight(i));
                     });
    return std::move(collector).finish(vertices);
  });
}

template <class T>
Built indexed(const Strided<T>& sources, const Strided<T>& targets, std::optional<std::uint64_t> vertices,
              std::uint64_t bound, const ArrayEdges& edges) {
  const bool plain   = !edges.options.transform.any() && !edges.options.edges;
  const auto ordered = [&](const auto& from, const auto& to) { return in_order(from, to, sources.size, edges); };
  Built built{plain && with_ends(sources, targets, ordered) ? copied_rows(sources, targets, vertices, bound, edges)
                                                            : collected(sources, targets, vertices, bound, edges),
              {}};
  built.ids = built.csr.original_ids.empty() ? IdMap::consecutive(built.csr.first_id)
                                             : IdMap::numbers(std::move(built.csr.original_ids));
  return built;
}

/// A stretch of edges, their ends numbered as a thread met them.
struct MetEdges {
  struct Edge {
    Vertex source, target;
  };
  std::size_t  thread = 0;
  Buffer<Edge> edges;
};

/// Ids that are too large for that, or names, or listed ones: each thread numbers what it meets.
template <class Key, class Ids>
Built interned(const Ids& sources, const Ids& targets, const Ids& listed, const ArrayEdges& edges) {
  const BuildContext&                         context = edges.context;
  std::vector<std::unique_ptr<Interner<Key>>> interners(static_cast<std::size_t>(context.threads));
  for (auto& each : interners) each = std::make_unique<Interner<Key>>(context.budget);
  for (std::uint64_t i = 0; i < size_of(listed); ++i) interners[0]->number_of(static_cast<Key>(listed[i]));
  std::vector<MetEdges> met((size_of(sources) + stretch - 1) / stretch);
  for_each_stretch(context, "reading", size_of(sources), [&](std::uint64_t first, std::uint64_t last, int thread) {
    const auto     mine     = static_cast<std::size_t>(thread);
    Interner<Key>& interner = *interners[mine];
    MetEdges&      here     = met[first / stretch];
    here                    = {mine, {last - first, context.budget, "the edges being read"}};
    for (std::uint64_t i = first; i < last; ++i)
      here.edges[i - first] = {interner.number_of(static_cast<Key>(sources[i])),
                               interner.number_of(static_cast<Key>(targets[i]))};
  });

  const OrderedKeys<Key>  ordered{interners, context.budget};
  const std::vector<Key>& keys = ordered.keys();
  if (keys.size() > max_vertices) throw bad_input("{} vertices: at most 2^32-1 are supported", keys.size());
  std::vector<std::vector<Vertex>> places(interners.size());
  for_each_task(context.threads, places.size(),
                [&](std::uint64_t i, int) { places[i] = ordered.places_in(keys, i, [](const Key&) {}); });
  return with_input_collector(context, edges.weight_type, [&](auto& collector) {
    for_each_task(context.threads, met.size(), [&](std::uint64_t task, int thread) {
      check_cancelled(*context.progress);
      const std::vector<Vertex>& place = places[met[task].thread];
      auto&                      to    = collector.appender(thread);
      std::uint64_t              i     = task * stretch;
      to.at(i);
      for (const MetEdges::Edge& edge : met[task].edges.span())
        to.add(place[edge.source], place[edge.target], edges.weight(i++));
      met[task].edges = {};
    });
    return Built{std::move(collector).finish(keys.size()), id_map_of(keys, context.budget)};
  });
}

template <class T>
Built built_of(const Strided<T>& sources, const Strided<T>& targets, const Strided<T>& listed,
               const ArrayEdges& edges) {
  const LoadOptions& options = edges.options;
  if (options.ids == IdMode::string)
    throw usage_error("ids = string is for names, and these ids are numbers; make strings of them first");
  const std::uint64_t largest =
      std::max({largest_of(sources, "source", edges.context), largest_of(targets, "target", edges.context),
                largest_of(listed, "listed vertex", edges.context)});
  if (options.vertices && sources.size > 0 && largest >= *options.vertices)
    throw bad_input("vertex {} in a graph of {} vertices, 0 to {}", largest, *options.vertices,
                    static_cast<std::int64_t>(*options.vertices) - 1);
  const std::uint64_t bound = sources.size + listed.size == 0 ? 0 : largest + 1;
  if (options.vertices) return indexed(sources, targets, options.vertices, bound, edges);
  if (options.ids == IdMode::dense) {
    if (largest >= max_vertices)
      throw bad_input("vertex {} is too large for dense ids (at most 4294967294); leave ids = dense out", largest);
    return indexed(sources, targets, bound, bound, edges);
  }
  if (listed.size == 0 && largest < sparse_from(sources.size))
    return indexed(sources, targets, std::nullopt, bound, edges);
  return interned<std::uint64_t>(sources, targets, listed, edges);
}

Built built_of(std::span<const std::string_view> sources, std::span<const std::string_view> targets,
               std::span<const std::string_view> listed, const ArrayEdges& edges) {
  const LoadOptions& options = edges.options;
  if (options.vertices || options.ids == IdMode::dense || options.ids == IdMode::sparse)
    throw usage_error("these ids are names; ids = dense or sparse, and a number of vertices, are for numbers");
  return interned<std::string_view>(sources, targets, listed, edges);
}

std::uint64_t count_of(const IdArray& ids) {
  return std::visit([](const auto& array) { return size_of(array); }, ids);
}

/// Waking others costs more than a few edges do.
int threads_for(std::uint64_t edges, const LoadOptions& options) {
  return options.threads == 0 && edges < stretch / 8 ? 1 : thread_count(options.threads);
}

void check_sizes(std::uint64_t sources, std::uint64_t targets, const ArrayEdges& edges) {
  if (sources != targets) throw usage_error("{} sources for {} targets", sources, targets);
  if (edges.weight_type != WeightType::none && edges.weights.size() != sources)
    throw usage_error("{} weights for {} edges", edges.weights.size(), sources);
  if (edges.options.vertices && *edges.options.vertices > max_vertices)
    throw usage_error("{} vertices: at most 2^32-1 are supported", *edges.options.vertices);
  if (edges.weight_type == WeightType::f32) check_weights(edges.weights, "weights", edges.context.threads);
}

/// Refuses before the work starts what cannot fit whatever its ids are.
void expect_to_fit(std::uint64_t count, const ArrayEdges& edges) {
  const bool          weighted = edges.weight_type != WeightType::none;
  const std::uint64_t arcs     = count * (edges.options.transform.undirected ? 2 : 1);
  const std::uint64_t vertices = edges.options.vertices.value_or(0);
  edges.context.budget->expect(
      edges.options.edges ? EdgeCollector::bytes_of(count, weighted) : building_bytes(vertices, arcs, weighted),
      fmt::format("a graph of {}", counted(count, "edge", "edges")));
}

/// Of the type that the others have; an empty array has any.
template <class Ids>
Ids as(const IdArray& ids) {
  if (const auto* same = std::get_if<Ids>(&ids)) return *same;
  if (count_of(ids) > 0) throw usage_error("sources, targets and listed vertices are of different types");
  return {};
}

}  // namespace

Graph from_edges(const IdArray& sources, const IdArray& targets, std::span<const std::uint32_t> weights,
                 WeightType weight_type, const LoadOptions& options, const IdArray& listed) {
  const Stopwatch clock;
  ArrayEdges      edges{weights,
                   weight_type,
                   options,
                   {.budget     = std::make_shared<MemoryBudget>(options.host_memory, options.temporary),
                         .transform  = options.transform,
                         .threads    = threads_for(count_of(sources), options),
                         .progress   = options.progress ? options.progress : &Progress::none(),
                         .directions = nullptr,
                         .outside    = nullptr,
                         .only       = {},
                         .edges      = options.edges,
                         .edges_to   = options.edges_to,
                         .name       = arrays_name}};
  if (options.edges) refuse_changes(options.transform, arrays_name);
  Built built = std::visit(
      [&]<class Ids>(const Ids&) {
        const Ids from = as<Ids>(sources), to = as<Ids>(targets), more = as<Ids>(listed);
        check_sizes(size_of(from), size_of(to), edges);
        expect_to_fit(size_of(from), edges);
        return built_of(from, to, more, edges);
      },
      count_of(sources) == 0 && count_of(listed) > 0 ? listed : sources);
  edges.context.progress->end();
  const Transform& transform = options.transform;
  Graph::Parts     parts;
  parts.edges = std::move(built.csr.edges);
  if (!parts.edges)
    parts.out = transform.symmetrize && !transform.dedup ? symmetrized(built.csr.csr, weight_type, edges.context)
                                                         : std::move(built.csr.csr);
  parts.ids               = std::move(built.ids);
  parts.weight_type       = weight_type;
  parts.symmetric         = transform.undirected || transform.symmetrize;
  parts.name              = arrays_name;
  parts.budget            = edges.context.budget;
  parts.report.format     = "arrays";
  parts.report.build_ms   = clock.milliseconds();
  parts.report.peak_bytes = edges.context.budget->peak();
  return Graph{std::move(parts)};
}

}  // namespace spillway
