#include "graph/degree_order.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/fail.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {

Buffer<Vertex> by_falling_degree(std::span<const EdgeIndex> offsets, const std::shared_ptr<MemoryBudget>& budget) {
  // Few have more: these are sorted, the others counted.
  constexpr EdgeIndex        many     = 1u << 16;
  const std::uint64_t        vertices = offsets.size() - 1;
  const auto                 degree   = [&](std::uint64_t v) { return offsets[v + 1] - offsets[v]; };
  Buffer<Vertex>             order{vertices, budget, "the order of the vertices"};
  std::vector<std::uint64_t> next(many + 1);
  std::vector<Vertex>        hubs;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    if (degree(v) >= many)
      hubs.push_back(static_cast<Vertex>(v));
    else
      ++next[degree(v)];
  }
  std::ranges::stable_sort(hubs, std::greater<>{}, degree);
  std::ranges::copy(hubs, order.data());
  std::uint64_t at = hubs.size();
  for (EdgeIndex d = many; d-- > 0;) at += std::exchange(next[d], at);
  for (std::uint64_t v = 0; v < vertices; ++v)
    if (degree(v) < many) order[next[degree(v)]++] = static_cast<Vertex>(v);
  return order;
}

OrderingSink::OrderingSink(ArcSpill& spill, RowSink& next, int threads, Progress& progress, Array<Vertex> order)
    : spill_(spill), next_(next), threads_(threads), progress_(progress), order_(std::move(order)) {}

void OrderingSink::begin(const Facts& facts) {
  facts_ = facts;
  next_.begin(facts);
}

void OrderingSink::take_degrees(std::span<const EdgeIndex> offsets) {
  if (order_.size() == 0) order_ = by_falling_degree(offsets, facts_.budget).freeze();
  place_         = Buffer<Vertex>{facts_.vertices, facts_.budget, "the order of the vertices"};
  offsets_       = Buffer<EdgeIndex>{facts_.vertices + 1, facts_.budget, "the row offsets"};
  EdgeIndex arcs = 0;
  for (std::uint64_t i = 0; i < facts_.vertices; ++i) {
    const Vertex v = order_[i];
    place_[v]      = static_cast<Vertex>(i);
    offsets_[i]    = arcs;
    arcs += offsets[v + 1] - offsets[v];
  }
  offsets_[facts_.vertices] = arcs;
  set_up_ranges();
  if (next_.wants_degrees()) next_.take_degrees(offsets_.span());
}

/// Of as many rows as a part of the memory holds twice, as they are read and as they are handed on.
void OrderingSink::set_up_ranges() {
  constexpr std::uint64_t least_bytes = 1u << 16, least_words = 1u << 10, most_words = 1u << 18;
  const std::uint64_t     edge = edge_bytes(weighted());
  const std::uint64_t     most = std::max(spill_.memory() / 4, least_bytes) / edge;
  const EdgeIndex* const  all  = offsets_.data();
  for (std::uint64_t first = 0, last = 0; first < facts_.vertices; first = last) {
    const auto* beyond = std::upper_bound(all + first + 1, all + facts_.vertices + 1, all[first] + most);
    last               = std::max(first + 1, static_cast<std::uint64_t>(beyond - all) - 1);
    ranges_.push_back({static_cast<Vertex>(first), static_cast<Vertex>(last), {}});
  }
  memory_.emplace(facts_.budget, "rows that wait");
  mapped_ = std::vector<Mapped>(static_cast<std::size_t>(threads_));
  for (Mapped& own : mapped_) own.waiting.resize(ranges_.size());
  const std::uint64_t shares = std::max<std::uint64_t>(ranges_.size(), 1) * static_cast<std::uint64_t>(threads_);
  waiting_words_ = std::clamp(spill_.memory() / 4 / shares / sizeof(std::uint32_t), least_words, most_words);
  memory_->raise_to(2 * shares * waiting_words_ * sizeof(std::uint32_t));  // they grow by doubling
}

void OrderingSink::take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) {
  constexpr std::uint64_t at_once = 512;
  const std::uint64_t     rows = offsets.size() - 1, from = std::exchange(taken_, taken_ + rows);
  for_each_task(threads_, (rows + at_once - 1) / at_once, [&](std::uint64_t task, int thread) {
    for (std::uint64_t i = task * at_once; i < std::min(rows, (task + 1) * at_once); ++i) {
      const EdgeIndex at = offsets[i] - offsets.front(), count = offsets[i + 1] - offsets[i];
      if (count == 0) continue;
      add_row(place_[from + i], {targets + at, count}, weights ? weights + at : nullptr,
              mapped_[static_cast<std::size_t>(thread)]);
    }
  });
}

