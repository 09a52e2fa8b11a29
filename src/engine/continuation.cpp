#include "base/fail.hpp"

#include <spillway/run.hpp>

namespace spillway {

void detail::check_given_values(std::uint64_t given, const Graph& graph) {
  if (given != 0 && given != graph.vertex_count())
    throw usage_error("a run starts from {} values and the graph has {} vertices; give one a vertex, or none",
                      given, graph.vertex_count());
}

}  // namespace spillway
