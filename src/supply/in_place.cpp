// Edges in host memory that a GPU reads in place, as far as they do not fit its own (EMOGI's zero-copy).
#include "supply/methods.hpp"

namespace spillway {

const SupplyMethod& in_place_method() {
  static const SupplyMethod method{{.name           = "zerocopy",
                                    .help           = "in host memory that the GPU reads in place",
                                    .requires_gpu   = true,
                                    .reads_in_place = true,
                                    .compresses     = true,
                                    .chosen_by_auto = true},
                                   nullptr,
                                   cuda::supply_in_place};
  return method;
}

Method edges_in_place() { return Method{in_place_method()}; }

}  // namespace spillway
