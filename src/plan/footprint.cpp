#include "plan/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "graph/build_size.hpp"
#include "graph/split.hpp"

namespace spillway {
namespace {

// What state, frontier and work lists may take together (docs/design.md, "Memory").
constexpr std::uint64_t state_bytes_per_vertex = 40;

// Where the parts of a row begin and end, where edges stay in host memory (docs/methods.md).
constexpr std::uint64_t place_bytes_per_vertex = 24;

/// Rows that a run makes before it begins, where the graph does not have them.
enum class Rows { as_they_are, in, simple };

/// What a run of one algorithm holds beside the graph's out-edges. tests/cli/budget_test.cpp holds every line to
/// what runs really take.
struct Demand {
  std::string_view name;
  Rows             rows;
  double           vertex;            ///< bytes for each vertex
  double           arc      = 0;      ///< bytes for each arc of those rows
  double           fixed    = 0;      ///< bytes, however small the graph
  bool             may_pull = false;  ///< --direction pull and --deterministic make in-edges necessary
  double           earlier  = 0;      ///< bytes for each vertex that are held while rows are made
};

// Slabs for each thread's buckets: how many vertices wait in them at once differs from run to run.
constexpr double sssp_bins = 2.25 * (1u << 20), kcore_bins = 0.75 * (1u << 20);

// clang-format off
constexpr std::array demands{
    Demand{"bc",                Rows::in,          60.5, 0, 0, false, 36},
    Demand{"bc split",          Rows::in,          68.5, 0, kcore_bins},
    Demand{"bfs",               Rows::as_they_are, 16.5, 0, 0, true},
    Demand{"bp",                Rows::simple,      48,   16, 0, false, 16},
    Demand{"bp vertex",         Rows::simple,      48,   0, 0, false, 16},
    Demand{"cc",                Rows::as_they_are, 8},
    Demand{"cc propagate",      Rows::in,          12.5},
    Demand{"cdlp",              Rows::in,          9,    0, 128u << 10},
    Demand{"crossedges",        Rows::as_they_are, 0.7},
    Demand{"degrees",           Rows::as_they_are, 16},
    Demand{"egonet",            Rows::as_they_are, 4.2},
    Demand{"induced",           Rows::as_they_are, 0.3},
    Demand{"kcore",             Rows::simple,      32,   0, kcore_bins},
    Demand{"lcc",               Rows::in,          47,   10},
    Demand{"neighborhood",      Rows::as_they_are, 4.2},
    Demand{"pagerank",          Rows::in,          20},
    Demand{"pagerank residual", Rows::as_they_are, 28.5, 0, 0, true},
    Demand{"ppr",               Rows::in,          20},
    Demand{"ppr residual",      Rows::as_they_are, 28.5, 0, 0, true},
    Demand{"radius",            Rows::in,          208.5},
    Demand{"scc",               Rows::in,          21.2},
    Demand{"ssnsp",             Rows::as_they_are, 40.5, 0, 0, true},
    Demand{"ssnsp accumulative", Rows::as_they_are, 68.5, 0, 0, true},
    Demand{"sssp",              Rows::as_they_are, 20.2, 0, sssp_bins, true},
    Demand{"sswp",              Rows::as_they_are, 20.1, 0, 0, true},
    Demand{"tc",                Rows::simple,      22,   2},
};
// clang-format on

// How rows share out what is built is not known before they are read: a part more for it.
constexpr std::uint64_t unknown_rows = 8;

// Each array is rounded up to pages.
constexpr double rounding_bytes = 32u << 10;

std::string value_of(const ParameterValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string{} : found->second;
}

/// The line for the form that was asked for; others of a form have a line of their own.
Demand demand_of(const std::string& algorithm, const ParameterValues& values, const GraphSize& size) {
  const std::string form = algorithm + " " + value_of(values, "form");
  Demand            found{algorithm, Rows::as_they_are, double{state_bytes_per_vertex}};
  for (const Demand& each : demands)
    if (each.name == algorithm || each.name == form) found = each;
  // With k states there are k priors and beliefs a vertex, and k - 1 ratios each way an arc; in the vertex form k
  // priors, and room for the next power of two of beliefs, which become columns.
  if (algorithm == "bp") {
    const std::string states = value_of(values, "states");
    const int         k      = states.empty() || states.size() > 1 ? 2 : std::max(states[0] - '0', 2);
    found.vertex = found.name == form ? 8 * k + 16 * static_cast<int>(std::bit_ceil(static_cast<unsigned>(k)))
                                      : found.vertex * k / 2;
    found.arc *= k - 1;
    found.earlier = 8 * k;  // priors
  }
  if (algorithm == "lcc" && size.symmetric) found.rows = Rows::simple, found.arc = 4;
  return found;
}

std::uint64_t scaled(double bytes, std::uint64_t count) {
  return static_cast<std::uint64_t>(bytes * static_cast<double>(count));
}

}  // namespace

GraphSize size_of(const Graph& graph) {
  return {.vertices    = graph.vertex_count(),
          .arcs        = graph.arc_count(),
          .weight_type = graph.weight_type(),
          .symmetric   = graph.symmetric(),
          .has_in      = graph.has_in(),
          .estimated   = false,
          .format      = graph.report().format};
}

GraphSize size_of_rows(const Graph& graph) {
  GraphSize size = size_of(graph);
  if (const SplitRows* const split = graph.split().get()) {
    size.vertices  = split->vertex_count();
    size.arcs      = split->arc_count();
    size.symmetric = false;
    size.has_in    = split->has_transposed();
  }
  return size;
}

RunMemory memory_of_run(const std::string& algorithm, const ParameterValues& values, const GraphSize& size,
                        const Graph* graph, int threads, bool pulls) {
  Demand demand = demand_of(algorithm, values, size);
  if (pulls && demand.may_pull) demand.rows = Rows::in;
  const bool      builds_in     = demand.rows == Rows::in && !size.symmetric && !size.has_in;
  const bool      builds_simple = demand.rows == Rows::simple;
  const bool      weighted      = builds_in && size.weight_type != WeightType::none;
  const EdgeIndex arcs          = builds_simple && !size.symmetric ? 2 * size.arcs : size.arcs;
  std::uint64_t   building = 0, rows = 0;
  if (builds_in || builds_simple) {
    BuildSize build{.vertices = size.vertices,
                    .arcs     = builds_simple ? 2 * size.arcs : arcs,
                    .weighted = weighted,
                    .threads  = threads};
    if (graph) build.largest_bucket = largest_bucket(graph->out(), true, threads);
    if (graph && builds_simple) build.largest_bucket += largest_bucket(graph->out(), false, threads);
    building = building_peak(build);
    if (!graph) building += building / unknown_rows;
    rows = rows_bytes(size.vertices, arcs, weighted);
  }
  const auto state = scaled(demand.vertex, size.vertices) + scaled(demand.arc, arcs) +
                     static_cast<std::uint64_t>(demand.fixed + rounding_bytes);
  return {.peak      = std::max(building + scaled(demand.earlier, size.vertices), rows + state),
          .builds_in = builds_in};
}

std::vector<Footprint> footprints(const GraphSize& size) {
  const std::uint64_t n     = size.vertices;
  const std::uint64_t arc   = size.weight_type == WeightType::none ? 4 : 8;
  const std::uint64_t rows  = (n + 1) * sizeof(EdgeIndex) + size.arcs * arc;
  const std::uint64_t both  = size.symmetric ? rows : 2 * rows;
  const std::uint64_t state = n * state_bytes_per_vertex;
  return {{"cpu, out-edges", 0, rows + state},
          {"cpu, out- and in-edges", 0, both + state},
          {"gpu, all resident", both + state, 0},
          {"gpu, edges on host", state + n * place_bytes_per_vertex, both}};
}

}  // namespace spillway
