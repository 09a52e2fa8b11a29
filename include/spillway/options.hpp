// What a caller may ask of loading. The defaults change nothing that is in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <spillway/progress.hpp>
#include <spillway/types.hpp>

namespace spillway {

enum class IdMode {
  automatic,  ///< numbers unless the first data line has a name; only the ids that appear are vertices
  dense,      ///< every number from 0 to the largest is a vertex, whether it appears or not
  sparse,     ///< 64-bit numbers; the ids that appear are the vertices
  string,     ///< names, taken as they stand
};

enum class HeaderMode { automatic, present, absent };

/// Changes to the arcs. None happens unless asked for.
struct Transform {
  bool undirected = false;  ///< each edge of the input stands for both arcs (a loop for one)
  bool symmetrize = false;  ///< add the reverse of every arc that has none of the same weight
  bool dedup      = false;  ///< of parallel arcs keep one, the lightest
  bool drop_loops = false;

  bool any() const { return undirected || symmetrize || dedup || drop_loops; }
};

struct LoadOptions {
  std::string                  format     = "auto";  ///< a name of `formats()`, or "auto": by content, then suffix
  IdMode                       ids        = IdMode::automatic;
  std::optional<std::uint64_t> vertices   = {};  ///< edge lists: ids are 0 to N-1, isolated ones included
  std::string               weight_column = {};  ///< text: a position (from 1) or a name; "none" ignores weights
  std::optional<WeightType> weight_type   = {};  ///< read weights as this; by default as the input states them
  HeaderMode                header        = HeaderMode::automatic;
  Transform                 transform     = {};
  std::uint64_t             host_memory   = 0;  ///< bytes all loading may hold; 0: what the machine has free
  int                       threads       = 0;  ///< 0: all cores
  Progress*                 progress      = nullptr;
};

}  // namespace spillway
