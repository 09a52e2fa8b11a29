// Graphs as dictionaries of neighbours, as NetworkX keeps them: read entry by entry, without Python's interpreter.
#pragma once

#include <nanobind/nanobind.h>

namespace spillway::python {

void add_adjacency(nanobind::module_& module);

}  // namespace spillway::python
