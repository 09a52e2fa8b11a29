// The ways to find weakly connected components. Each labels every vertex with the smallest one of its component.
#pragma once

#include <span>

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>
#include <spillway/options.hpp>
#include <spillway/plan.hpp>
#include <spillway/result.hpp>

namespace spillway {

struct Components {
  Buffer<Vertex> labels;
  RunStatistics  statistics;
};

/// The label that most of a small sample has; always the same one for the same labels, of which there is at least
/// one.
Vertex frequent_label(std::span<const Vertex> labels);

struct ComponentSizes {
  std::uint64_t components = 0;
  std::uint64_t largest    = 0;
};

/// Of labels that are vertices of their components.
ComponentSizes component_sizes(std::span<const Vertex> labels, const Graph& graph, int threads);

/// By whatever is fastest for this graph; and what that would be.
Components weak_components(const Graph& graph, const RunOptions& options);
Plan       plan_weak_components(const Graph& graph, const RunOptions& options);

Components components_by_afforest(const Graph& graph, const RunOptions& options);
Components components_by_propagation(const Graph& graph, const RunOptions& options);
Plan       plan_propagation(const Graph& graph, const RunOptions& options);

}  // namespace spillway
