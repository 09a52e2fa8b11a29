// Pages of a graph on disk, as a GPU decodes them.
#pragma once

#include <cstdint>

#include "store/slotted_pages.hpp"

#include <spillway/engine/block.hpp>
#include <spillway/engine/cuda/memory.hpp>

namespace spillway::cuda {

/// How the bytes of pages are to be read (store/slotted_pages.hpp).
struct PageCode {
  std::uint32_t page_bytes  = 0;
  std::uint32_t slot_bytes  = 0;
  std::uint32_t id_page     = 0;  ///< bytes of a record id; 0: rows are compressed
  std::uint32_t id_slot     = 0;
  std::uint32_t weight_bits = 0;
  const Vertex* starts      = nullptr;  ///< the first vertex of each page, of pages with record ids
  std::uint64_t pages       = 0;
  std::uint64_t vertices    = 0;

  static PageCode of(const store::PageFormat& format);
};

/// A page that lies on the device.
struct PageJob {
  static constexpr unsigned edges_a_team = 512;  ///< of a warp

  const std::uint32_t* words;
  EdgeIndex            first_edge, last_edge;    ///< among those of all rows
  std::uint64_t        first_chunk, last_chunk;  ///< that may have edges in it, of those laid out
  EdgeIndex            first_place, last_place;  ///< its edges among those laid out; fewer than 2^31
  std::uint64_t        first_team;               ///< how many warps are for pages before
  Vertex               first_vertex;

  SPILLWAY_HD unsigned places() const { return static_cast<unsigned>(last_place - first_place); }
  SPILLWAY_HD std::uint64_t teams() const { return (places() + edges_a_team - 1) / edges_a_team; }
  /// Of an edge that is laid out, or the nearest to it in the page.
  SPILLWAY_HD unsigned place_of(EdgeIndex edge) const {
    if (edge <= first_place) return 0;
    return edge < last_place ? static_cast<unsigned>(edge - first_place) : places();
  }
};

/// Some of them, and where their edges go: one behind the other, as their chunks are laid out.
struct PageBatch {
  const PageJob*   jobs  = nullptr;
  unsigned         count = 0;
  std::uint64_t    teams = 0;
  EdgeIndex        from  = 0;  ///< the first edge's place among all that are laid out
  ChunkLayout      layout;
  const EdgeIndex* offsets = nullptr;
};

/// Decodes the chunks of a batch on the default stream. `damaged` is set where pages do not hold what they should.
void decode_pages(const PageCode& code, const PageBatch& batch, Vertex* targets, std::uint32_t* weights,
                  unsigned* damaged);

}  // namespace spillway::cuda
