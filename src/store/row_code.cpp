#include "store/row_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/fail.hpp"

namespace spillway {
namespace {

/// The lowest `count` bits of `value`, at bit `first`; the words are zero there.
void put_bits(std::uint32_t* words, std::uint64_t first, std::uint32_t value, unsigned count) {
  if (count == 0) return;
  const std::uint64_t both = (std::uint64_t{value} & ((std::uint64_t{1} << count) - 1)) << (first % 32);
  words[first / 32] |= static_cast<std::uint32_t>(both);
  if (first % 32 + count > 32) words[first / 32 + 1] |= static_cast<std::uint32_t>(both >> 32);
}

/// Up to 32 bits from bit `first` on.
std::uint32_t bits_at(const std::uint32_t* words, std::uint64_t first, std::uint64_t mask) {
  std::uint64_t both;
  std::memcpy(&both, reinterpret_cast<const unsigned char*>(words) + first / 8, sizeof both);
  return static_cast<std::uint32_t>((both >> (first % 8)) & mask);
}

constexpr std::uint64_t mask_of(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

void encode_group(std::span<const Vertex> targets, std::span<const std::uint32_t> weights, unsigned weight_bits,
                  const GroupCode& how, std::uint32_t* words) {
  const auto count = static_cast<unsigned>(targets.size());
  for (unsigned i = 0; i < count; ++i) {
    const Vertex beyond = targets[i] - targets[0];
    if (how.unary > 0) put_bits(words, (beyond >> how.low) + i, 1, 1);
    put_bits(words + how.unary, std::uint64_t{i} * how.low, beyond, how.low);
    if (weight_bits > 0)
      put_bits(words + how.words(count), std::uint64_t{i} * weight_bits, weights[i], weight_bits);
  }
}

/// Where a group's words are, and what comes before them.
struct FoundGroup {
  GroupCode            how;
  Vertex               smallest;
  const std::uint32_t* words;
};

/// Ascending, and below what there is: whoever wrote it may have meant harm.
bool is_row(const Vertex* targets, unsigned count, Vertex smallest, std::uint64_t vertices) {
  unsigned falls = targets[0] != smallest || targets[count - 1] >= vertices ? 1 : 0;
  for (unsigned i = 1; i < count; ++i) falls |= targets[i] < targets[i - 1] ? 1u : 0u;
  return falls == 0;
}

bool decode_group(const FoundGroup& at, unsigned count, unsigned weight_bits, std::uint64_t vertices,
                  Vertex* targets, std::uint32_t* weights) {
  const std::uint32_t* const low  = at.words + at.how.unary;
  const unsigned             bits = at.how.low;
  const std::uint64_t        mask = mask_of(bits);
  if (at.how.unary == 0) {
    for (unsigned i = 0; i < count; ++i) targets[i] = at.smallest + bits_at(low, i * bits, mask);
  } else {
    unsigned i = 0;
    for (unsigned word = 0; word < at.how.unary; ++word) {
      std::uint32_t left = at.words[word];
      const auto    ones = static_cast<unsigned>(std::popcount(left));
      if (ones > count - i) return false;
      for (const unsigned end = i + ones; i < end; ++i, left &= left - 1) {
        const unsigned high = word * 32 + static_cast<unsigned>(std::countr_zero(left)) - i;
        targets[i]          = at.smallest + (high << bits) + bits_at(low, i * bits, mask);
      }
    }
    if (i < count) return false;
  }
  if (weights && weight_bits > 0) {
    const std::uint32_t* const from = at.words + at.how.words(count);
    for (unsigned i = 0; i < count; ++i)
      weights[i] = bits_at(from, std::uint64_t{i} * weight_bits, mask_of(weight_bits));
  }
  return is_row(targets, count, at.smallest, vertices);
}

GroupCode group_code(std::uint32_t bits) { return {bits & 31, (bits >> 5) & 3}; }

}  // namespace

/// Without unary where that is as short, since it is read faster.
GroupCode GroupCode::of(unsigned count, Vertex range) {
  const auto     width = static_cast<unsigned>(std::bit_width(range));
  const unsigned plain = width < 32 ? (count * width + 31) / 32 : ~0u;
  GroupCode      best;
  unsigned       least = ~0u;
  // Fewer low bits than leave three words of unary do not fit; more than the width take no less.
  for (unsigned low = width > 7 ? width - 7 : 0; low + RowCode::most_unary <= RowCode::group && low <= width;
       ++low) {
    const unsigned unary = (count + (range >> low) + 31) / 32;
    if (unary > RowCode::most_unary) continue;
    const unsigned words = unary + (count * low + 31) / 32;
    if (words < least) least = words, best = {low, unary};
  }
  return plain <= least ? GroupCode{width, 0} : best;
}

void encode_row(std::span<const Vertex> targets, std::span<const std::uint32_t> weights, unsigned weight_bits,
                std::vector<std::uint32_t>& code) {
  const std::uint64_t groups = (targets.size() + RowCode::group - 1) / RowCode::group;
  if (groups == 0) return;
  const std::size_t row    = code.size();
  const bool        single = groups == 1, far = single && targets[0] > RowCode::most_near;
  std::size_t       at = row + (single ? (far ? 2 : 1) : 2 * groups);
  code.resize(at);
  for (std::uint64_t g = 0; g < groups; ++g) {
    const std::uint64_t first = g * RowCode::group;
    const auto      count = static_cast<unsigned>(std::min<std::uint64_t>(targets.size() - first, RowCode::group));
    const auto      some  = targets.subspan(first, count);
    const GroupCode how   = GroupCode::of(count, some[count - 1] - some[0]);
    code.resize(at + how.words(count, weight_bits));
    encode_group(some, weight_bits > 0 ? weights.subspan(first, count) : weights, weight_bits, how,
                 code.data() + at);
    const std::uint32_t bits = how.low | how.unary << 5;
    if (single) {
      code[row] = bits | (far ? RowCode::far_bit : some[0] << RowCode::target_at);
      if (far) code[row + 1] = some[0];
    } else {
      const std::uint64_t entry = row + 2 * g, where = at - entry;
      if (where > RowCode::most_where)
        throw does_not_fit("a row of {} edges is too long to be compressed", targets.size());
      code[entry]     = some[0];
      code[entry + 1] = bits | static_cast<std::uint32_t>(where) << RowCode::where_at;
    }
    at = code.size();
  }
}

bool decode_row(std::span<const std::uint32_t> code, EdgeIndex edges, unsigned weight_bits, std::uint64_t vertices,
                Vertex* targets, std::uint32_t* weights) {
  if (edges == 0) return true;
  const std::uint64_t groups = (edges + RowCode::group - 1) / RowCode::group;
  if (code.size() < (groups == 1 ? 1 : 2 * groups)) return false;
  std::uint64_t end = 2 * groups;  // of the groups before: those who read several at once count on that
  for (std::uint64_t g = 0; g < groups; ++g) {
    const std::uint64_t first = g * RowCode::group;
    const auto          count = static_cast<unsigned>(std::min<EdgeIndex>(edges - first, RowCode::group));
    FoundGroup          at{};
    std::uint64_t       where = 0;
    if (groups == 1) {
      const bool far = (code[0] & RowCode::far_bit) != 0;
      if (far && code.size() < 2) return false;
      where = far ? 2 : 1;
      at    = {group_code(code[0]), far ? code[1] : code[0] >> RowCode::target_at, nullptr};
    } else {
      where = 2 * g + (code[2 * g + 1] >> RowCode::where_at);
      at    = {group_code(code[2 * g + 1]), code[2 * g], nullptr};
    }
    const std::uint64_t words = at.how.words(count, weight_bits);
    if (where > code.size() || words > code.size() - where) return false;
    if (at.how.words(count) > RowCode::group || (groups > 1 && where != end)) return false;
    end      = where + words;
    at.words = code.data() + where;
    if (!decode_group(at, count, weight_bits, vertices, targets + first, weights ? weights + first : nullptr))
      return false;
    if (g > 0 && targets[first - 1] > targets[first]) return false;
  }
  return true;
}

}  // namespace spillway
