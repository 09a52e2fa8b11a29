// A grid of streets: long diameter, small degrees, and, with some edges removed, much like a road network. Some
// streets, or all, may lead one way only; the graph is directed then.
#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

/// Streets 2v and 2v+1 are those of vertex v to the right and down, so that every row arrives in order.
class GridEdges {
 public:
  GridEdges(std::uint64_t rows, std::uint64_t columns, double remove, std::uint64_t seed)
      : rows_(rows), columns_(columns), remove_(remove), stream_(seed, RandomUse::removal) {}

  /// Expected.
  double streets() const {
    return static_cast<double>(rows_ * (columns_ - 1) + (rows_ - 1) * columns_) * (1 - remove_);
  }

  NumberedEdges shape() const {
    return {.vertices   = rows_ * columns_,
            .numbers    = 2 * rows_ * columns_,
            .edges      = static_cast<std::uint64_t>(streets()),
            .undirected = true};
  }

  NumberedEdge operator()(std::uint64_t number) const {
    const std::uint64_t v    = number / 2;
    const bool          down = number % 2 == 1;
    const bool          last = down ? v + columns_ >= rows_ * columns_ : (v + 1) % columns_ == 0;
    if (last || stream_.unit(number) < remove_) return no_edge;
    return {static_cast<Vertex>(v), static_cast<Vertex>(down ? v + columns_ : v + 1)};
  }

 private:
  std::uint64_t rows_;
  std::uint64_t columns_;
  double        remove_;
  RandomStream  stream_;
};

/// The same streets, each with an arc for every way that it leads. Numbers 4v to 4v+3 are the arcs from vertex v
/// up, left, right and down: rows arrive in order, too.
class GridArcs {
 public:
  GridArcs(const GridEdges& edges, std::uint64_t columns, double one_way, std::uint64_t seed)
      : edges_(edges), columns_(columns), one_way_(one_way), stream_(seed, RandomUse::topology) {}

  NumberedEdges shape() const {
    NumberedEdges shape = edges_.shape();
    shape.numbers *= 2;
    shape.edges      = static_cast<std::uint64_t>(edges_.streets() * (2 - one_way_));
    shape.undirected = false;
    return shape;
  }

  NumberedEdge operator()(std::uint64_t number) const {
    const std::uint64_t v = number / 4, way = number % 4;
    const bool          back = way < 2, vertical = way == 0 || way == 3;
    const std::uint64_t step = vertical ? columns_ : 1;
    if (back && v < step) return no_edge;
    const std::uint64_t street = 2 * (back ? v - step : v) + (vertical ? 1 : 0);
    const NumberedEdge  edge   = edges_(street);
    if (edge.source == no_vertex || !leads(street, back)) return no_edge;
    return back ? NumberedEdge{edge.target, edge.source} : edge;
  }

 private:
  bool leads(std::uint64_t street, bool back) const {
    if (stream_.unit(2 * street) >= one_way_) return true;
    return (stream_.below(2 * street + 1, 2) == 1) == back;
  }

  GridEdges     edges_;
  std::uint64_t columns_;
  double        one_way_;
  RandomStream  stream_;
};

Graph grid(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters    parameters{"grid", values};
  const std::uint64_t rows = parameters.vertices("rows"), columns = parameters.vertices("columns");
  if (rows * columns > max_vertices)
    throw usage_error("grid: --rows is {} and --columns {}; their product, {}, must be at most {}", rows, columns,
                      rows * columns, max_vertices);
  const GridEdges edge_at{rows, columns, parameters.real("remove", 0, 1), options.seed};
  const double    one_way = parameters.real("one-way", 0, 1);
  if (one_way > 0 && options.transform.undirected)
    throw usage_error("grid: --one-way makes a directed graph; leave it out, or --undirected");
  if (one_way == 0) return build_graph(edge_at.shape(), options, edge_at);
  const GridArcs arc_at{edge_at, columns, one_way, options.seed};
  return build_graph(arc_at.shape(), options, arc_at);
}

}  // namespace

Generator grid_generator() {
  return {
      "grid",
      "a rectangle in which each vertex has up to 4 neighbours, like a road network; undirected, or directed with "
      "--one-way, each arc with a weight of its own",
      {{"rows", "vertices from top to bottom", ""},
       {"columns", "vertices from left to right", ""},
       {"remove", "share of the edges left out, 0 to 1, chosen at random", "0"},
       {"one-way", "share of the edges that lead one way only, 0 to 1, either way at random", "0"}},
      grid};
}

}  // namespace spillway
