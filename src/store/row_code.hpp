// Rows of ascending targets, compressed as GPUs read them (engine/cuda/rows.cuh says how): coded and decoded on
// the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <spillway/types.hpp>

namespace spillway {

struct RowCode {
  static constexpr unsigned group = 32, most_unary = 3;
  static constexpr unsigned where_at = 7, far_bit = 1u << 7, target_at = 8;
  static constexpr unsigned most_where = (1u << 25) - 1, most_near = (1u << 24) - 1;
  /// Behind the code of a row, so much is read and not used.
  static constexpr unsigned bytes_behind = 8;
};

/// How a group of ascending targets is coded shortest whose last is `range` above the first.
struct GroupCode {
  unsigned low = 0, unary = 0;

  static GroupCode of(unsigned count, Vertex range);
  unsigned         words(unsigned count, unsigned weight_bits = 0) const {
            return unary + (count * low + 31) / 32 + (count * weight_bits + 31) / 32;
  }
};

/// Appends the code of a row. Throws Error{does_not_fit} where its groups would lie too far from their entries.
void encode_row(std::span<const Vertex> targets, std::span<const std::uint32_t> weights, unsigned weight_bits,
                std::vector<std::uint32_t>& code);

/// The row again; `weights` null: they are left out. False if this is not the code of so many edges that lead to
/// ascending vertices below `vertices`. RowCode::bytes_behind may be read behind it.
bool decode_row(std::span<const std::uint32_t> code, EdgeIndex edges, unsigned weight_bits, std::uint64_t vertices,
                Vertex* targets, std::uint32_t* weights);

}  // namespace spillway
