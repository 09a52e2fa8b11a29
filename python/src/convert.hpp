// Text and small options on their way between Python and C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::python {

namespace nb = nanobind;

/// Names may hold any bytes: those that are no UTF-8 come to Python as os.fsdecode has them, and back.
nb::str text_of(std::string_view bytes);

/// Names of vertices. Views are of the strings themselves, which `keep` holds.
struct Names {
  std::vector<std::string_view> views;
  nb::object                    keep;
};
Names names_of(const nb::list& strings);

/// TypeError or OverflowError, by what is wrong with it.
[[noreturn]] void refuse_option(const char* name, nb::handle value);

/// Entries of an option, by its name; what Python leaves out is None.
template <class T>
T option(const nb::dict& options, const char* name, T otherwise) {
  const nb::handle value = PyDict_GetItemString(options.ptr(), name);
  if (!value.is_valid() || value.is_none()) return otherwise;
  try {
    return nb::cast<T>(value);
  } catch (const nb::cast_error&) {
    refuse_option(name, value);
  }
}

/// "4GiB" or a number of bytes; 0 where nothing is given.
std::uint64_t size_option(const nb::dict& options, const char* name);

/// An array of NumPy over memory that `keeper` holds, which nobody may write to.
template <class T>
nb::object array_of(std::span<const T> values, std::shared_ptr<const void> keeper) {
  using Keeper = std::shared_ptr<const void>;
  const nb::capsule  owner{new Keeper{std::move(keeper)},
                          [](void* held) noexcept { delete static_cast<Keeper*>(held); }};
  static constexpr T none{};  // NumPy wants an address
  const T* const     data = values.empty() ? &none : values.data();
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>{data, {values.size()}, owner});
}

/// One that takes the vector over.
template <class T>
nb::object array_of(std::vector<T> values) {
  const auto keeper = std::make_shared<const std::vector<T>>(std::move(values));
  return array_of(std::span<const T>{*keeper}, keeper);
}

}  // namespace spillway::python
