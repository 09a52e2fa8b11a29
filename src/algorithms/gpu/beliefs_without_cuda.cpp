#include "algorithms/gpu/beliefs.hpp"
#include "devices/devices.hpp"

namespace spillway::gpu {

Beliefs beliefs_by_messages(const Graph&, const BeliefModel&, const RunOptions&) { refuse_gpu(); }

}  // namespace spillway::gpu
