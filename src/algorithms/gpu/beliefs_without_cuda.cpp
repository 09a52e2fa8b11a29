#include <spillway/error.hpp>
#include "algorithms/gpu/beliefs.hpp"

namespace spillway::gpu {

Beliefs beliefs_by_messages(const Graph&, const BeliefModel&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

Beliefs beliefs_by_vertices(const Graph&, const BeliefModel&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

}  // namespace spillway::gpu
