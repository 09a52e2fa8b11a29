// Preferential attachment (Barabási & Albert, Science 1999): new vertices prefer neighbours of high degree.
// Batagelj & Brandes (2005) draw a place of the array of all ends so far, where a vertex stands as often as
// its degree. Sanders & Schulz, "Scalable generation of scale-free graphs" (2016) need no array: what stands
// at a place is found by repeating the draws that filled it, so every edge can be made on its own.
#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

/// The first degree+1 vertices are all joined; each later one brings `degree` edges to earlier ones.
/// Edge e fills places 2e (its new vertex) and 2e+1 (the one it attaches to) of the array of ends.
class PreferentialEdges {
 public:
  PreferentialEdges(std::uint64_t vertices, std::uint64_t degree, std::uint64_t seed)
      : vertices_(vertices),
        degree_(degree),
        core_(std::min(vertices, degree + 1)),
        core_edges_(core_ * (core_ - 1) / 2),
        stream_(seed, RandomUse::topology) {}

  NumberedEdges shape() const {
    const std::uint64_t edges = core_edges_ + (vertices_ - core_) * degree_;
    return {.vertices = vertices_, .numbers = edges, .edges = edges, .undirected = true};
  }

  NumberedEdge operator()(std::uint64_t number) const {
    if (number < core_edges_) return complete_edge(core_, number);
    return {newcomer(number), attached(number)};
  }

 private:
  Vertex newcomer(std::uint64_t edge) const { return static_cast<Vertex>(core_ + (edge - core_edges_) / degree_); }

  /// Follows draws back until one hits a place whose vertex is plain; half of them do.
  Vertex attached(std::uint64_t edge) const {
    while (edge >= core_edges_) {
      // Ends of the newcomer's own edges do not count, which rules out loops.
      const std::uint64_t earlier = edge - (edge - core_edges_) % degree_;
      const std::uint64_t place   = stream_.below(edge, 2 * earlier);
      edge                        = place / 2;
      if (place % 2 == 0) return edge < core_edges_ ? complete_edge(core_, edge).source : newcomer(edge);
    }
    return complete_edge(core_, edge).target;
  }

  std::uint64_t vertices_;
  std::uint64_t degree_;
  std::uint64_t core_;
  std::uint64_t core_edges_;
  RandomStream  stream_;
};

Graph preferential(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters        parameters{"ba", values};
  const PreferentialEdges edge_at{parameters.vertices(), parameters.degree(), options.seed};
  return build_graph(edge_at.shape(), options, edge_at);
}

}  // namespace

Generator preferential_generator() {
  return {"ba",
          "preferential attachment (Barabási–Albert): each new vertex joins well connected ones; undirected, "
          "connected, "
          "without loops but with some parallel edges",
          {{"vertices", "number of vertices", ""}, {"degree", "edges that each new vertex brings", "8"}},
          preferential};
}

}  // namespace spillway
