#include "algorithms/gpu/parents.hpp"
#include "devices/devices.hpp"

namespace spillway::gpu {

template <class Distance>
ShortestPaths<Distance> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&) {
  refuse_gpu();
}

template ShortestPaths<std::uint32_t> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&,
                                              const RunOptions&);
template ShortestPaths<double> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&);

}  // namespace spillway::gpu
