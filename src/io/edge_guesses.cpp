// Guesses of the reader where the text of an edge list states nothing: all in one note.
#include "io/edge_guesses.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "graph/symmetry.hpp"
#include "io/line_parsers.hpp"
#include "io/odd_names.hpp"
#include "io/row_text.hpp"

namespace spillway {
namespace {

class Guesses {
 public:
  Guesses(const EdgeText& text, const EdgeInspection& inspection, ReadJob& job)
      : text_(text), inspection_(inspection), job_(job) {}

  void tell(const ReadResult& result, ListLayout& layout) {
    if (!text_.first_name.empty()) tell_names();
    const Fields& header = inspection_.header();
    if (inspection_.header_is_a_guess()) {
      add("header", fmt::format("line {}, '{}', is a header: arcs lead from '{}' to '{}' (--header no reads it as "
                                "an edge)",
                                inspection_.header_line(), shown_line(inspection_.header_text()),
                                printable(header[inspection_.source()]), printable(header[inspection_.target()])));
    } else if (header.empty() && !text_.first_name.empty() && !is_digits(text_.first_name) &&
               job_.options.header == HeaderMode::automatic) {
      add("header", fmt::format("line {}, '{}', is an edge (--header yes makes it a header)",
                                inspection_.first_line(), shown_line(inspection_.first_text())));
    }
    if (inspection_.separator().also || (!text_.first_name.empty() && inspection_.separator_is_a_guess()))
      add("separator", fmt::format("columns are separated by {}", layout.separator));
    bool lines_differ = false;
    if (job_.options.format == "auto" && job_.sample.whole && fits_metis(job_.sample.text, lines_differ))
      add("format", "the text is read as an edge list, though it fits METIS (--format metis)");
    tell_columns();
    tell_weights(result, layout);
    if (result.ids.kind() == IdMap::Kind::strings)
      zero_ = result.ids.find("0", result.csr.vertex_count());
    else if (result.csr.vertex_count() > 0 && result.ids.name(0) == "0")
      zero_ = 0;
    tell_unfollowed(result);
    tell_terminator(result);
    if (result.ids.kind() == IdMap::Kind::strings && !inspection_.states_own_banner())
      for (const OddName& odd : odd_names(result.ids, result.csr.vertex_count(), !inspection_.quoted()))
        add(odd.what, odd.clause);
    tell_one_way(result);
    layout.guessed = std::move(guessed_);
    if (!clauses_.empty()) job_.notes.insert(job_.notes.begin(), std::move(clauses_));
  }

 private:
  void add(const char* what, const std::string& clause) {
    if (std::ranges::find(guessed_, what) == guessed_.end()) guessed_.emplace_back(what);
    clauses_ += (clauses_.empty() ? "" : "; ") + clause;
  }

  void tell_names() {
    const bool zeros = is_digits(text_.first_name);
    add("ids",
        fmt::format("ids are names, since '{}' in line {} {}", printable(text_.first_name), text_.first_name_line,
                    zeros ? "has leading zeros (--ids sparse reads numbers)" : "is not a number"));
  }

  /// Columns that options left open.
  void tell_columns() {
    const LoadOptions& options = job_.options;
    const bool         source = !options.source_column.empty(), target = !options.target_column.empty();
    const bool         first_two = inspection_.source() == 0 && inspection_.target() == 1;
    const bool         choice    = !source && !target && inspection_.ends_are_a_choice();
    if (source == target && (source || first_two || !inspection_.header().empty()) && !choice) return;
    const auto name = [&](unsigned column) {
      return choice ? fmt::format(" ('{}')", printable(inspection_.header()[column], 40)) : std::string{};
    };
    add("columns", fmt::format("arcs lead from column {}{} to column {}{}", inspection_.source() + 1,
                               name(inspection_.source()), inspection_.target() + 1, name(inspection_.target())));
  }

