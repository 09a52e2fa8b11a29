// Breadth-first search as one queue does it, for who asks in what order vertices are met.
#pragma once

#include <nanobind/nanobind.h>

namespace spillway::python {

void add_queue_order(nanobind::module_& module);

}  // namespace spillway::python
