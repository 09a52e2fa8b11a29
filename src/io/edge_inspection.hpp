// What the first lines of a text edge list tell: separators, header, columns, and whether ids are names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/header_words.hpp"

namespace spillway {

/// The first line of the lists Spillway writes: what a plain list cannot say, so that reading gives the same
/// graph.
inline constexpr std::string_view own_banner = "# Spillway edge list";

/// Decimal digits and nothing else.
bool is_digits(std::string_view text);
bool starts_like_number(std::string_view text);
/// Anything that is written as a number: 7, -1, +1, 1.0, 1e5. Words such as "nan" and "inf" are words.
bool is_numeric(std::string_view text);

/// What stands between fields: `by` as EdgeLayout::delimiter has it, and perhaps `also` beside blanks.
struct Separator {
  char by   = ' ';
  char also = 0;
};

/// The text that makes ids names, and the line it stands in.
struct NameEvidence {
  std::string   text;
  std::uint64_t line = 0;
};

inline bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with('%'); }

class EdgeInspection {
 public:
  EdgeInspection(const Sample& sample, const LoadOptions& options);

  /// Text with at least two columns, and where ids are names, as many in every line: prose is not an edge list.
  bool looks_like_edges() const;

  bool        has_data() const { return first_ < lines_.size(); }
  std::size_t columns() const { return data(0).size(); }
  Separator   separator() const { return separator_; }
  /// Another one would make equally many columns of every line, too.
  bool          separator_is_a_guess() const;
  const Fields& header() const { return header_; }
  bool          quoted() const { return lines_[first_].text.find('"') != std::string_view::npos; }
  std::uint64_t start() const { return lines_[first_].offset; }
  std::uint64_t first_line() const { return line_number(first_); }
  std::uint64_t header_line() const { return line_number(0); }
  std::string   first_text() const { return std::string{lines_[first_].text}; }
  std::string   header_text() const { return std::string{lines_[0].text}; }

  /// The header was found by evidence that another reader may see otherwise.
  bool header_is_a_guess() const;

  unsigned                source() const { return source_; }
  unsigned                target() const { return target_; }
  std::optional<unsigned> weight() const { return weight_; }
  bool                    weight_is_a_guess() const { return weight_is_a_guess_; }
  bool                    holds_numbers(unsigned column) const;       ///< in some line
  bool                    is_empty(unsigned column) const;            ///< in every line
  bool                    has_decimal_commas(unsigned column) const;  ///< 0,5 in the first line
  bool                    may_group_digits(unsigned column) const;
  bool                    keeps_tabs() const { return separator_.by == '\t' && tabs_leave_empty_cells(); }
  bool                    weight_is_chosen() const { return weight_is_chosen_; }  ///< several columns could be it

  /// Finds source, target and weights, by option, by the header's words, by position. What cannot be is an error.
  void place_columns();

  /// Why ids are names: a word in the first data line, or a number that is spelled with leading zeros.
  std::optional<NameEvidence> names_because() const;

  /// Refuses first lines whose ids are numbers that no vertex has (-1, 1.0), or that are no ids at all (->,
  /// <html>).
  void require_usable_ids() const;

  WeightType weight_type_at(unsigned column) const;

  /// Larger than indexing with the ids themselves could pay for.
  bool          ids_are_sparse() const { return largest_ >= sparse_from(); }
  std::uint64_t sparse_from() const;

  bool states_own_banner() const;

  /// What the text says of itself and no reader follows (edge_statements.cpp); empty where it does not.
  std::string says_undirected(bool& partly) const;  ///< partly: of some lines
  std::string says_bipartite() const;
  std::string names_two_kinds() const;
  std::string names_other_columns() const;
  Fields      unfollowed_comments(std::uint64_t vertices, std::uint64_t edges) const;  ///< as they were read
  /// A comment that states another number of vertices or edges.
  enum class Counted { vertices, edges };
  std::string contradicted_count(Counted what, std::uint64_t count) const;
  Fields      columns_not_read() const;  ///< by their names; none without a header
  bool        ends_are_a_choice() const;
  /// 0,1,2 above more lines, as data frames without names of columns are written.
  bool may_begin_with_column_numbers() const;
  /// Whether the first of `edges` lines looks like the numbers of vertices and edges; `found`: vertices.
  bool may_begin_with_counts(std::uint64_t edges, std::uint64_t found) const;

