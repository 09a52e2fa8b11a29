// What a run that does not fit tells: the host memory that suffices for all of it, and what else can be done.
#pragma once

#include <spillway/engine/memory.hpp>

#include "base/files.hpp"
#include "cli/run.hpp"
#include "graph/graph_size.hpp"

namespace spillway::cli {

/// A refusal while the graph is loaded, raised to what loading and running need.
MemoryRefusal explained(const LoadRefusal& refusal, const RunArguments& arguments, const Common& common);

/// Whether the graph has those of --weights already.
enum class Weights { there, to_come };

/// A refusal of a run on a loaded graph, beside which `held` bytes were held when it began.
MemoryRefusal explained(const MemoryRefusal& refusal, const RunArguments& arguments, const ParameterValues& values,
                        const Graph& graph, std::uint64_t held, const Common& common,
                        Weights weights = Weights::there);

/// Calls body(), which runs the algorithm on the graph.
template <class Body>
auto within_memory(const RunArguments& arguments, const ParameterValues& values, const Graph& graph,
                   const Common& common, Body&& body) {
  const std::uint64_t held = graph.budget()->used();
  try {
    return body();
  } catch (const MemoryRefusal& refusal) {
    check_mapped_files();  // a file that changes may ask for any amount
    throw explained(refusal, arguments, values, graph, held, common);
  }
}

}  // namespace spillway::cli
