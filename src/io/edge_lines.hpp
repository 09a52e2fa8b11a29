// Text with one edge a line: the part that edge lists, Matrix Market, DIMACS and LDBC files share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/edge_collector.hpp"
#include "io/format.hpp"

namespace spillway {

/// How one line reads.
struct EdgeLayout {
  char        delimiter      = ' ';   ///< ' ' stands for any run of blanks and tabs; '\t' for one tab
  char        also           = 0;     ///< beside blanks: one of these separates, too
  std::string comments       = "#%";  ///< a line that starts with one of these is skipped
  char        lead           = 0;     ///< DIMACS: lines start with this letter
  unsigned    source         = 0;     ///< columns, from 0
  unsigned    target         = 1;
  unsigned    weight         = 2;      ///< used when weights are read
  unsigned    columns        = 2;      ///< that a line has; what no column above names is skipped
  bool        ragged         = false;  ///< lines may have more or fewer columns: those that are read were named
  bool        quoted         = false;  ///< fields may stand in quotes
  bool        one_triangle   = false;  ///< symmetric matrices: no edges on both sides of the diagonal
  bool        negate_reverse = false;  ///< skew-symmetric matrices: the other triangle has the other sign
};

enum class IdKind { small_numbers, numbers, strings };

struct EdgeText {
  EdgeLayout                   layout;
  std::uint64_t                start = 0;  ///< byte of the first line
  IdKind                       ids   = IdKind::small_numbers;
  std::optional<std::uint64_t> vertices;  ///< ids are first_id to first_id + vertices - 1
  std::uint64_t                first_id        = 0;
  bool                         dense           = false;         ///< every number up to the largest is a vertex
  std::uint64_t                id_limit        = max_vertices;  ///< ids from here on make all be looked up instead
  WeightType                   weight_type     = WeightType::none;
  bool                         weights_stated  = false;  ///< the type is fixed: what does not fit it is an error
  bool                         names_if_zeros  = false;  ///< a number with leading zeros makes all ids names
  bool                         tabs_first      = true;   ///< lines may begin with tabs
  char                         names_delimiter = 0;  ///< EdgeLayout::delimiter, should ids turn out to be names
  std::string header_source, header_target;          ///< words of the header above names; empty: there is none
  std::vector<std::string>
                comments_like_edges;  ///< lines at the top that would be edges but for their first letter
  std::string   first_name;           ///< the text that did it, and its line
  std::uint64_t first_name_line = 0;
  std::uint64_t edges_read      = 0;             ///< lines that were edges, after reading
  std::optional<std::uint64_t> edges;            ///< how many lines there must be
  std::string                  edges_stated_by;  ///< "line 1", for the message when there are not
  Array<std::uint64_t>         vertex_list;      ///< ids listed elsewhere (LDBC), ascending
  std::string                  vertex_list_path;
  std::optional<std::uint64_t> listed;  ///< how many ids those are
  std::string                  hint;    ///< what to do about an id that is no number, where something can be done
  std::string                  weight_hint;  ///< and about a weight that is none
};

/// Reads all edges. Where the text turns out to need wider ids, names or fractional weights where its start showed
/// none, it is read again as that, and `text` says so afterwards. The outcome does not depend on threads: the
/// first line that asks for another reading, or that no reading accepts, decides.
ReadResult read_edge_text(EdgeText& text, ReadJob& job);

}  // namespace spillway
