// One function a kind; generate.cpp lists them.
#pragma once

#include <spillway/generate.hpp>

namespace spillway {

Generator kronecker_generator();
Generator uniform_generator();
Generator grid_generator();
Generator preferential_generator();
Generator star_generator();
Generator chain_generator();
Generator cycle_generator();
Generator complete_generator();
Generator bipartite_generator();
Generator tree_generator();

}  // namespace spillway
