#include "graph/subgraph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "graph/build_size.hpp"

namespace spillway {
namespace {

/// Members in their order: the vertex that each new one was.
Buffer<Vertex> listed(const VertexSet& members, const std::shared_ptr<MemoryBudget>& budget, int threads) {
  Buffer<Vertex> list{members.size(), budget, "the members of a subgraph"};
  for_each_share(threads, members.word_count(), [&](std::uint64_t begin, std::uint64_t end, int) {
    std::uint64_t place = members.rank(begin * 64);
    members.for_each_in_words(begin, end, [&](Vertex v) { list[place++] = v; });
  });
  return list;
}

// --- ids ---

template <class NumberOf>
IdMap kept_numbers(const Buffer<Vertex>& list, const std::shared_ptr<MemoryBudget>& budget, int threads,
                   NumberOf&& number_of) {
  Buffer<std::uint64_t> numbers{list.size(), budget, "vertex ids"};
  for_each_share(threads, list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) numbers[i] = number_of(list[i]);
  });
  return IdMap::numbers(std::move(numbers).freeze());
}

IdMap kept_strings(const IdMap& ids, const Buffer<Vertex>& list, const std::shared_ptr<MemoryBudget>& budget,
                   int threads) {
  Buffer<std::uint64_t> ends{list.size(), budget, "vertex ids"};
  std::uint64_t         bytes = 0;
  for (std::uint64_t i = 0; i < list.size(); ++i) ends[i] = bytes += ids.string(list[i]).size();
  Buffer<char> text{bytes, budget, "vertex ids"};
  for_each_share(threads, list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::string_view name = ids.string(list[i]);
      std::copy(name.begin(), name.end(), text.data() + (ends[i] - name.size()));
    }
  });
  return IdMap::strings(std::move(ends).freeze(), std::move(text).freeze());
}

IdMap kept_ids(const IdMap& ids, const Buffer<Vertex>& list, const std::shared_ptr<MemoryBudget>& budget,
               int threads) {
  if (ids.kind() == IdMap::Kind::strings) return kept_strings(ids, list, budget, threads);
  if (ids.kind() == IdMap::Kind::numbers)
    return kept_numbers(list, budget, threads, [&](Vertex v) { return ids.number_table()[v]; });
  if (list.size() == 0) return ids;
  if (list[list.size() - 1] - list[0] == list.size() - 1) return IdMap::consecutive(ids.first() + list[0]);
  return kept_numbers(list, budget, threads, [&](Vertex v) { return ids.first() + v; });
}

// --- arcs ---

/// Runs over the rows of the members twice: to count what stays and to write it.
class RowFilter {
 public:
  RowFilter(const Graph& graph, const VertexSet& members, const Buffer<Vertex>& list, int threads,
            Progress& progress)
      : csr_(graph.out()),
        budget_(graph.budget()),
        members_(members),
        list_(list),
        threads_(threads),
        progress_(progress) {}

  /// stays(v, target) decides.
  template <class Stays>
  Csr run(Stays&& stays) {
    Buffer<EdgeIndex> offsets{list_.size() + 1, budget_, "the row offsets"};
    progress_.begin("subgraph", 2 * list_.size(), ProgressUnit::items);
    for_each_row([&](std::uint64_t i, Vertex v) {
      const auto row = csr_.neighbors(v);
      offsets[i + 1] =
          static_cast<EdgeIndex>(std::count_if(row.begin(), row.end(), [&](Vertex w) { return stays(v, w); }));
    });
    std::partial_sum(offsets.data(), offsets.data() + offsets.size(), offsets.data());

    const EdgeIndex arcs     = offsets[list_.size()];
    const bool      weighted = !csr_.weights.empty();
    budget_->expect(rows_bytes(0, arcs, weighted), "the arcs of the subgraph");
    Buffer<Vertex>        targets{arcs, budget_, "the arcs"};
    Buffer<std::uint32_t> weights{csr_.weights.empty() ? 0 : arcs, budget_, "the weights"};
    for_each_row([&](std::uint64_t i, Vertex v) {
      EdgeIndex place = offsets[i];
      for (EdgeIndex e = csr_.offsets[v]; e < csr_.offsets[v + 1]; ++e) {
        if (!stays(v, csr_.targets[e])) continue;
        targets[place] = members_.rank(csr_.targets[e]);
        if (weights.size() > 0) weights[place] = csr_.weights[e];
        ++place;
      }
    });
    progress_.end();
    return {std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
  }

  EdgeIndex arcs_seen() const { return arcs_seen_; }

 private:
  template <class Body>
  void for_each_row(Body&& body) {
    constexpr std::uint64_t longest_block = 1024, blocks_a_thread = 32;
    const std::uint64_t     share = list_.size() / (static_cast<std::uint64_t>(threads_) * blocks_a_thread);
    const std::uint64_t     block = std::clamp<std::uint64_t>(share, 1, longest_block);
    for_each_task(threads_, (list_.size() + block - 1) / block, [&](std::uint64_t task, int) {
      check_cancelled(progress_);
      const std::uint64_t end  = std::min(list_.size(), (task + 1) * block);
      EdgeIndex           arcs = 0;
      for (std::uint64_t i = task * block; i < end; ++i) {
        body(i, list_[i]);
        arcs += csr_.degree(list_[i]);
      }
      arcs_seen_.fetch_add(arcs, std::memory_order_relaxed);
      progress_.advance(end - task * block);
    });
  }

  std::atomic<EdgeIndex>               arcs_seen_{0};
  const Csr&                           csr_;
  const std::shared_ptr<MemoryBudget>& budget_;
  const VertexSet&                     members_;
  const Buffer<Vertex>&                list_;
  int                                  threads_;
  Progress&                            progress_;
};

template <class Stays>
Subgraph extracted(const Graph& graph, const VertexSet& members, int threads, Progress& progress, Stays&& stays) {
  const Buffer<Vertex> list = listed(members, graph.budget(), threads);
  RowFilter            filter{graph, members, list, threads, progress};
  Graph::Parts         parts;
  parts.out           = filter.run(stays);
  parts.ids           = kept_ids(graph.ids(), list, graph.budget(), threads);
  parts.weight_type   = graph.weight_type();
  parts.symmetric     = graph.symmetric();  // of an arc and its reverse both stay or none
  parts.name          = "a subgraph";
  parts.report.format = "subgraph";
  parts.budget        = graph.budget();
  return {.graph = Graph{std::move(parts)}, .edges_processed = filter.arcs_seen()};
}

}  // namespace

Subgraph induced_subgraph(const Graph& graph, const VertexSet& members, int threads, Progress& progress) {
  return extracted(graph, members, threads, progress, [&](Vertex, Vertex w) { return members.contains(w); });
}

Subgraph subgraph_between(const Graph& graph, const VertexSet& members, const VertexSet& sources,
                          const VertexSet& targets, int threads, Progress& progress) {
  const bool both_ways = graph.symmetric();
  return extracted(graph, members, threads, progress, [&](Vertex v, Vertex w) {
    return (sources.contains(v) && targets.contains(w)) ||
           (both_ways && targets.contains(v) && sources.contains(w));
  });
}

}  // namespace spillway
