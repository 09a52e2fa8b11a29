#include <spillway/plugin.hpp>

using namespace spillway;

static Result run(const Graph& graph, const ParameterValues&, const RunOptions&) {
  Result result;
  result.columns.push_back(
      {.name = "seven", .values = Array<std::uint32_t>::own(std::vector<std::uint32_t>(graph.vertex_count(), 7))});
  return result;
}

SPILLWAY_PLUGIN({.name = "seven", .columns = {{"seven", "always 7"}}, .run = run})
