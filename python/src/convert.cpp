#include "convert.hpp"

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway::python {

nb::str text_of(std::string_view bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

Names names_of(const nb::list& strings) {
  Names    names;
  nb::list encoded;  // of strings that are no UTF-8
  names.views.reserve(nb::len(strings));
  for (const nb::handle each : strings) {
    Py_ssize_t  size = 0;
    const char* text = PyUnicode_Check(each.ptr()) ? PyUnicode_AsUTF8AndSize(each.ptr(), &size) : nullptr;
    if (!text) {
      if (!PyUnicode_Check(each.ptr())) throw nb::type_error("vertex ids are strings here, and one is not");
      PyErr_Clear();
      const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(each.ptr(), "utf-8", "surrogateescape"));
      if (!bytes.is_valid()) nb::raise_python_error();
      encoded.append(bytes);
      text = PyBytes_AsString(bytes.ptr()), size = PyBytes_Size(bytes.ptr());
    }
    names.views.emplace_back(text, static_cast<std::size_t>(size));
  }
  names.keep = nb::make_tuple(strings, encoded);
  return names;
}

std::uint64_t size_option(const nb::dict& options, const char* name) {
  const nb::handle value = PyDict_GetItemString(options.ptr(), name);
  if (!value.is_valid() || value.is_none()) return 0;
  const auto text  = nb::cast<std::string>(nb::str(value));
  const auto bytes = parse_size(text);
  if (!bytes || *bytes == 0 || *bytes == size_too_large)
    throw usage_error("{} takes a number of bytes or a size such as '4GiB' or '512M', not '{}'", name,
                      printable(text));
  return *bytes;
}

void refuse_option(const char* name, nb::handle value) {
  PyErr_Format(PyExc_TypeError, "%s is %R, which is of a wrong kind or out of range", name, value.ptr());
  nb::raise_python_error();
}

}  // namespace spillway::python
