#include "algorithms/gpu/parents.hpp"

#include <spillway/error.hpp>

namespace spillway::gpu {

template <class Distance>
ShortestPaths<Distance> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

template ShortestPaths<std::uint32_t> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&,
                                              const RunOptions&);
template ShortestPaths<double> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&);

}  // namespace spillway::gpu
