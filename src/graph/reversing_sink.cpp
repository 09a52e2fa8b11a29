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

namespace {

constexpr const char* reversed_arcs = "reversed";

}  // namespace

void ReversingSink::save(BuildJournal& journal, const std::string& side) {
  std::visit([&](auto& collector) { collector->save(reversed_arcs); }, collector_);
  StateWriter state;
  state.put(taken_);
  journal.put("reversing", std::move(state));
  outside_.rows.save(journal, side);
}

void ReversingSink::restore(const BuildJournal& journal, const std::string& side) {
  std::visit([&](auto& collector) { collector->restore(reversed_arcs); }, collector_);
  if (auto state = journal.find("reversing")) taken_ = state->get<std::uint64_t>();
  outside_.rows.restore(journal, side);
}

Array<EdgeIndex> ReversingSink::finish(RowSink& in_edges) {
  const std::uint64_t buckets = (facts_.vertices + (std::uint64_t{1} << bucket_bits) - 1) >> bucket_bits;
  Buffer<EdgeIndex>   offsets{facts_.vertices + 1, facts_.budget, "the row offsets"};
  in_edges.begin(facts_);
  std::visit(
      [&](auto& collector) {
        if (outside_.spill.bytes() > 0) collector->write_away();
        collector->hand_over_all(buckets, nullptr, offsets, in_edges, in_side);
        collector.reset();
      },
      collector_);
  return std::move(offsets).freeze();
}

}  // namespace spillway