 private:
  struct Line {
    std::string_view text;
    std::uint64_t    offset;
    bool             cut;  ///< a comment followed
  };

  void                     split_lines();
  std::uint64_t            line_number(std::size_t index) const;
  const Fields&            data(std::size_t i) const { return rows_[first_ + i]; }
  std::size_t              shown_rows() const { return rows_.size() - first_; }
  std::vector<Fields>      trial(Separator separator) const;
  bool                     fits(Separator separator, bool every_column) const;
  Separator                separator_for_names() const;
  Separator                choose_separator() const;
  void                     find_header();
  bool                     is_header(const Fields& top) const;
  bool                     asked_for_by_name(const Fields& top) const;
  bool                     stands_above_ids() const;
  bool                     stands_above_numbers(const Fields& top) const;
  bool                     says_what_columns_are(const Fields& top) const;
  bool                     is_sure(const Fields& top) const;
  void                     refuse_repeated_header() const;
  bool                     numbers_its_lines() const;
  bool                     is_checked(std::string_view comment) const;
  bool                     numbers_columns(const Fields& top) const;
  bool                     names_numbers_below(const Fields& top) const;
  void                     refuse_odd_first_line() const;
  void                     leave_out_line_numbers(std::vector<unsigned>& columns) const;
  bool                     parts_ids_with_commas(char separator) const;
  bool                     tabs_leave_empty_cells() const;
  bool                     empty_cells_come_and_go() const;
  bool                     header_has_blanks_between_tabs() const;
  void                     refuse_end_as_weight(std::optional<unsigned> from, std::optional<unsigned> to,
                                                std::optional<unsigned> weights) const;
  std::optional<unsigned>  weight_by_name(std::optional<unsigned> from, std::optional<unsigned> to) const;
  std::optional<Separator> separator_of_grouped() const;
  template <class Body>
  void                    for_each_comment(Body&& body) const;
  bool                    appears_below(const std::string& word) const;
  std::optional<unsigned> asked(const char* option, const std::string& column) const;
  void place_ends(std::optional<unsigned> from, std::optional<unsigned> to, std::optional<unsigned> weights);
  void scan_ids();
  template <class Visit>
  void              for_each_row(std::size_t first, Visit&& visit) const;
  void              place_weights(std::optional<unsigned> asked_for);
  [[noreturn]] void refuse_columns() const;

  const Sample&               sample_;
  const LoadOptions&          options_;
  std::vector<Line>           lines_;
  std::vector<Fields>         rows_;  ///< of the first lines
  Fields                      header_;
  std::size_t                 first_ = 0;
  Separator                   separator_;
  unsigned                    source_ = 0;
  unsigned                    target_ = 1;
  std::optional<unsigned>     weight_;
  bool                        weight_is_a_guess_ = false;
  bool                        weight_is_chosen_  = false;
  std::uint64_t               largest_           = 0;  ///< id
  std::optional<NameEvidence> zeros_;                  ///< the first id with leading zeros
};

/// visit(index, fields) for every line of the sample from `first` on.
template <class Visit>
void EdgeInspection::for_each_row(std::size_t first, Visit&& visit) const {
  Fields fields;
  for (std::size_t i = first; i < lines_.size(); ++i) {
    if (i >= rows_.size() && !split_fields(lines_[i].text, separator_.by, fields, separator_.also)) fields.clear();
    visit(i, i < rows_.size() ? rows_[i] : fields);
  }
}

/// body(line) for every comment of the sample.
template <class Body>
void EdgeInspection::for_each_comment(Body&& body) const {
  const std::string_view text = sample_.text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end  = std::min(text.find('\n', begin), text.size());
    std::string_view  line = text.substr(begin, end - begin);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    if (is_comment(line)) body(line);
    begin = end + 1;
  }
}

}  // namespace spillway
