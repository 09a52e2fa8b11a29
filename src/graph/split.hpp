// Rows of a graph whose vertices of many edges are split (Tigr, section 3). The graph stays what it is: its
// vertices come first among those of the rows, and tree vertices behind them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <spillway/graph.hpp>
#include <spillway/split.hpp>

#include "graph/arc_collector.hpp"

#include <spillway/engine/memory.hpp>

namespace spillway {

class SplitRows {
 public:
  /// What rows are stored as. `split`: out-edges, or in-edges of a split of in-edges, whose tree arcs are those
  /// that end, or begin, at a tree vertex. Their weights are not read.
  struct Parts {
    SplitForm     form;
    std::uint64_t originals     = 0;  ///< vertices of the graph
    EdgeIndex     original_arcs = 0;
    Array<Vertex> roots;       ///< the vertex that each tree vertex is part of, ascending
    Csr           split;       ///< rows of the graph's vertices, then of tree vertices
    Csr           transposed;  ///< or none yet
    WeightType    weight_type = WeightType::none;
    std::string   name;  ///< of the file, for messages
  };

  /// `trusted`: rows were made here, or have been checked.
  SplitRows(Parts parts, std::shared_ptr<MemoryBudget> budget, bool trusted);

  const SplitForm&     form() const { return parts_.form; }
  std::uint64_t        originals() const { return parts_.originals; }
  EdgeIndex            original_arcs() const { return parts_.original_arcs; }
  const Array<Vertex>& roots() const { return parts_.roots; }
  std::uint64_t        vertex_count() const { return parts_.split.vertex_count(); }
  EdgeIndex            arc_count() const { return parts_.split.arc_count(); }
  std::uint64_t        tree_vertices() const { return roots().size(); }
  EdgeIndex            tree_arcs() const { return arc_count() - original_arcs(); }
  /// Tree vertices that a vertex has, at most.
  std::uint64_t largest_family() const;
  /// Tree arcs between a vertex and any of its edges, at most.
  std::uint64_t most_hops() const;
  /// Tree arcs between each vertex of the rows and the vertex that it is part of.
  Buffer<Vertex> hops(int threads) const;
  /// The vertex that this one is, or is part of.
  Vertex original(Vertex v) const { return v < originals() || v == no_vertex ? v : roots()[v - originals()]; }

  /// Checked at the first call, as Graph::out is: families are what the form makes of the vertices they are of.
  const Csr& out() const { return form().in_edges ? transposed() : split(); }
  const Csr& in() const { return form().in_edges ? split() : transposed(); }
  bool       has_transposed() const;

  /// Out-edges of the graph as it was, built anew at each call.
  Csr original_rows(int threads) const;

 private:
  const Csr& split() const;
  const Csr& transposed() const;
  void       check() const;

  mutable Parts                 parts_;
  std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex            mutex_;
  mutable std::atomic<bool>     split_checked_;
  mutable std::atomic<bool>     transposed_ready_;
  bool                          transposed_given_;
};

/// Whether any vertex is split: otherwise rows are those of the graph.
bool has_tree_vertices(const Graph& graph);

/// Tree vertices among these become what they are part of.
void name_originals(const Graph& graph, std::span<Vertex> vertices, int threads);

/// "udt:10:in", "star", …; Error{usage} where it is no such thing.
SplitForm split_form(const std::string& text);
/// As split_form takes it.
std::string text_of(const SplitForm& form);

/// K as the paper chooses it by the largest degree (Table 3).
std::uint64_t default_degree_bound(EdgeIndex largest_degree);

/// The most edges of any vertex of the rows that were split.
EdgeIndex largest_degree(const Csr& rows);

/// A graph without a split: tree vertices are vertices like any other, with ids behind the last.
Graph transformed(const Graph& graph);
/// The graph as it was before it was split.
Graph without_split(const Graph& graph, int threads);

}  // namespace spillway
