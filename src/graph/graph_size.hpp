// How large a graph is, where it is not held: known from a header or estimated from the text. It is what `info`
// tells of graphs that do not fit, and what the memory of a run is predicted from.
#pragma once

#include <cstdint>
#include <string>

#include "base/refusal.hpp"

#include <spillway/graph.hpp>

namespace spillway {

struct GraphSize {
  std::uint64_t vertices      = 0;
  EdgeIndex     arcs          = 0;
  WeightType    weight_type   = WeightType::none;
  bool          symmetric     = false;
  bool          has_in        = false;  ///< in-edges are there and need not be built
  bool          estimated     = true;   ///< else vertices and arcs are exact
  std::uint64_t loading_bytes = 0;      ///< host memory that loading holds at its peak; 0 where it is mapped
  std::uint64_t held_bytes    = 0;      ///< of which the graph itself stays
  std::string   format        = {};
  bool          foreseen      = false;  ///< all that loading will hold is
};

/// A graph could not be loaded within the budget; this much of it is known.
class SPILLWAY_API LoadRefusal : public MemoryRefusal {
 public:
  LoadRefusal(const MemoryRefusal& refusal, GraphSize size)
      : MemoryRefusal(size.foreseen ? refusal.covered_by(size.loading_bytes)
                                    : refusal.raised_to(size.loading_bytes)),
        size_(std::move(size)) {}

  const GraphSize& size() const noexcept { return size_; }

 private:
  GraphSize size_;
};

}  // namespace spillway
