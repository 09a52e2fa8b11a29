// The graph in memory: immutable topology, shared between copies, opened in milliseconds.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <spillway/array.hpp>
#include <spillway/ids.hpp>
#include <spillway/options.hpp>
#include <spillway/split.hpp>
#include <spillway/types.hpp>

namespace spillway {

class EdgeList;
class MemoryBudget;
class SplitRows;

namespace store {
class PagedRows;
}

/// Compressed sparse rows. Neighbours ascend within a row; parallel arcs ascend by weight.
struct Csr {
  Array<EdgeIndex>     offsets;  ///< n+1
  Array<Vertex>        targets;  ///< m
  Array<std::uint32_t> weights;  ///< m raw bits, or empty

  std::uint64_t           vertex_count() const { return offsets.size() - 1; }
  EdgeIndex               arc_count() const { return targets.size(); }
  EdgeIndex               degree(Vertex v) const { return offsets[v + 1] - offsets[v]; }
  std::span<const Vertex> neighbors(Vertex v) const { return targets.span().subspan(offsets[v], degree(v)); }
  std::uint64_t           bytes() const {
              return offsets.size() * sizeof(EdgeIndex) + (targets.size() + weights.size()) * sizeof(Vertex);
  }
};

/// How a text edge list was understood. Columns count from 1.
struct ListLayout {
  std::string              separator;  ///< "blanks", "tab", "comma", "semicolon", "bar", "blanks and comma", ...
  std::vector<std::string> header;     ///< its words; empty: there is none
  unsigned                 columns       = 0;  ///< of the first line of data
  unsigned                 source_column = 0;
  unsigned                 target_column = 0;
  unsigned                 weight_column = 0;      ///< 0: weights were not read
  bool                     names         = false;  ///< ids were read as names, not as numbers
  std::vector<std::string> guessed = {};  ///< what neither the file nor an option stated: "ids", "header", ...
};

/// What loading took and what it has to say. Times in milliseconds.
struct LoadReport {
  std::string               format;
  double                    read_ms    = 0;  ///< input to arcs
  double                    build_ms   = 0;  ///< arcs to sorted rows
  std::uint64_t             peak_bytes = 0;  ///< most that loading held at once
  std::vector<std::string>  notes;           ///< what a person should know: ids with gaps, columns ignored
  std::optional<ListLayout> list = {};       ///< of edge lists
};

/// A handle; copies share one graph. All members may be called from many threads.
class Graph {
 public:
  Graph();  ///< no vertices

  std::uint64_t vertex_count() const;
  EdgeIndex     arc_count() const;
  WeightType    weight_type() const;
  const IdMap&  ids() const;

  /// True when every arc is known to have its reverse with the same weight, so in- and out-edges are one.
  bool symmetric() const;

  /// Out-edges. Of a mapped file the first call checks every offset and target, so that what it
  /// returns can be indexed with, and throws Error{bad_input} if it cannot.
  const Csr& out() const;

  /// Rows of the graph with its vertices split, which runs walk instead of `out` and `in`; those are the graph's
  /// own still, built at the first call. Null: there are none.
  const std::shared_ptr<const SplitRows>& split() const;

  /// Edges in the order that they came in, of a graph that was read for `--method edges`; `out` and all that
  /// depends on it then builds rows at the first call. Null: there are rows.
  const std::shared_ptr<const EdgeList>& edges() const;

  /// Edges that rest in pages on disk, from where runs stream them; `out`, `in` and `simple` are
  /// Error{does_not_fit} then. Null: edges are in memory. `in_pages` of a symmetric graph are its pages.
  const std::shared_ptr<const store::PagedRows>& pages() const;
  const std::shared_ptr<const store::PagedRows>& in_pages() const;
  /// As `simple` has them, of a symmetric graph; they are gone over once, at the first call.
  const std::shared_ptr<const store::PagedRows>& simple_pages(int threads, Progress& progress) const;

  /// Whether `out` has them at hand.
  bool has_rows() const;
  /// Rows that were built elsewhere, as `out` would have built them; left alone if there are some by now.
  void give_out(Csr rows) const;

  /// In-edges: those of the file, or built at the first call.
  const Csr& in() const;
  bool       has_in() const;
  /// In-edges that were built elsewhere, as `in` would have built them; left alone if there are some by now.
  void give_in(Csr rows) const;

  /// The graph taken as undirected and simple, without weights: every arc has its reverse, loops and parallel arcs
  /// are left out. The out-edges themselves if they are so already, else built at the first call.
  const Csr& simple() const;

