#include "graph/reversing_sink.hpp"

#include <utility>

#include <spillway/engine/parallel.hpp>

namespace spillway {

void ReversingSink::begin(const Facts& facts) {
  facts_ = facts;
  const BuildContext context{
      .budget = facts.budget, .transform = {}, .threads = threads_, .progress = &progress_, .outside = &outside_};
  if (facts.weight_type == WeightType::none)
    collector_ = std::make_unique<ArcCollector<Arc>>(context, facts.weight_type);
  else
    collector_ = std::make_unique<ArcCollector<WeightedArc>>(context, facts.weight_type);
  outside_.rows.begin(facts);
}

void ReversingSink::take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) {
  outside_.rows.take(offsets, targets, weights);
  const std::uint64_t rows = offsets.size() - 1, from = std::exchange(taken_, taken_ + rows);
  std::visit(
      [&](auto& collector) {
        for_each_share(threads_, rows, [&](std::uint64_t begin, std::uint64_t end, int thread) {
          auto& to = collector->appender(thread);
          for (std::uint64_t row = begin; row < end; ++row)
            for (EdgeIndex i = offsets[row] - offsets.front(); i < offsets[row + 1] - offsets.front(); ++i)
              to.add(targets[i], static_cast<Vertex>(from + row), weights ? weights[i] : 0);
        });
      },
      collector_);
}

Array<EdgeIndex> ReversingSink::finish(RowSink& in_edges) {
  const std::uint64_t buckets = (facts_.vertices + (std::uint64_t{1} << bucket_bits) - 1) >> bucket_bits;
  Buffer<EdgeIndex>   offsets{facts_.vertices + 1, facts_.budget, "the row offsets"};
  in_edges.begin(facts_);
  std::visit(
      [&](auto& collector) {
        if (outside_.spill.bytes() > 0) collector->write_away();
        for (int pass = in_edges.wants_degrees() ? 0 : 1; pass < 2; ++pass) {
          progress_.begin(pass == 0 ? "counting in-edges" : "building in-edges", buckets, ProgressUnit::items);
          offsets[facts_.vertices] =
              collector->hand_over({0, buckets}, nullptr, offsets, 0, pass == 1 ? &in_edges : nullptr);
          progress_.end();
          if (pass == 0) in_edges.take_degrees(offsets.span());
        }
        collector.reset();
      },
      collector_);
  return std::move(offsets).freeze();
}

}  // namespace spillway
