// What reading edges will take, found by a pass over them that holds none.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph_size.hpp"
#include "io/edge_lines.hpp"

namespace spillway {

/// How many different ids there are, by the k smallest of their hashes (Bar-Yossef et al., "Counting Distinct
/// Elements in a Data Stream", RANDOM 2002): within about 1/sqrt(k). The ids behind them are a fair sample, which
/// tells how long names are.
class DistinctIds {
 public:
  void add(std::uint64_t hash, std::uint32_t length);
  void add_all(const DistinctIds& other);

  std::uint64_t count();
  /// Bytes of all different names together.
  std::uint64_t bytes();

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t length;
  };

  void shrink();

  std::vector<Entry> smallest_;
  std::uint64_t      bound_ = UINT64_MAX;
};

/// A pass over a file takes seconds for each GiB; beyond this nobody waits for a better number.
inline constexpr std::uint64_t most_forecast_bytes = std::uint64_t{4} << 30;

/// Takes every edge of a list, and tells how large the graph is and what building it takes. Where ids are looked
/// up, each thread of a reader has a table for its part of the list: edges are to be counted in the same parts.
class EdgeForecast {
 public:
  /// `buffers`: bytes that reading itself holds.
  EdgeForecast(const EdgeText& text, const ReadJob& job, std::uint64_t buffers)
      : text_(text), job_(job), buffers_(buffers), parts_(static_cast<std::size_t>(job.context.threads)) {}

  std::size_t parts() const { return parts_.size(); }

  void add(std::size_t part, std::uint64_t source, std::uint64_t target);
  void add(std::size_t part, std::string_view source, std::string_view target);

  GraphSize size();

 private:
  struct Part {
    std::uint64_t edges = 0;
    DistinctIds   ids;
  };

  void          number(Part& part, std::uint64_t id, bool is_source);
  bool          both_ways() const;
  std::uint64_t edges() const;
  EdgeIndex     arcs() const;
  bool          weighted() const { return text_.weight_type != WeightType::none; }
  bool          has_table(std::uint64_t vertices) const;
  std::uint64_t table_bytes(const GraphSize& size, DistinctIds& all) const;
  BuildSize     build_size(const GraphSize& size) const;
  std::uint64_t members_bytes(const GraphSize& size, DistinctIds& all) const;
  std::uint64_t lookup_bytes();
  std::uint64_t renumbering_peak(const GraphSize& size, DistinctIds& all) const;
  void          merge_reverses(GraphSize& size, std::uint64_t base) const;

  const EdgeText&        text_;
  const ReadJob&         job_;
  std::uint64_t          buffers_;
  std::vector<Part>      parts_;
  std::vector<EdgeIndex> in_bucket_;
  std::uint64_t          loops_ = 0;
  std::uint64_t          least_ = UINT64_MAX, largest_ = 0;
};

}  // namespace spillway
