// One function an algorithm; registry.cpp lists them.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

Algorithm bc_algorithm();
Algorithm bfs_algorithm();
Algorithm bp_algorithm();
Algorithm cc_algorithm();
Algorithm cdlp_algorithm();
Algorithm crossedges_algorithm();
Algorithm degrees_algorithm();
Algorithm egonet_algorithm();
Algorithm induced_algorithm();
Algorithm kcore_algorithm();
Algorithm lcc_algorithm();
Algorithm neighborhood_algorithm();
Algorithm pagerank_algorithm();
Algorithm ppr_algorithm();
Algorithm radius_algorithm();
Algorithm scc_algorithm();
Algorithm ssnsp_algorithm();
Algorithm sssp_algorithm();
Algorithm sswp_algorithm();
Algorithm tc_algorithm();

}  // namespace spillway
