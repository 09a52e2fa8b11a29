// Algorithms, what they answer and what they would do, as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace spillway::python {

void add_answers(nanobind::module_& module);

}  // namespace spillway::python
