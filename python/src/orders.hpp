// Searches by one thread, where the order in which vertices are met is a part of the answer.
#pragma once

#include <nanobind/nanobind.h>

namespace spillway::python {

void add_orders(nanobind::module_& module);

}  // namespace spillway::python
