// One function an algorithm; registry.cpp lists them.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

Algorithm crossedges_algorithm();
Algorithm degrees_algorithm();
Algorithm egonet_algorithm();
Algorithm induced_algorithm();
Algorithm neighborhood_algorithm();
Algorithm scc_algorithm();

}  // namespace spillway
