// A read-only array that shares its memory: owned, memory-mapped or borrowed, the reader cannot tell.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace spillway {

template <class T>
class Array {
 public:
  Array() = default;
  /// `keeper` holds the memory alive; an empty one means that the caller does.
  Array(std::span<const T> view, std::shared_ptr<const void> keeper) : view_(view), keeper_(std::move(keeper)) {}

  /// Takes the vector over.
  static Array own(std::vector<T> values) {
    auto keeper = std::make_shared<const std::vector<T>>(std::move(values));
    return {*keeper, keeper};
  }

  const T*           data() const { return view_.data(); }
  std::size_t        size() const { return view_.size(); }
  bool               empty() const { return view_.empty(); }
  const T&           operator[](std::size_t i) const { return view_[i]; }
  const T*           begin() const { return view_.data(); }
  const T*           end() const { return view_.data() + view_.size(); }
  std::span<const T> span() const { return view_; }

 private:
  std::span<const T>          view_;
  std::shared_ptr<const void> keeper_;
};

}  // namespace spillway
