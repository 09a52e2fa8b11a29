#include <iostream>

#include <spillway/graph.hpp>

int main(int, char** argv) { std::cout << spillway::open(argv[1]).vertex_count() << " vertices\n"; }
