// From Python's arrays, strings and options to graphs.
#pragma once

#include <nanobind/nanobind.h>

#include <spillway/graph.hpp>

namespace spillway::python {

void add_graphs(nanobind::module_& module);

}  // namespace spillway::python
