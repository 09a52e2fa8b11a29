// What the verifications of triangle counts and clustering coefficients share: how long checking takes, and which
// vertices to check where all would take too long.
#pragma once

#include <algorithm>
#include <atomic>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {

/// Lookups that a serial check may take: some ten seconds.
inline constexpr double most_lookups = 1u << 30;

/// The oracle where it is asked for, or where the graph is small and without hubs: it looks at the rows of every
/// vertex's neighbours, and so at the row of a vertex as often as that is a neighbour.
inline bool use_neighbor_oracle(const Graph& graph, const VerifyOptions& options) {
  if (options.by == CheckBy::oracle || !options.use_oracle(graph)) return options.by == CheckBy::oracle;
  const Buffer<EdgeIndex> degree{graph.vertex_count(), graph.budget(), "verifying the result"};
  for (Vertex v = 0; v < graph.vertex_count(); ++v) degree[v] = graph.out().degree(v);
  if (!graph.symmetric())
    for (const Vertex target : graph.out().targets) ++degree[target];
  double lookups = 0;
  for (const EdgeIndex d : degree.span()) lookups += static_cast<double>(d) * static_cast<double>(d);
  return lookups <= most_lookups;
}

/// The busiest vertex, at which most mistakes meet, vertices at the ends of random arcs, and random ones.
inline std::vector<Vertex> vertices_to_check(const Csr& csr) {
  constexpr int       of_each_kind = 200;
  std::vector<Vertex> sample;
  if (csr.vertex_count() == 0) return sample;
  Vertex busiest = 0;
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    if (csr.degree(v) > csr.degree(busiest)) busiest = v;
  sample.push_back(busiest);
  std::mt19937_64 random{csr.arc_count()};
  for (int i = 0; i < of_each_kind; ++i) {
    sample.push_back(static_cast<Vertex>(random() % csr.vertex_count()));
    if (csr.arc_count() > 0) sample.push_back(csr.targets[random() % csr.arc_count()]);
  }
  return sample;
}

/// Neighbours over out- and in-edges, ascending, each once, of the vertices of a sample. One pass over all arcs:
/// in-edges are not asked for, since what is checked may have been computed with them.
class SampleNeighbors {
 public:
  SampleNeighbors(const Graph& graph, const std::vector<Vertex>& sample) {
    for (const Vertex v : sample) {
      const auto row = graph.out().neighbors(v);
      rows_.try_emplace(v, row.begin(), row.end());
    }
    std::vector<bool> sampled(graph.vertex_count());
    for (const Vertex v : sample) sampled[v] = true;
    for (Vertex u = 0; u < graph.vertex_count(); ++u)
      for (const Vertex v : graph.out().neighbors(u))
        if (sampled[v]) rows_[v].push_back(u);
    for (auto& [v, row] : rows_) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      std::erase(row, v);
    }
  }

  std::span<const Vertex> of(Vertex v) const { return rows_.at(v); }

 private:
  std::unordered_map<Vertex, std::vector<Vertex>> rows_;
};

/// The first complaint of check(vertex, lookups) over a sample; `check` adds to the lookups it made. Stops, after
/// a few vertices at least, when lookups have been enough.
template <class Check>
std::string first_complaint(const std::vector<Vertex>& sample, int threads, Check&& check) {
  constexpr std::uint64_t    least = 16;
  std::vector<std::string>   complaints(sample.size());
  std::atomic<std::uint64_t> lookups{0};
  for_each_task(threads, sample.size(), [&](std::uint64_t i, int) {
    if (i >= least && static_cast<double>(lookups.load()) > most_lookups) return;
    std::uint64_t made = 0;
    complaints[i]      = check(sample[i], made);
    lookups += made;
  });
  for (const std::string& complaint : complaints)
    if (!complaint.empty()) return complaint;
  return {};
}

}  // namespace spillway
