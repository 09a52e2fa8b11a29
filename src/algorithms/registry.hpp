// One function an algorithm; registry.cpp lists them.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

Algorithm bp_algorithm();
Algorithm cc_algorithm();
Algorithm degrees_algorithm();

}  // namespace spillway
