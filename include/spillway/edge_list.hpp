// Edges in the order of a file, without rows (WolfGraph, section 2.3): what `--method edges` processes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <spillway/array.hpp>
#include <spillway/program.hpp>
#include <spillway/types.hpp>

namespace spillway {

class EdgeCopy;
class EdgeSink;
class MemoryBudget;

/// Some edges, side by side: words of 32 bits, source and target and, if they are weighted, a weight's raw bits.
struct EdgeRun {
  const std::uint32_t* words  = nullptr;
  std::uint64_t        count  = 0;
  unsigned             stride = 2;  ///< words of an edge; 3: the last is its weight

  SPILLWAY_HD Vertex source(std::uint64_t i) const { return words[i * stride]; }
  SPILLWAY_HD Vertex target(std::uint64_t i) const { return words[i * stride + 1]; }
  SPILLWAY_HD std::uint32_t weight(std::uint64_t i) const { return stride > 2 ? words[i * stride + 2] : 0; }
  std::uint64_t             edge_bytes() const { return stride * sizeof(std::uint32_t); }
  std::uint64_t             bytes() const { return count * edge_bytes(); }
  EdgeRun                   part(std::uint64_t first, std::uint64_t last) const {
                      return {words + first * stride, last - first, stride};
  }
};

/// Which arcs an edge stands for.
struct EdgeDirections {
  bool forward    = true;   ///< from its source to its target…
  bool backward   = false;  ///< …and the reverse
  bool loops_once = false;  ///< a loop is one arc, though edges go both ways
};

/// visit(from, to) for each arc.
template <class Visit>
SPILLWAY_HD void for_each_arc(const EdgeRun& edges, std::uint64_t i, const EdgeDirections& directions,
                              Visit&& visit) {
  const Vertex source = edges.source(i), target = edges.target(i);
  if (directions.forward) visit(source, target);
  if (directions.backward && !(directions.loops_once && source == target)) visit(target, source);
}

class EdgeList {
 public:
  struct Parts {
    Array<std::uint32_t> words;
    unsigned             stride      = 2;  ///< as in EdgeRun; weights that are not to be read may be there
    std::uint64_t        vertices    = 0;
    WeightType           weight_type = WeightType::none;
    bool                 both_ways   = false;  ///< each edge stands for both arcs, a loop for one
    std::uint64_t        loops       = 0;      ///< so many of them are loops; counted only where it is both ways
    std::string          name        = {};     ///< of the file, for messages
  };

  /// `trusted`: ends are known to be below `vertices`, and loops to be as many.
  /// `copy`: the same words on a device, if they were sent there while they were read.
  EdgeList(Parts parts, bool trusted, std::shared_ptr<EdgeCopy> copy = nullptr);

  std::uint64_t vertex_count() const { return parts_.vertices; }
  std::uint64_t edge_count() const { return words().size() / parts_.stride; }
  EdgeIndex     arc_count() const { return both_ways() ? 2 * edge_count() - parts_.loops : edge_count(); }
  bool          both_ways() const { return parts_.both_ways; }
  bool          weighted() const { return parts_.weight_type != WeightType::none; }
  WeightType    weight_type() const { return parts_.weight_type; }
  /// Checked at the first call: every end is below `vertex_count`, weights are finite.
  EdgeRun edges(int threads) const { return edges(threads, nullptr); }
  /// The same; all of them are passed on, too.
  EdgeRun edges(int threads, EdgeSink* sink) const;
  /// Unchecked, and as they are written.
  EdgeRun                     unchecked() const { return {words().data(), edge_count(), parts_.stride}; }
  const Array<std::uint32_t>& words() const { return parts_.words; }
  const Parts&                parts() const { return parts_; }

  bool is_copied() const;
  /// Whoever keeps the copy from now on; it is handed over once.
  std::shared_ptr<EdgeCopy> take_copy() const;

  /// Where rows would begin, of which there are none: degrees come from these.
  Array<EdgeIndex> offsets(const EdgeDirections& directions, int threads,
                           const std::shared_ptr<MemoryBudget>& budget) const;

 private:
  Parts                             parts_;
  mutable std::shared_ptr<EdgeCopy> copy_;
  mutable std::mutex                mutex_;
  mutable bool                      checked_;
};

}  // namespace spillway
