// One function an algorithm; registry.cpp lists them.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

Algorithm bc_algorithm();
Algorithm bfs_algorithm();
Algorithm degrees_algorithm();
Algorithm kcore_algorithm();
Algorithm pagerank_algorithm();
Algorithm ppr_algorithm();
Algorithm radius_algorithm();
Algorithm ssnsp_algorithm();
Algorithm sssp_algorithm();
Algorithm sswp_algorithm();

}  // namespace spillway
