// The extension module: what the package is made of, and how errors become Python's.
#include <nanobind/nanobind.h>

#include <exception>

#include <spillway/error.hpp>
#include <spillway/version.hpp>

#include "adjacency.hpp"
#include "answers.hpp"
#include "convert.hpp"
#include "graphs.hpp"
#include "orders.hpp"
#include "work.hpp"

namespace spillway::python {
namespace {

/// The class in spillway/errors.py.
const char* class_of(const Error& error) {
  if (dynamic_cast<const DeviceError*>(&error)) return "DeviceError";
  switch (error.code()) {
    case ExitCode::usage:
      return "UsageError";
    case ExitCode::bad_input:
      return "BadInput";
    case ExitCode::does_not_fit:
      return "DoesNotFit";
    default:
      return "Error";
  }
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) return PyErr_SetNone(PyExc_KeyboardInterrupt);
    const nb::object type = nb::module_::import_("spillway.errors").attr(class_of(error));
    PyErr_SetObject(type.ptr(), text_of(error.what()).ptr());
  }
}

}  // namespace
}  // namespace spillway::python

NB_MODULE(_core, module) {
  namespace sp = spillway::python;
  nanobind::set_leak_warnings(false);  // whoever ends the interpreter may hold graphs
  nanobind::register_exception_translator(sp::translate);
  module.attr("version") = SPILLWAY_VERSION;
  sp::add_graphs(module);
  sp::add_answers(module);
  sp::add_orders(module);
  sp::add_adjacency(module);
  module.def("finish_all_work", &sp::finish_all_work);
}
