#include "plan/footprint.hpp"

namespace spillway {
namespace {

// What state, frontier and work lists may take together (docs/design.md, "Memory").
constexpr std::uint64_t state_bytes_per_vertex = 40;

// Where the parts of a row begin and end, where edges stay in host memory (docs/methods.md).
constexpr std::uint64_t place_bytes_per_vertex = 24;

}  // namespace

std::vector<Footprint> footprints(const Graph& graph) {
  const std::uint64_t n     = graph.vertex_count();
  const std::uint64_t arc   = graph.weight_type() == WeightType::none ? 4 : 8;
  const std::uint64_t rows  = (n + 1) * sizeof(EdgeIndex) + graph.arc_count() * arc;
  const std::uint64_t both  = graph.symmetric() ? rows : 2 * rows;
  const std::uint64_t state = n * state_bytes_per_vertex;
  return {{"cpu, out-edges", 0, rows + state},
          {"cpu, out- and in-edges", 0, both + state},
          {"gpu, all resident", both + state, 0},
          {"gpu, edges on host", state + n * place_bytes_per_vertex, both}};
}

}  // namespace spillway