  /// What the text says of itself, and is not followed.
  void tell_unfollowed(const ReadResult& result) {
    using Counted                 = EdgeInspection::Counted;
    const Transform&    transform = job_.options.transform;
    const std::uint64_t vertices  = result.csr.vertex_count();
    if (inspection_.may_begin_with_counts(text_.edges_read, vertices))
      add("counts", fmt::format("line {}, '{}', is an edge, though it could be the numbers of vertices and edges "
                                "(remove it if it is)",
                                inspection_.first_line(), shown_line(inspection_.first_text())));
    if (inspection_.may_begin_with_column_numbers())
      add("header",
          fmt::format("line {}, '{}', is an edge, though it could be the numbers of columns (--header yes)",
                      inspection_.first_line(), shown_line(inspection_.first_text())));
    bool partly = false;
    if (const std::string said = inspection_.says_undirected(partly);
        !said.empty() && !transform.undirected && !transform.symmetrize &&
        !lists_both_ways(result, job_.context.threads).value_or(true))
      add("direction",
          fmt::format("each line is one arc, though the file says '{}'{}", printable(said, 60),
                      partly ? " of some lines, which is not followed" : " (--undirected reads both)"));
    if (inspection_.states_own_banner()) return;  // read_edge_list compares its counts
    if (const std::string said = inspection_.contradicted_count(Counted::edges, text_.edges_read); !said.empty())
      add("counts", fmt::format("the file says '{}', but {} lines are edges", printable(said, 60),
                                with_commas(text_.edges_read)));
    else if (const std::string nodes = inspection_.contradicted_count(Counted::vertices, vertices); !nodes.empty())
      add("counts", fmt::format("the file says '{}', but {} vertices are read", printable(nodes, 60),
                                with_commas(vertices)));
    if (const std::string said = inspection_.says_bipartite(); !said.empty())
      add("ids",
          fmt::format("the file says '{}': where both sides count from 1, vertices of one side are taken for "
                      "those of the other",
                      printable(said, 60)));
    else if (const std::string kinds = text_.ids == IdKind::strings ? "" : inspection_.names_two_kinds();
             !kinds.empty() && (!has_rows(result.csr) || ends_overlap(result.csr)))
      add("ids", fmt::format("ids of the columns '{}' are taken for the same vertices: some stand in both; if the "
                             "columns list things of two kinds, vertices of one side are taken for those of the "
                             "other",
                             printable(kinds, 60)));
    if (const Fields said = inspection_.unfollowed_comments(vertices, text_.edges_read);
        !said.empty() && text_.comments_like_edges.empty() && !inspection_.states_own_banner())
      add("comments", said.size() == 1 ? fmt::format("the comment '{}' is not followed", printable(said[0], 60))
                                       : fmt::format("the comment '{}' and {} more are not followed",
                                                     printable(said[0], 60), said.size() - 1));
    tell_missing_parents(result.csr);
    if (const std::string said = inspection_.names_other_columns(); !said.empty())
      add("columns", fmt::format("arcs lead from column {} to column {}, though a comment names them '{}' "
                                 "(--source-column and --target-column)",
                                 inspection_.source() + 1, inspection_.target() + 1, printable(said, 60)));
  }

  /// Whether some vertex is a source and a target as well.
  bool ends_overlap(const Csr& csr) const {
    if (job_.options.transform.undirected || job_.options.transform.symmetrize) return true;
    for (const Vertex target : csr.targets)
      if (csr.offsets[target] != csr.offsets[target + std::uint64_t{1}]) return true;
    return false;
  }

  /// Tables of trees give roots the parent 0, which then joins them all.
  void tell_missing_parents(const Csr& csr) {
    if (!has_rows(csr)) return;
    const Fields& header = inspection_.header();
    const auto    names  = [&](unsigned column) {
      const std::string name = column < header.size() ? lower_case(header[column]) : "";
      return std::ranges::any_of(
              std::initializer_list<const char*>{"parent", "father", "mother", "manager", "supervisor", "reports"},
              [&](const char* word) { return name.find(word) != std::string::npos; });
    };
    const bool from = names(inspection_.source()), to = names(inspection_.target());
    if (from == to || !zero_) return;
    const bool leaves  = csr.degree(*zero_) > 0,
               arrives = std::ranges::find(csr.targets, *zero_) != csr.targets.end();
    if (from ? leaves && !arrives : arrives && !leaves)
      add("ids",
          fmt::format("0 stands only in the column '{}' and is a vertex like others (remove its lines if it "
                      "means none)",
                      printable(header[from ? inspection_.source() : inspection_.target()], 40)));
  }

  /// "0 0" ends lists in old formats and contests. It is told where nothing else leads from or to 0.
  void tell_terminator(const ReadResult& result) {
    const Csr& csr = result.csr;
    if (csr.targets.empty()) return;  // there are none, or they are elsewhere
    if (result.ids.kind() != IdMap::Kind::consecutive || result.ids.first() != 0 || csr.vertex_count() < 2) return;
    const auto row = csr.neighbors(0);
    if (row.size() != 1 || row[0] != 0 || std::ranges::count(csr.targets, Vertex{0}) != 1) return;
    add("ids", "vertex 0 has no edge but the line '0 0' (remove it if it ends the list)");
  }

