#include "generate/weights.hpp"

#include <cmath>
#include <limits>

#include "base/fail.hpp"

namespace spillway {
namespace {

constexpr double largest_whole = std::numeric_limits<std::uint32_t>::max();
constexpr double largest_real  = std::numeric_limits<float>::max();

bool is_whole(double value) { return value >= 0 && value <= largest_whole && std::floor(value) == value; }
bool is_real(double value) { return std::abs(value) <= largest_real; }

}  // namespace

WeightDraw::WeightDraw(const GenerateOptions& options)
    : stream_(options.seed, RandomUse::weights), type_(options.weight_type) {
  if (type_ == WeightType::none) return;
  const double low = options.weight_min, high = options.weight_max;
  if (type_ == WeightType::u32 && !(is_whole(low) && is_whole(high)))
    throw usage_error("weights of type u32 go from {} to {}; both must be whole numbers from 0 to {}", low, high,
                      std::numeric_limits<std::uint32_t>::max());
  if (type_ == WeightType::f32 && !(is_real(low) && is_real(high) && is_real(high - low)))
    throw usage_error("weights of type f32 go from {} to {}; both must be ordinary numbers", low, high);
  if (low > high) throw usage_error("the least weight, {}, is above the largest, {}", low, high);

  if (type_ == WeightType::u32) {
    least_   = static_cast<std::uint32_t>(low);
    choices_ = static_cast<std::uint64_t>(high) - least_ + 1;
    return;
  }
  low_   = static_cast<float>(low);
  span_  = static_cast<float>(high - low);
  limit_ = static_cast<float>(high);
  last_  = std::max(low_, std::nextafter(limit_, low_));  // of an empty range, [x, x), x itself
}

}  // namespace spillway