  const LoadReport&                    report() const;
  const std::string&                   name() const;  ///< of the file that it was read from
  const std::shared_ptr<MemoryBudget>& budget() const;

  /// What a device keeps of this graph between runs, such as its rows. It is given back with the graph.
  struct Attachment {
    virtual ~Attachment() = default;
  };
  /// Of this device; null: nothing.
  std::shared_ptr<Attachment> attachment(const std::string& device) const;
  void                        attach(const std::string& device, std::shared_ptr<Attachment> attachment) const;

  struct Parts;
  explicit Graph(Parts parts);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// What a graph is made of. `trusted` says that offsets, targets and ids were made here or are
/// already checked; in-edges may be absent.
struct Graph::Parts {
  Csr                                     out;
  Csr                                     in;
  std::shared_ptr<const store::PagedRows> pages = {}, in_pages = {};  ///< instead; `out` has offsets then
  std::shared_ptr<const SplitRows>        split = {};                 ///< instead; `out` and `in` are empty then
  std::shared_ptr<const EdgeList>         edges = {};                 ///< instead; likewise
  IdMap                                   ids;
  WeightType                              weight_type = WeightType::none;
  bool                                    symmetric   = false;
  bool                                    trusted     = true;
  std::string                             name;  ///< of the file, for messages
  LoadReport                              report;
  std::shared_ptr<MemoryBudget>           budget;
};

/// A graph from a file in any format that `formats()` lists; "-" reads standard input.
Graph open(const std::string& path, const LoadOptions& options = {});

/// A graph over CSR arrays that the caller keeps alive and unchanged (`offsets` n+1, `weights` m bits or
/// empty). They are checked and used in place; rows that are not sorted, or a transform, make a copy.
Graph from_csr(std::span<const EdgeIndex> offsets, std::span<const Vertex> targets,
               std::span<const std::uint32_t> weights = {}, WeightType weight_type = WeightType::none,
               const LoadOptions& options = {});

/// The same of arrays that are kept alive by themselves.
Graph adopt_csr(Csr csr, WeightType weight_type, const LoadOptions& options = {});

/// A graph from arc arrays; `vertex_count` 0 means the largest id and one.
Graph from_arcs(std::span<const Vertex> sources, std::span<const Vertex> targets,
                std::span<const std::uint32_t> weights = {}, WeightType weight_type = WeightType::none,
                std::uint64_t vertex_count = 0, const LoadOptions& options = {});

/// Numbers in memory of the caller, which need not lie side by side: a column of a table of rows.
template <class T>
struct Strided {
  const T*       data = nullptr;
  std::uint64_t  size = 0;
  std::ptrdiff_t step = 1;  ///< in entries

  const T& operator[](std::uint64_t i) const { return data[static_cast<std::ptrdiff_t>(i) * step]; }
};

/// What the caller's own arrays call vertices: whole numbers, none negative, or names.
using IdArray = std::variant<Strided<std::uint32_t>, Strided<std::int32_t>, Strided<std::uint64_t>,
                             Strided<std::int64_t>, std::span<const std::string_view>>;

/// A graph of edges between the user's own ids, as a file of them would give it: the ids that appear are the
/// vertices, unless `options` say otherwise (`ids`, `vertices`), and those in `listed`, which are in the graph
/// with or without edges. All arrays have entries of one type.
Graph from_edges(const IdArray& sources, const IdArray& targets, std::span<const std::uint32_t> weights = {},
                 WeightType weight_type = WeightType::none, const LoadOptions& options = {},
                 const IdArray& listed = {});

/// The same graph with other weights: 1 for every arc, or random whole ones from `least` to `most`. Both
/// directions of an edge, and parallel arcs, get the same.
Graph with_unit_weights(const Graph& graph, int threads = 0);
Graph with_random_weights(const Graph& graph, std::uint64_t seed, std::uint32_t least = 1, std::uint32_t most = 64,
                          int threads = 0);

/// The same graph, its vertices of many edges split (Tigr, section 3): programs run on the split rows and answer
/// for the graph's own vertices.
Graph split(const Graph& graph, SplitForm form, int threads = 0, Progress* progress = nullptr);

/// Writes in the format that the suffix (or `format`) names, beside `path` and then renamed.
/// Returns notes: what the format could not hold.
std::vector<std::string> save(const Graph& graph, const std::string& path, const std::string& format = "auto",
                              Progress* progress = nullptr);

}  // namespace spillway
