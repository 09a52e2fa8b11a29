#include "adjacency.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spillway/types.hpp>

#include "convert.hpp"

namespace spillway::python {
namespace {

constexpr std::size_t look_every = 1u << 16;  // entries between two looks for Ctrl-C, while Python is locked

/// visit(key, value) of each entry of each dictionary, in their order, as long as it is true; begin(entries)
/// before each of them. A visit may run any program of Python's, if it holds what it uses: a dictionary that
/// changes is noticed.
template <class Begin, class Visit>
void for_each_entry(const nb::list& rows, Begin&& begin, Visit&& visit) {
  std::size_t visited = 0;
  for (const nb::handle row : rows) {
    if (!PyDict_Check(row.ptr())) throw nb::type_error("a dictionary of neighbors is expected");
    const auto entries = static_cast<std::uint64_t>(PyDict_Size(row.ptr()));
    begin(entries);
    Py_ssize_t    at   = 0;
    std::uint64_t seen = 0;
    PyObject *    key = nullptr, *value = nullptr;
    for (; PyDict_Next(row.ptr(), &at, &key, &value); ++seen) {
      if (!visit(key, value)) return;
      if (++visited % look_every == 0 && PyErr_CheckSignals() != 0) nb::raise_python_error();
    }
    if (seen != entries) throw std::runtime_error("the graph changed while it was read");
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
    const nb::object held  = nb::borrow(node);
    PyObject* const  place = PyDict_GetItemWithError(index_.ptr(), node);
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
        return true;
      });
  return nb::make_tuple(array_of(std::move(offsets)), array_of(std::move(targets)));
}

/// Numbers of Python: whole ones as long as all are. What 64 bits do not hold as it is, is refused.
class Numbers {
 public:
  bool add(PyObject* value) {
    if (PyFloat_Check(value)) return add_real(PyFloat_AsDouble(value));
    if (!PyIndex_Check(value)) return false;
    const nb::object index = nb::steal(PyNumber_Index(value));  // NumPy's own, too
    const long long  whole = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
    if (whole == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
    exact_ = exact_ && whole >= -exact_in_doubles && whole <= exact_in_doubles;
    if (!is_real_) return whole_.push_back(whole), true;
    return real_.push_back(static_cast<double>(whole)), exact_;
  }
  nb::object array() && { return is_real_ ? array_of(std::move(real_)) : array_of(std::move(whole_)); }

 private:
  static constexpr long long exact_in_doubles = 1LL << 53;

  bool add_real(double value) {
    if (!is_real_) real_.assign(whole_.begin(), whole_.end()), whole_ = {}, is_real_ = true;
    real_.push_back(value);
    return exact_;
  }

  bool                      is_real_ = false, exact_ = true;  ///< whole ones would be, as doubles
  std::vector<std::int64_t> whole_;
  std::vector<double>       real_;
};

/// Of each entry of each row, dictionaries of attributes, the one of this name, or 1. None: not all are numbers,
/// or dictionaries. And how many had it.
nb::tuple numbers_of_dictionaries(const nb::list& rows, nb::handle attribute) {
  Numbers          numbers;
  bool             all   = true;
  std::uint64_t    found = 0;
  const nb::object one   = nb::cast(1);
  for_each_entry(
      rows, [](std::uint64_t) {},
      [&](PyObject*, PyObject* attributes) {
        if (!PyDict_CheckExact(attributes)) return all = false;  // others may answer as they like
        const nb::object held       = nb::borrow(attributes);
        PyObject* const  value      = PyDict_GetItemWithError(attributes, attribute.ptr());
        const nb::object held_value = nb::borrow(value);
        if (!value && PyErr_Occurred()) nb::raise_python_error();
        found += value != nullptr;
        return all = numbers.add(value ? value : one.ptr());
      });
  return nb::make_tuple(all ? std::move(numbers).array() : nb::none(), found);
}

}  // namespace

void add_adjacency(nb::module_& module) {
  module.def("rows_of_dictionaries", &rows_of_dictionaries, nb::arg("rows"), nb::arg("index"),
             nb::arg("places_are_names"));
  module.def("numbers_of_dictionaries", &numbers_of_dictionaries, nb::arg("rows"), nb::arg("attribute"));
}

}  // namespace spillway::python
