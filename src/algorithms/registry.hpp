// One function an algorithm; registry.cpp lists them.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

Algorithm cdlp_algorithm();
Algorithm degrees_algorithm();
Algorithm lcc_algorithm();
Algorithm tc_algorithm();

}  // namespace spillway
