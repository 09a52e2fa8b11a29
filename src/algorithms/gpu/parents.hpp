// Shortest paths on a GPU: the engine finds the distances, and parents are looked for afterwards, since distances
// alone are half as wide, and the caches hold twice as many.
#pragma once

#include <spillway/algorithms.hpp>
#include <spillway/engine/executor.hpp>

namespace spillway::gpu {

template <class Distance>
struct ShortestPaths {
  Buffer<Distance> distances;
  Buffer<Vertex>   parents;
  RunStatistics    statistics;  ///< of the search for parents alone
};

/// `distances`: what a run has kept on its device. Whole numbers belong to whole weights, real ones to real
/// weights.
template <class Distance>
ShortestPaths<Distance> parents(const Graph& graph, Vertex source, const std::shared_ptr<Resident>& distances,
                                const RunOptions& options);

}  // namespace spillway::gpu
