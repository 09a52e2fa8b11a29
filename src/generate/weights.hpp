// Random weights of numbered edges.
#pragma once

#include <bit>

#include "generate/random.hpp"

#include <spillway/generate.hpp>

namespace spillway {

/// weights(i): the bits of edge i's weight, uniform from weight_min to weight_max.
class WeightDraw {
 public:
  /// Throws Error{usage} if the range cannot be had with the type.
  explicit WeightDraw(const GenerateOptions& options);

  std::uint32_t operator()(std::uint64_t number) const {
    if (type_ == WeightType::none) return 0;
    return type_ == WeightType::u32 ? whole(number) : std::bit_cast<std::uint32_t>(real(number));
  }

 private:
  std::uint32_t whole(std::uint64_t number) const {
    return least_ + static_cast<std::uint32_t>(stream_.below(number, choices_));
  }

  /// The product of two 24-bit numbers is exact in a double: fused or not, every machine gets this weight.
  float real(std::uint64_t number) const {
    const double share  = static_cast<double>(stream_.bits(number) >> 40) * 0x1p-24;
    const auto   weight = static_cast<float>(low_ + share * span_);
    return weight < limit_ ? weight : last_;
  }

  RandomStream  stream_;
  WeightType    type_;
  std::uint32_t least_   = 0;  // u32: the lightest, and how many weights there are
  std::uint64_t choices_ = 1;
  float         low_     = 0;  // f32: the lightest, the first that is too heavy, and the one before it
  float         span_    = 0;
  float         limit_   = 0;
  float         last_    = 0;
};

}  // namespace spillway
