// A grid of streets: long diameter, small degrees, and, with some edges removed, much like a road network.
#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

/// Numbers 2v and 2v+1 are the edges of vertex v to the right and down, so that every row arrives in order.
class GridEdges {
 public:
  GridEdges(std::uint64_t rows, std::uint64_t columns, double remove, std::uint64_t seed)
      : rows_(rows), columns_(columns), remove_(remove), stream_(seed, RandomUse::removal) {}

  NumberedEdges shape() const {
    const std::uint64_t whole = rows_ * (columns_ - 1) + (rows_ - 1) * columns_;
    return {.vertices   = rows_ * columns_,
            .numbers    = 2 * rows_ * columns_,
            .edges      = static_cast<std::uint64_t>(static_cast<double>(whole) * (1 - remove_)),
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

Graph grid(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters    parameters{"grid", values};
  const std::uint64_t rows = parameters.vertices("rows"), columns = parameters.vertices("columns");
  if (rows * columns > max_vertices)
    throw usage_error("grid: --rows is {} and --columns {}; their product, {}, must be at most {}", rows, columns,
                      rows * columns, max_vertices);
  const GridEdges edge_at{rows, columns, parameters.real("remove", 0, 1), options.seed};
  return build_graph(edge_at.shape(), options, edge_at);
}

}  // namespace

Generator grid_generator() {
  return {"grid",
          "a rectangle in which each vertex has up to 4 neighbours, like a road network; undirected",
          {{"rows", "vertices from top to bottom", ""},
           {"columns", "vertices from left to right", ""},
           {"remove", "share of the edges left out, 0 to 1, chosen at random", "0"}},
          grid};
}

}  // namespace spillway