/// By its new number and with those of its neighbours, in order: a count, then the row.
void OrderingSink::add_row(Vertex place, std::span<const Vertex> targets, const std::uint32_t* weights,
                           Mapped& own) {
  const auto range =
      static_cast<std::size_t>(std::ranges::upper_bound(ranges_, place, {}, &Range::first) - ranges_.begin() - 1);
  constexpr std::uint64_t usual = 1u << 20;  // longer rows are counted: twice, and their neighbours' places
  Charge                  memory{facts_.budget, "a row in order"};
  if (targets.size() > usual) memory.raise_to(targets.size() * (weights ? 3 : 2) * sizeof(std::uint64_t));
  if (targets.size() > std::numeric_limits<std::uint32_t>::max())
    throw does_not_fit("a vertex has {} edges; rows are ordered up to 2^32-1", targets.size());
  Words& words = own.waiting[range];
  if (words.size() + 2 + targets.size() * (weights ? 2 : 1) > waiting_words_) write_away(range, words);
  words.push_back(place);
  words.push_back(static_cast<std::uint32_t>(targets.size()));
  if (!weights) {
    own.targets.clear();
    for (const Vertex v : targets) own.targets.push_back(place_[v]);
    std::ranges::sort(own.targets);
    words.insert(words.end(), own.targets.begin(), own.targets.end());
  } else {
    // Parallel arcs come in the order of their weights, in which they stay.
    own.weighted.clear();
    for (std::size_t i = 0; i < targets.size(); ++i) own.weighted.emplace_back(place_[targets[i]], weights[i]);
    std::ranges::stable_sort(own.weighted, {}, &std::pair<Vertex, std::uint32_t>::first);
    for (const auto& [v, weight] : own.weighted) words.push_back(v);
    for (const auto& [v, weight] : own.weighted) words.push_back(weight);
  }
  if (words.size() > waiting_words_) write_away(range, words);
  if (targets.size() > usual) own.targets = {}, own.weighted = {};  // no longer counted
}

void OrderingSink::write_away(std::size_t range, Words& words) {
  if (words.empty()) return;
  const std::uint64_t at = spill_.write(words.data(), words.size() * sizeof(std::uint32_t));
  {
    const std::scoped_lock lock{mutex_};
    ranges_[range].parts.push_back({at, words.size()});
  }
  Words{}.swap(words);
}

void OrderingSink::hand_on(const Range& range) {
  const EdgeIndex       base = offsets_[range.first], arcs = offsets_[range.last] - base;
  Buffer<Vertex>        targets{arcs, facts_.budget, "rows in order"};
  Buffer<std::uint32_t> weights{weighted() ? arcs : 0, facts_.budget, "rows in order"};
  for_each_task(threads_, range.parts.size(), [&](std::uint64_t i, int) {
    const Spilled& part = range.parts[i];
    Charge         memory{facts_.budget, "rows in order"};
    memory.raise_to(part.words * sizeof(std::uint32_t));
    Words words(part.words);
    spill_.read(part.at, words.data(), words.size() * sizeof(std::uint32_t));
    for (std::size_t at = 0; at < words.size();) {
      const EdgeIndex to    = offsets_[words[at]] - base;
      const auto      count = static_cast<std::size_t>(words[at + 1]);
      std::memcpy(targets.data() + to, words.data() + at + 2, count * sizeof(Vertex));
      if (weighted())
        std::memcpy(weights.data() + to, words.data() + at + 2 + count, count * sizeof(std::uint32_t));
      at += 2 + count * (weighted() ? 2 : 1);
    }
  });
  next_.take(offsets_.span().subspan(range.first, range.last - range.first + std::uint64_t{1}), targets.data(),
             weighted() ? weights.data() : nullptr);
}

void OrderingSink::write_away_all() {
  for (Mapped& own : mapped_)
    for (std::size_t range = 0; range < own.waiting.size(); ++range) write_away(range, own.waiting[range]);
}

void OrderingSink::save(BuildJournal& journal, const std::string& side) {
  write_away_all();
  StateWriter state;
  state.put(taken_);
  state.put(handed_on_);
  state.put(std::uint64_t{ranges_.size()});
  for (const Range& range : ranges_) {
    state.put(range.first);
    state.put(range.last);
    state.put_all(std::span<const Spilled>{range.parts});
  }
  spill_.save();
  journal.put(side + " ordering", std::move(state));
  next_.save(journal, side);
}

/// Ranges are those of the process before, which may have had another budget.
void OrderingSink::restore(const BuildJournal& journal, const std::string& side) {
  auto state = journal.find(side + " ordering");
  if (!state) return;
  taken_     = state->get<std::uint64_t>();
  handed_on_ = state->get<std::uint64_t>();
  ranges_.resize(state->get<std::uint64_t>());
  for (Range& range : ranges_) {
    range.first = state->get<Vertex>();
    range.last  = state->get<Vertex>();
    range.parts = state->get_all<Spilled>();
  }
  for (Mapped& own : mapped_) own.waiting = std::vector<Words>(ranges_.size());
  next_.restore(journal, side);
}

Array<EdgeIndex> OrderingSink::finish(const std::string& side) {
  BuildJournal* const journal = spill_.journal();
  write_away_all();
  mapped_.clear();
  memory_.reset();
  place_ = {};
  progress_.begin("ordering", ranges_.size(), ProgressUnit::items);
  progress_.advance(handed_on_);
  while (handed_on_ < ranges_.size()) {
    check_cancelled(progress_);
    hand_on(ranges_[handed_on_++]);
    progress_.advance(1);
    if (journal && journal->due()) save(*journal, side), journal->commit();
  }
  progress_.end();
  if (journal) save(*journal, side);
  return std::move(offsets_).freeze();
}

}  // namespace spillway
