// Every file format in one table: how it is recognised, read and written. Nothing else lists formats.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "graph/arc_collector.hpp"
#include "graph/build_size.hpp"
#include "graph/graph_size.hpp"
#include "io/byte_stream.hpp"

#include <spillway/graph.hpp>

namespace spillway {

/// What a format is recognised by: its first bytes, decompressed, and the size of the file.
struct Sample {
  std::string                 path;
  std::string                 text;                ///< up to sample_bytes
  bool                        whole      = false;  ///< `text` is all there is
  bool                        compressed = false;
  std::uint64_t               file_bytes = 0;  ///< of a regular file; 0 for a pipe
  std::unique_ptr<ByteStream> pipe;            ///< what follows `text`, where a file cannot be opened twice
  bool                        is_pipe = false;
  std::uint64_t               skipped = 0;  ///< bytes before `text`: a byte-order mark
  std::optional<FileVersion>  version;      ///< of a regular file that has a size
};

inline constexpr std::size_t sample_bytes = 256u << 10;

/// One reading: what was asked, what it may use, and what a person should be told afterwards.
struct ReadJob {
  Sample&                   sample;
  const LoadOptions&        options;
  BuildContext              context;
  std::vector<std::string>  notes;
  std::optional<ListLayout> list = {};  ///< how an edge list was understood
  std::optional<GraphSize>  size = {};  ///< of the graph, as soon as it is known: told if it does not fit
  /// What makes two arcs of an edge, where transform.undirected does; empty: a format that cannot list both ends.
  std::string undirected_by = "--undirected";

  const std::string& path() const { return sample.path; }
  Progress&          progress() const { return *context.progress; }
  /// Where a reader that hands arcs over keeps how far it has got; null: nowhere.
  BuildJournal* journal() const { return context.outside ? context.outside->spill.journal() : nullptr; }

  /// The input from its start. A pipe can be had once; asking again is Error{bad_input}.
  std::unique_ptr<ByteStream> open() const;
  /// For formats that are read by position.
  void require_plain_file(std::string_view format) const;
  /// For formats that hand arcs over, where memory need not hold them: so many edges, and vertices if they are
  /// known, before they are read.
  void expect_outside(std::uint64_t edges, WeightType weight_type, bool estimated,
                      std::optional<std::uint64_t> vertices) const;
  /// For formats that hold rows: what the header says, before they are read.
  void expect_rows(std::uint64_t vertices, EdgeIndex arcs, WeightType weight_type, bool undirected_file,
                   std::uint64_t buffers = 0);
};

struct ReadResult {
  Csr                                     csr;
  Csr                                     in;
  std::shared_ptr<const store::PagedRows> pages = {}, in_pages = {};
  std::shared_ptr<const SplitRows>        split = {};
  std::shared_ptr<const EdgeList>         edges = {};  ///< `csr` then has offsets that state numbers, and no more
  IdMap                                   ids;
  WeightType                              weight_type = WeightType::none;
  bool                                    symmetric   = false;
  bool                                    trusted     = true;
  double                                  build_ms    = 0;
};

struct Format {
  std::string              name;
  std::string              description;
  std::vector<std::string> suffixes;              ///< without the dot
  bool                     has_magic    = false;  ///< recognised for certain: the suffix is not asked
  bool                     is_loose     = false;  ///< fits much that is meant otherwise: a known suffix goes first
  bool                     is_edge_list = false;  ///< vertices are what edges name: --ids and --vertices apply
  bool                     by_arcs      = false;  ///< arcs come one by one: memory need not hold them all
  bool                     writes_in    = false;  ///< of directed graphs in-edges are written, too
  /// True when the content can only be this format, or fits it exactly where there is no magic.
  std::function<bool(const Sample&)>  recognises;
  std::function<ReadResult(ReadJob&)> read;
  /// Appends notes on what the format cannot hold. Empty where Spillway does not write the format.
  std::function<void(const Graph&, OutputFile&, Progress&, std::vector<std::string>& notes)> write;
  /// Files that are read beside the one of this path, whether or not they are there. Empty: none ever.
  std::function<std::vector<std::string>(const std::string& path)> companions = {};
};

const std::vector<Format>& formats();

/// The start of a file, and what can be told of it.
Sample sample_of(const std::string& path);

/// What the start of a file says of the list of edges that it holds, about.
struct ListSample {
  double edges = 0, vertices = 0;
  bool   ascending = false;  ///< sources seem to come in order, so that rows need hardly be sorted
  bool   text      = false;
};
/// None of a pipe, and of what is no list of edges.
std::optional<ListSample> list_sample(const std::string& path, const LoadOptions& options);

/// The format that `save` would write; none is Error{usage}.
const Format& format_to_write(const std::string& path, const std::string& name = "auto");

/// Writes without giving the file its name. Returns notes: what the format could not hold.
std::vector<std::string> write_graph(const Graph& graph, const Format& format, OutputFile& file,
                                     Progress& progress);

/// What reading a file gave: the graph, or what there is beside rows that went elsewhere.
struct ReadGraph {
  ReadResult                    result;
  LoadReport                    report;
  std::shared_ptr<MemoryBudget> budget;
};
/// `outside`: where rows go, if the format hands arcs over one by one; others bring them in memory.
ReadGraph read_graph(const std::string& path, const LoadOptions& options, BuildOutside* outside);
Graph     made_graph(ReadGraph read, const std::string& path);

/// Files that opening `path` may read beside it; `format` as in LoadOptions.
std::vector<std::string> companions_of(const std::string& path, const std::string& format = "auto");

/// Rows from a file as they stand: checks every index, sorts rows that are not, applies the transform.
/// `undirected_file` says that the format itself promises both arcs of every edge.
ReadResult from_rows(Csr csr, IdMap ids, WeightType weight_type, bool undirected_file, ReadJob& job);

/// Rows out of a collector, with the ids it found.
ReadResult from_collected(BuiltCsr built, std::optional<std::uint64_t> declared, std::uint64_t first_id,
                          WeightType weight_type, ReadJob& job);

/// Reports what a format without ids loses.
void note_lost_ids(const Graph& graph, std::string_view format, std::uint64_t first,
                   std::vector<std::string>& notes);

// The formats, in the order they are tried: exact magics first, files known by their sizes alone next, loose text
// last. A new one is a line here, and a file in this folder with NAME_format().
// clang-format off
#define SPILLWAY_FORMATS(FORMAT) \
  FORMAT(spill)                  \
  FORMAT(matrix_market)          \
  FORMAT(npz)                    \
  FORMAT(ligra)                  \
  FORMAT(dimacs)                 \
  FORMAT(galois)                 \
  FORMAT(gap)                    \
  FORMAT(subway)                 \
  FORMAT(ldbc)                   \
  FORMAT(metis)                  \
  FORMAT(edge_list)              \
  FORMAT(graph500)               \
  FORMAT(pairs)
// clang-format on

#define SPILLWAY_DECLARE_FORMAT(name) Format name##_format();
SPILLWAY_FORMATS(SPILLWAY_DECLARE_FORMAT)
#undef SPILLWAY_DECLARE_FORMAT

}  // namespace spillway
