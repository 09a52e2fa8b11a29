// Rows on the device as the algorithms here read them: looked up in, and out- and in-edges taken together.
#pragma once

#include "algorithms/gpu/session.cuh"

namespace spillway::gpu {

/// Where `v` is in an ascending row, or would be.
__device__ inline EdgeIndex place_in(const Vertex* row, EdgeIndex length, Vertex v) {
  return partition_point(EdgeIndex{0}, length, [&](EdgeIndex i) { return row[i] < v; });
}

__device__ inline bool contains(const Vertex* row, EdgeIndex length, Vertex v) {
  const EdgeIndex place = place_in(row, length, v);
  return place < length && row[place] == v;
}

/// A vertex's neighbours as often as arcs lead to or from them: first those of the out-edges.
struct Neighbors {
  const Vertex* out;
  const Vertex* in;
  EdgeIndex     out_degree;
  EdgeIndex     degree;  ///< of both sides

  __device__ Vertex    operator[](EdgeIndex i) const { return i < out_degree ? out[i] : in[i - out_degree]; }
  __device__ EdgeIndex in_degree() const { return degree - out_degree; }
};

/// Out- and in-edges of a directed graph, out-edges of a symmetric one.
struct Neighborhoods {
  Rows out;
  Rows in;  ///< of a symmetric graph: none

  __device__ EdgeIndex degree(Vertex v) const {
    return out.degree(v) + (in.offsets != nullptr ? in.degree(v) : 0);
  }
  __device__ Neighbors of(Vertex v) const {
    const EdgeIndex leaving = out.degree(v);
    if (in.offsets == nullptr) return {out.targets + out.offsets[v], nullptr, leaving, leaving};
    return {out.targets + out.offsets[v], in.targets + in.offsets[v], leaving, leaving + in.degree(v)};
  }
};

inline Neighborhoods neighborhoods_of(const RowsOfSides& rows) {
  return {rows.push[0], rows.pull.empty() ? Rows{} : rows.pull[0]};
}

/// Counts of a result, on the host.
inline Buffer<std::uint64_t> downloaded(cuda::Device& device, const DeviceArray<Count>& counts,
                                        const Graph& graph) {
  static_assert(sizeof(Count) == sizeof(std::uint64_t));
  Buffer<std::uint64_t> result{counts.size(), graph.budget(), "the result"};
  if (counts.size() > 0) device.download(result.data(), counts.data(), counts.size() * sizeof(Count));
  return result;
}

}  // namespace spillway::gpu