  void tell_one_way(const ReadResult& result) {
    const bool names = result.ids.kind() == IdMap::Kind::strings;  // vertices are in the order of theirs
    if (inspection_.states_own_banner() || std::ranges::find(guessed_, "direction") != guessed_.end()) return;
    if (const std::string clause = one_way_clause(result, job_.options.transform, names ? "name" : "id");
        !clause.empty())
      add("direction", clause);
  }

  static std::uint64_t zero_weights(const ReadResult& result, int threads) {
    if (!result.edges) return static_cast<std::uint64_t>(std::ranges::count(result.csr.weights, 0u));
    const EdgeRun edges = result.edges->edges(threads);
    std::uint64_t zeros = 0;
    for (std::uint64_t i = 0; i < edges.count; ++i) zeros += edges.weight(i) == 0;
    return zeros;
  }

  void tell_weights(const ReadResult& result, const ListLayout& layout) {
    const bool   asked    = !job_.options.weight_column.empty() || job_.options.weight_type;
    const Fields not_read = inspection_.columns_not_read();
    const bool   chosen   = asked && !job_.options.source_column.empty() && !job_.options.target_column.empty();
    if (!not_read.empty() && !chosen)
      add("columns", fmt::format("{} '{}' {} not read{}", not_read.size() > 1 ? "columns" : "column",
                                 printable(fmt::format("{}", fmt::join(not_read, "', '")), 200),
                                 not_read.size() > 1 ? "are" : "is",
                                 layout.weight_column || asked || !could_be_weights(not_read)
                                     ? ""
                                     : " (--weight-column NAME reads one as weights)"));
    if (inspection_.weight_is_chosen())
      add("weight_column",
          fmt::format("of several columns that could be weights, column {} is read ('{}')", layout.weight_column,
                      printable(inspection_.header()[layout.weight_column - 1])));
    if (layout.weight_column > 0 && inspection_.separator().by == ';' &&
        inspection_.may_group_digits(layout.weight_column - 1))
      add("weight_column",
          fmt::format("points in column {} are decimal points: 1.250 is 1.25", layout.weight_column));
    // Zero is zero in both types of weights.
    constexpr std::uint64_t few     = 8;
    const std::uint64_t     all     = result.edges ? result.edges->edge_count() : result.csr.weights.size();
    const int               threads = job_.context.threads;
    if (layout.weight_column > 0 && all > few && 2 * zero_weights(result, threads) > all)
      add("weight_column",
          "most weights are 0, and lines with them are arcs like others (remove them if a table lists "
          "all pairs, and 0 means none)");
    if (inspection_.weight_is_a_guess()) {
      const WeightRange range = result.edges ? weight_range(*result.edges, threads)
                                             : weight_range(result.csr, result.weight_type, threads);
      const bool        seen  = result.edges || has_rows(result.csr);
      add("weight_column",
          fmt::format("column {} holds the weights{} (--weight-column none ignores it)", layout.weight_column,
                      seen ? ", " + range_text(range, result.weight_type) : ""));
    } else if (layout.weight_column == 0 && layout.columns > 2 && !asked && not_read.empty()) {
      const unsigned third = 6 - layout.source_column - layout.target_column;
      if (layout.columns > 3)
        add("weight_column",
            fmt::format("lines have {} columns: source is column {}, target column {}, and the others are ignored "
                        "(--weight-column N reads one as weights)",
                        layout.columns, layout.source_column, layout.target_column));
      else if (!inspection_.is_empty(third - 1))
        add("weight_column", fmt::format("column {} is ignored{}", third,
                                         inspection_.has_decimal_commas(third - 1)
                                             ? ": numbers are written with a decimal point and without commas"
                                             : ""));
    }
  }

  bool could_be_weights(const Fields& columns) const {
    const Fields& header = inspection_.header();
    for (unsigned i = 0; i < header.size(); ++i)
      if (std::ranges::find(columns, header[i]) != columns.end() && inspection_.holds_numbers(i)) return true;
    return false;
  }

  static std::string range_text(const WeightRange& range, WeightType type) {
    if (type == WeightType::u32)
      return fmt::format("{} to {}", static_cast<std::uint64_t>(range.least),
                         static_cast<std::uint64_t>(range.most));
    return fmt::format("{} to {}", static_cast<float>(range.least), static_cast<float>(range.most));
  }

  const EdgeText&          text_;
  const EdgeInspection&    inspection_;
  ReadJob&                 job_;
  std::optional<Vertex>    zero_;  ///< the vertex that is called so
  std::string              clauses_;
  std::vector<std::string> guessed_;
};

}  // namespace

void tell_guesses(const EdgeText& text, const EdgeInspection& inspection, const ReadResult& result, ReadJob& job) {
  Guesses{text, inspection, job}.tell(result, *job.list);
}

}  // namespace spillway
