#include "graph/edge_collector.hpp"

#include "base/fail.hpp"
#include "graph/edge_list.hpp"
#include "graph/edge_sink.hpp"
#include "graph/vertex_set.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {

EdgeCollector::EdgeCollector(const BuildContext& context, WeightType weight_type)
    : context_(context), weight_type_(weight_type) {
  for (int i = 0; i < context_.threads; ++i)
    appenders_.push_back(std::make_unique<Appender>(context_, weight_type == WeightType::none ? 2 : 3));
}

std::uint64_t EdgeCollector::bytes_of(std::uint64_t edges, bool weighted) {
  return edges * (weighted ? 3 : 2) * sizeof(std::uint32_t);
}

std::uint64_t EdgeCollector::building_bytes(std::uint64_t edges, std::uint64_t vertices, bool weighted,
                                            int threads) {
  constexpr std::uint64_t in_a_byte = 4;  // vertices of a set, with its ranks
  return 2 * bytes_of(edges, weighted) +
         bytes_of(static_cast<unsigned>(threads) * Appender::block_edges, weighted) + vertices / in_a_byte;
}

std::uint64_t EdgeCollector::id_bound() const {
  std::uint64_t bound = 0;
  for (const auto& appender : appenders_)
    if (appender->any_) bound = std::max(bound, std::uint64_t{appender->largest_} + 1);
  return bound;
}

std::vector<EdgeCollector::Segment> EdgeCollector::segments_in_order() {
  std::vector<Segment> segments;
  for (const auto& appender : appenders_) {
    Segment segment{.appender = appender.get()};
    for (const auto& mark : appender->marks_) {
      segment.last = mark.edge;
      if (segment.first < segment.last) segments.push_back(segment);
      segment.place = mark.place, segment.first = mark.edge;
    }
    segment.last = appender->count_;
    if (segment.first < segment.last) segments.push_back(segment);
  }
  std::ranges::stable_sort(segments, {}, &Segment::place);
  std::uint64_t to = 0;
  for (Segment& segment : segments) segment.to = to, to += segment.last - segment.first;
  return segments;
}

BuiltCsr EdgeCollector::finish(std::optional<std::uint64_t> vertex_count) && {
  const auto          segments = segments_in_order();
  const std::uint64_t edges =
      segments.empty() ? 0 : segments.back().to + segments.back().last - segments.back().first;
  const unsigned             stride = weight_type_ == WeightType::none ? 2 : 3;
  BuiltCsr                   built;
  std::unique_ptr<VertexSet> members;
  if (!vertex_count) {
    const std::uint64_t universe = id_bound();
    if (universe > max_vertices) throw bad_input("vertex id {} is not below 2^32-1", universe - 1);
    members = std::make_unique<VertexSet>(universe, context_.budget);
    for_each_task(context_.threads, segments.size(), [&](std::uint64_t i, int) {
      for (std::uint64_t edge = segments[i].first; edge < segments[i].last; ++edge) {
        const std::uint32_t* const words = segments[i].appender->words_of(edge);
        members->insert(words[0]), members->insert(words[1]);
      }
    });
    for (const auto& appender : appenders_)
      for (const Vertex v : appender->dropped_loops_) members->insert(v);
    members      = numbered(std::move(members), built, context_.budget);
    vertex_count = members ? members->size() : universe;
  }

  Buffer<std::uint32_t> all{edges * stride, context_.budget, "the edges"};
  const auto            sink = edge_sink_for(context_.edges_to, edges * stride, context_.budget);
  for_each_task(context_.threads, segments.size(), [&](std::uint64_t i, int) {
    const Segment&          segment = segments[i];
    constexpr std::uint64_t at_once = 1u << 16;
    for (std::uint64_t from = segment.first; from < segment.last; from += at_once) {
      const std::uint64_t first = (segment.to + from - segment.first) * stride;
      std::uint32_t*      to    = all.data() + first;
      const std::uint64_t last  = std::min(segment.last, from + at_once);
      for (std::uint64_t edge = from; edge < last; ++edge, to += stride) {
        const std::uint32_t* const words = segment.appender->words_of(edge);
        to[0]                            = members ? members->rank(words[0]) : words[0];
        to[1]                            = members ? members->rank(words[1]) : words[1];
        if (stride > 2) to[2] = words[2];
      }
      if (sink) sink->take(first, {all.data() + first, to});
    }
  });
  auto            copy = sink ? sink->finish(all.data()) : nullptr;
  EdgeList::Parts parts{.words       = std::move(all).freeze(),
                        .stride      = stride,
                        .vertices    = *vertex_count,
                        .weight_type = weight_type_,
                        .both_ways   = context_.transform.undirected,
                        .name        = context_.name};
  for (const auto& appender : appenders_) {
    parts.loops += appender->loops_;
    if (context_.directions) {
      context_.directions->up += appender->directions_.up;
      context_.directions->down += appender->directions_.down;
    }
  }
  appenders_.clear();
  built.edges =
      std::make_shared<EdgeList>(std::move(parts), /*trusted=*/false, std::move(copy));  // weights may be anything
  built.csr.offsets = stated_sizes(*vertex_count, built.edges->arc_count());
  return built;
}

}  // namespace spillway
