#include "adjacency.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <spillway/types.hpp>

#include "convert.hpp"

namespace spillway::python {
namespace {

constexpr std::size_t look_every = 1u << 16;  // entries between two looks for Ctrl-C, while Python is locked

void look_for_signals(std::size_t entries) {
  if (entries % look_every == 0 && PyErr_CheckSignals() != 0) nb::raise_python_error();
}

/// visit(key, value) of each entry of each dictionary, in their order; begin(entries) before each of them.
template <class Begin, class Visit>
void for_each_entry(const nb::list& rows, Begin&& begin, Visit&& visit) {
  for (const nb::handle row : rows) {
    if (!PyDict_Check(row.ptr())) throw nb::type_error("a dictionary of neighbors is expected");
    begin(static_cast<std::uint64_t>(PyDict_Size(row.ptr())));
    Py_ssize_t at  = 0;
    PyObject * key = nullptr, *value = nullptr;
    while (PyDict_Next(row.ptr(), &at, &key, &value)) visit(key, value);
  }
}

/// Where a node is; those that are called by their places are not looked up.
class Places {
 public:
  Places(const nb::dict& index, bool are_names) : index_(index), count_(nb::len(index)), are_names_(are_names) {}

  Vertex operator()(PyObject* node) const {
    if (are_names_ && PyLong_CheckExact(node)) {
      const long place = PyLong_AsLong(node);
      if (place >= 0 && static_cast<std::size_t>(place) < count_) return static_cast<Vertex>(place);
      PyErr_Clear();
    }
    PyObject* const place = PyDict_GetItemWithError(index_.ptr(), node);
    if (!place && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, node);
    if (!place) nb::raise_python_error();
    return nb::cast<Vertex>(nb::handle{place});
  }

 private:
  nb::dict    index_;
  std::size_t count_;
  bool        are_names_;  ///< index[i] is i for every i
};

/// Offsets of the rows and places of all neighbours.
nb::tuple rows_of_dictionaries(const nb::list& rows, const nb::dict& index, bool places_are_names) {
  const Places               place_of{index, places_are_names};
  std::vector<std::uint64_t> offsets{0};
  std::vector<Vertex>        targets;
  offsets.reserve(nb::len(rows) + 1);
  for_each_entry(
      rows, [&](std::uint64_t entries) { offsets.push_back(offsets.back() + entries); },
      [&](PyObject* node, PyObject*) {
        targets.push_back(place_of(node));
        look_for_signals(targets.size());
      });
  return nb::make_tuple(array_of(std::move(offsets)), array_of(std::move(targets)));
}

/// Numbers of Python: whole ones as long as all are, for as far as 64 bits hold them.
class Numbers {
 public:
  /// False: it is none, or larger.
  bool add(PyObject* value) {
    if (PyFloat_Check(value)) {
      become_real();
      real_.push_back(PyFloat_AsDouble(value));
      return true;
    }
    if (!PyLong_Check(value)) return false;
    const long long whole = PyLong_AsLongLong(value);
    if (whole == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
    is_real_ ? real_.push_back(static_cast<double>(whole)) : whole_.push_back(whole);
    return true;
  }
  std::size_t size() const { return is_real_ ? real_.size() : whole_.size(); }
  nb::object  array() && { return is_real_ ? array_of(std::move(real_)) : array_of(std::move(whole_)); }

 private:
  void become_real() {
    if (is_real_) return;
    real_.assign(whole_.begin(), whole_.end());
    whole_   = {};
    is_real_ = true;
  }

  bool                      is_real_ = false;
  std::vector<std::int64_t> whole_;
  std::vector<double>       real_;
};

/// Of each entry of each row, dictionaries of attributes, the one of this name, or 1. None: not all are numbers.
nb::object numbers_of_dictionaries(const nb::list& rows, nb::handle attribute) {
  Numbers          numbers;
  bool             all = true;
  const nb::object one = nb::cast(1);
  for_each_entry(
      rows, [](std::uint64_t) {},
      [&](PyObject*, PyObject* attributes) {
        if (!all) return;
        PyObject* value = PyDict_Check(attributes) ? PyDict_GetItemWithError(attributes, attribute.ptr()) : nullptr;
        if (!value && PyErr_Occurred()) nb::raise_python_error();
        all = PyDict_Check(attributes) && numbers.add(value ? value : one.ptr());
        look_for_signals(numbers.size());
      });
  return all ? std::move(numbers).array() : nb::none();
}

}  // namespace

void add_adjacency(nb::module_& module) {
  module.def("rows_of_dictionaries", &rows_of_dictionaries, nb::arg("rows"), nb::arg("index"),
             nb::arg("places_are_names"));
  module.def("numbers_of_dictionaries", &numbers_of_dictionaries, nb::arg("rows"), nb::arg("attribute"));
}

}  // namespace spillway::python
