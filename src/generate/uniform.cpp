// Uniform random graphs in the manner of Erdős & Rényi's G(n, m): both ends of every edge are drawn from all
// vertices, with replacement, like `urand` of the GAP benchmark suite.
#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

Graph uniform(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters    parameters{"uniform", values};
  const std::uint64_t vertices = parameters.vertices();
  const std::uint64_t edges    = vertices * parameters.degree();
  const RandomStream  stream{options.seed, RandomUse::topology};
  return build_graph({.vertices = vertices, .numbers = edges, .edges = edges}, options, [&](std::uint64_t number) {
    return NumberedEdge{static_cast<Vertex>(stream.below(2 * number, vertices)),
                        static_cast<Vertex>(stream.below(2 * number + 1, vertices))};
  });
}

}  // namespace

Generator uniform_generator() {
  return {"uniform",
          "both ends of every edge drawn from all vertices (Erdős–Rényi); directed, with loops and parallel edges",
          {{"vertices", "number of vertices", ""}, {"degree", "edges a vertex", "16"}},
          uniform};
}

}  // namespace spillway
