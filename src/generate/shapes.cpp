// The plain shapes that tests and first steps need: a formula for edge i, and nothing random but weights.
#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"

namespace spillway {
namespace {

const Parameter vertices_parameter{"vertices", "number of vertices", ""};

NumberedEdges directed(std::uint64_t vertices, std::uint64_t edges) {
  return {.vertices = vertices, .numbers = edges, .edges = edges};
}

NumberedEdge edge(std::uint64_t source, std::uint64_t target) {
  return {static_cast<Vertex>(source), static_cast<Vertex>(target)};
}

Graph star(const ParameterValues& values, const GenerateOptions& options) {
  const std::uint64_t n     = Parameters{"star", values}.vertices();
  NumberedEdges       shape = directed(n, n - 1);
  shape.one_hub             = true;
  return build_graph(shape, options, [](std::uint64_t i) { return edge(0, i + 1); });
}

Graph chain(const ParameterValues& values, const GenerateOptions& options) {
  const std::uint64_t n = Parameters{"chain", values}.vertices();
  return build_graph(directed(n, n - 1), options, [](std::uint64_t i) { return edge(i, i + 1); });
}

Graph cycle(const ParameterValues& values, const GenerateOptions& options) {
  const std::uint64_t n = Parameters{"cycle", values}.vertices();
  return build_graph(directed(n, n), options, [n](std::uint64_t i) { return edge(i, i + 1 < n ? i + 1 : 0); });
}

Graph complete(const ParameterValues& values, const GenerateOptions& options) {
  const std::uint64_t n     = Parameters{"complete", values}.vertices();
  NumberedEdges       shape = directed(n, n * (n - 1) / 2);
  shape.undirected          = true;
  return build_graph(shape, options, [n](std::uint64_t i) { return complete_edge(n, i); });
}

Graph bipartite(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters    parameters{"bipartite", values};
  const std::uint64_t left = parameters.vertices("left"), right = parameters.vertices("right");
  if (left + right > max_vertices)
    throw usage_error("bipartite: --left is {} and --right {}; their sum, {}, must be at most {}", left, right,
                      left + right, max_vertices);
  return build_graph(directed(left + right, left * right), options,
                     [=](std::uint64_t i) { return edge(i / right, left + i % right); });
}

Graph tree(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters    parameters{"tree", values};
  const std::uint64_t n     = parameters.vertices();
  const std::uint64_t arity = parameters.number("arity", 1, max_vertices);
  return build_graph(directed(n, n - 1), options, [=](std::uint64_t i) { return edge(i / arity, i + 1); });
}

}  // namespace

Generator star_generator() {
  return {"star", "vertex 0 in the middle; arcs lead from it to all others", {vertices_parameter}, star};
}

Generator chain_generator() {
  return {"chain", "one path; arcs lead from each vertex to the next", {vertices_parameter}, chain};
}

Generator cycle_generator() {
  return {"cycle",
          "one ring; arcs lead from each vertex to the next, and from the last to 0",
          {vertices_parameter},
          cycle};
}

Generator complete_generator() {
  return {"complete", "every vertex joined to every other, both ways; undirected", {vertices_parameter}, complete};
}

Generator bipartite_generator() {
  return {"bipartite",
          "two sides, all of one joined to all of the other; arcs lead from left (the lower ids) to right",
          {{"left", "vertices on the left", ""}, {"right", "vertices on the right", ""}},
          bipartite};
}

Generator tree_generator() {
  return {"tree",
          "a complete tree filled level by level; arcs lead from parents to children, away from root 0",
          {vertices_parameter, {"arity", "children of a vertex", "2"}},
          tree};
}

}  // namespace spillway
