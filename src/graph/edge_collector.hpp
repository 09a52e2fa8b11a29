// Edges in, a list of them out, in the order of the input whatever thread has brought them. Readers fill it as
// they fill an ArcCollector, where no rows are wanted.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "graph/arc_collector.hpp"

#include <spillway/edge_list.hpp>

namespace spillway {

class EdgeCollector {
 public:
  class Appender;

  EdgeCollector(const BuildContext& context, WeightType weight_type);
  EdgeCollector(const EdgeCollector&)            = delete;
  EdgeCollector& operator=(const EdgeCollector&) = delete;

  /// The one that thread `thread` adds through.
  Appender& appender(int thread) { return *appenders_[static_cast<std::size_t>(thread)]; }

  /// Of so many edges in their order; and, about, the most that is held until they are.
  static std::uint64_t bytes_of(std::uint64_t edges, bool weighted);
  static std::uint64_t building_bytes(std::uint64_t edges, std::uint64_t vertices, bool weighted, int threads);

  /// One more than the largest id added; 0 if none was.
  std::uint64_t id_bound() const;

  /// As ArcCollector's; the blocks of the appenders and the list are held at once.
  BuiltCsr finish(std::optional<std::uint64_t> vertex_count) &&;

  // There is no journal of lists.
  void restore() {}
  template <class Place>
  void keep_if_due(Place&&) {}

 private:
  /// Edges that one thread has added one after the other, from one place of the input on.
  struct Segment {
    std::uint64_t place    = 0;
    Appender*     appender = nullptr;
    std::uint64_t first = 0, last = 0;  ///< among its edges
    std::uint64_t to = 0;               ///< among all edges
  };

  std::vector<Segment> segments_in_order();

  BuildContext                           context_;
  WeightType                             weight_type_;
  std::vector<std::unique_ptr<Appender>> appenders_;
};

class EdgeCollector::Appender {
 public:
  Appender(const BuildContext& context, unsigned stride) : context_(context), stride_(stride) {}

  /// Where in the input the edges that follow are from.
  void at(std::uint64_t place) { marks_.push_back({place, count_}); }

  void add(Vertex source, Vertex target, std::uint32_t weight = 0) {
    largest_ = std::max({largest_, source, target});
    any_     = true;
    if (source == target) {
      if (context_.transform.drop_loops) return dropped_loops_.push_back(source);
      ++loops_;
    }
    ++(source < target ? directions_.up : directions_.down);
    if (count_ == blocks_.size() * block_edges)
      blocks_.emplace_back(block_edges * stride_, context_.budget, "edges");
    std::uint32_t* const words = blocks_.back().data() + count_++ % block_edges * stride_;
    words[0] = source, words[1] = target;
    if (stride_ > 2) words[2] = weight;
  }

 private:
  friend class EdgeCollector;

  struct Mark {
    std::uint64_t place, edge;
  };
  static constexpr std::uint64_t block_edges = 128u << 10;

  const std::uint32_t* words_of(std::uint64_t edge) const {
    return blocks_[edge / block_edges].data() + edge % block_edges * stride_;
  }

  const BuildContext&                context_;
  unsigned                           stride_;
  std::vector<Buffer<std::uint32_t>> blocks_;
  std::vector<Mark>                  marks_;
  std::vector<Vertex>                dropped_loops_;
  std::uint64_t                      count_ = 0, loops_ = 0;
  Vertex                             largest_ = 0;
  bool                               any_     = false;
  Directions                         directions_;
};

/// Calls body with the collector of what is wanted: edges as they come, or rows with weights or without.
template <class Body>
auto with_input_collector(const BuildContext& context, WeightType weight_type, Body&& body) {
  if (!context.edges) return with_collector(context, weight_type, body);
  EdgeCollector collector{context, weight_type};
  return body(collector);
}

}  // namespace spillway
