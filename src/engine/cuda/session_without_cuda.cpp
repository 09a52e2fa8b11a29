// Without kernels there is nothing to bring edges to.
#include "supply/methods.hpp"

namespace spillway::cuda {

MakeSupply* const supply_resident   = nullptr;
MakeSupply* const supply_in_place   = nullptr;
MakeSupply* const supply_in_windows = nullptr;
MakeSupply* const supply_pages      = nullptr;
MakeSupply* const supply_edges      = nullptr;

}  // namespace spillway::cuda
