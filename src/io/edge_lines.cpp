#include "io/edge_lines.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/interner.hpp"
#include "io/line_source.hpp"
#include "io/text_forecast.hpp"

namespace spillway {
namespace {

/// What a line ends a reading with: it is wrong, or it shows that the start of the text misled.
enum class Finding { mistake, wider_ids, names, fractions };

/// Something is found at this place; the caller knows which line that is.
struct LineProblem {
  const char* place;
  std::string message;  ///< of `names`: the text that is one
  Finding     finding = Finding::mistake;
};

/// The text is to be read again, as something else.
struct Reread {
  Finding       finding;
  std::string   text;
  std::uint64_t line;
};

/// The first weight of a piece that 32 bits do not hold. It is a mistake only if all weights of the file are
/// whole: one fraction makes floats of them. So reading goes on, and the end decides.
struct WideWeight {
  const char* place = nullptr;
  std::string text;

  void note(const char* where, std::string_view word) {
    if (!place) place = where, text = word;
  }
};

constexpr const char* wide_weight_message =
    "weight {} does not fit 32 bits (at most 4294967295); read weights as floats with --weight-type f32, or none "
    "with --weight-column none";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// A chunk always ends with a newline, so there is one.
const char* end_of_line(const char* p) { return static_cast<const char*>(rawmemchr(p, '\n')); }

/// The word at `p`, for a message.
std::string word_at(const char* p, char delimiter) {
  const char* end = p;
  while (*end != '\n' && !is_blank(*end) && *end != delimiter) ++end;
  return end == p ? "the end of the line" : fmt::format("'{}'", printable({p, static_cast<std::size_t>(end - p)}));
}

/// The value of `length` (1 to 8) decimal digits that `digits` holds as numbers 0 to 9, first digit lowest: pairs,
/// then fours, then eights are joined by one multiplication each (Lemire's SWAR scheme).
std::uint64_t joined_digits(std::uint64_t digits, unsigned length) {
  digits <<= 64 - 8 * length;
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x000000FF000000FFu) * 0x000F424000000064u +
          (digits >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >>
         32;
}

/// A decimal number; `p` is moved past it. Eight bytes are looked at together, since the lengths of ids are what
/// no branch predictor can guess; longer numbers take a plain loop.
bool parse_digits(const char*& p, std::uint64_t& value) {
  static_assert(std::endian::native == std::endian::little && readable_past >= sizeof(std::uint64_t));
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  const std::uint64_t digits = bytes ^ 0x3030303030303030u;
  // Adding 0x76 carries into the top bit of every byte above 9; a carry spoils only bytes behind such a one.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  const auto          length = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (length > 0 && length < 8) [[likely]] {
    value = joined_digits(digits, length);
    p += length;
    return true;
  }
  const char* const first = p;
  while (*p >= '0' && *p <= '9') ++p;
  const auto number = parse_number({first, static_cast<std::size_t>(p - first)});  // may not fit 64 bits
  value             = number.value_or(0);
  return number.has_value();
}

/// Weight bits of the type that T names; `p` is moved past it.
struct NoWeight {
  static constexpr WeightType type = WeightType::none;
};

struct IntegerWeight {
  static constexpr WeightType type = WeightType::u32;

  static std::uint32_t parse(const char*& p, char delimiter, bool fixed, WideWeight& wide) {
    const char* const first = p;
    std::uint64_t     value = 0;
    const bool        good  = parse_digits(p, value);
    const bool        ends  = p != first && (is_blank(*p) || *p == '\n' || *p == delimiter);
    if (good && ends && value <= UINT32_MAX) [[likely]]
      return static_cast<std::uint32_t>(value);
    if (!ends) refuse(first, delimiter, fixed);
    if (fixed) throw LineProblem{first, fmt::format(wide_weight_message, word_at(first, delimiter))};
    wide.note(first, word_at(first, delimiter));
    return 0;
  }

 private:
  [[noreturn]] static void refuse(const char* first, char delimiter, bool fixed) {
    float      as_float = 0;
    const auto parsed   = fast_float::from_chars(first, end_of_line(first), as_float);
    if (parsed.ec != std::errc{} || !std::isfinite(as_float))
      throw LineProblem{first, fmt::format("expected a weight, found {}", word_at(first, delimiter))};
    if (!fixed) throw LineProblem{first, {}, Finding::fractions};
    throw LineProblem{first, fmt::format("weight {} is not a whole number from 0 to 4294967295; read weights as "
                                         "floats with --weight-type f32",
                                         word_at(first, delimiter))};
  }
};

struct FloatWeight {
  static constexpr WeightType type = WeightType::f32;
  static std::uint32_t        parse(const char*& p, char delimiter, bool, WideWeight&) {
           float             value = 0;
           const char* const first = p;
           const auto        end   = fast_float::from_chars(p, end_of_line(p), value);
           if (end.ec != std::errc{} && end.ec != std::errc::result_out_of_range)
      throw LineProblem{first, fmt::format("expected a weight, found {}", word_at(first, delimiter))};
    if (!is_blank(*end.ptr) && *end.ptr != '\n' && *end.ptr != delimiter)
      throw LineProblem{first, fmt::format("expected a weight, found {}", word_at(first, delimiter))};
    if (!std::isfinite(value))
      throw LineProblem{first, fmt::format("weight {} is not a finite 32-bit float", word_at(first, delimiter))};
    p = end.ptr;
           return std::bit_cast<std::uint32_t>(value);
  }
};

std::string other_columns(std::size_t found, std::size_t expected) {
  return fmt::format(
      "the line has {}, where {} were expected, as in the first line; if the ids are in the right columns, say "
      "--source-column N --target-column N",
      counted(found, "column", "columns"), expected);
}

/// Lines whose first columns are the ids in order: the fast path, for numbers only.
template <class Weight>
class NumberLines {
 public:
  NumberLines(const EdgeText& text) : text_(text), layout_(text.layout) {}

  /// add(source, target, weight bits, place) for every edge; returns how many.
  template <class Add>
  std::uint64_t parse(const LineChunk& chunk, WideWeight& wide, Add&& add) const {
    std::uint64_t edges = 0;
    for (const char* p = chunk.begin; p < chunk.end;) {
      if (!is_digit(*p)) [[unlikely]] {
        p = skip_blanks(p);
        if (*p == '\n') {
          ++p;
          continue;
        }
        if (is_comment(*p)) {
          p = end_of_line(p) + 1;
          continue;
        }
      }
      const char* const line = p;
      if (layout_.lead) p = past_lead(p);
      const std::uint64_t source = id(p, "a source id");
      p                          = past_delimiter(p, "a target id");
      const std::uint64_t target = id(p, "a target id");
      std::uint32_t       weight = 0;
      if constexpr (Weight::type != WeightType::none) {
        p      = past_delimiter(p, "a weight");
        weight = Weight::parse(p, layout_.delimiter, text_.weights_stated, wide);
      }
      p = past_line(p);
      add(source, target, weight, line);
      ++edges;
    }
    return edges;
  }

 private:
  bool is_comment(char c) const { return layout_.comments.find(c) != std::string::npos; }

  const char* past_lead(const char* p) const {
    if (*p != layout_.lead || !is_blank(p[1]))
      throw LineProblem{
          p, fmt::format("expected a line that starts with '{}', found {}", layout_.lead, word_at(p, ' '))};
    return skip_blanks(p + 1);
  }

  bool ends_field(char c) const { return is_blank(c) || c == layout_.delimiter || c == '\n'; }

  std::uint64_t id(const char*& p, const char* what) const {
    const char* const first = p;
    std::uint64_t     value = 0;
    if (!parse_digits(p, value) || !ends_field(*p)) [[unlikely]]
      refuse_id(first, p, what);
    if (*first == '0' && p != first + 1) [[unlikely]]
      check_zeros(first, p);
    return value;
  }

  /// 007 is not 7, unless somebody says that ids are numbers.
  void check_zeros(const char* first, const char* end) const {
    if (text_.names_if_zeros)
      throw LineProblem{first, {first, static_cast<std::size_t>(end - first)}, Finding::names};
  }

  [[noreturn]] void refuse_id(const char* first, const char* end, const char* what) const {
    const std::string word        = word_at(first, layout_.delimiter);
    const bool        digits_only = end != first && ends_field(*end);
    throw LineProblem{
        first, digits_only ? fmt::format("id {} does not fit 64 bits; read ids as names with --ids string", word)
                           : fmt::format("expected {} (a number), found {}{}", what, word, text_.hint)};
  }

  const char* past_delimiter(const char* p, const char* what) const {
    p = skip_blanks(p);
    if (layout_.delimiter != ' ') {
      if (*p != layout_.delimiter)
        throw LineProblem{p,
                          fmt::format("expected '{}' and {}, found {}", layout_.delimiter, what, word_at(p, ' '))};
      p = skip_blanks(p + 1);
    }
    if (*p == '\n') throw LineProblem{p, fmt::format("expected {}, found the end of the line", what)};
    return p;
  }

  const char* past_line(const char* p) const {
    constexpr unsigned used = Weight::type == WeightType::none ? 2 : 3;
    if (layout_.columns > used) return past_columns(p, used);
    if (*p == '\n') [[likely]]
      return p + 1;
    p = skip_blanks(p);
    if (*p == '\n') return p + 1;
    if (is_comment(*p)) return end_of_line(p) + 1;
    throw LineProblem{
        p, fmt::format("expected the end of the line after {} columns, found {}", used, word_at(p, ' '))};
  }

  /// Past columns that nobody reads. Between blanks an empty one cannot be seen: there must be as many as in the
  /// first line.
  const char* past_columns(const char* p, unsigned columns) const {
    if (layout_.delimiter != ' ' || layout_.ragged) return end_of_line(p) + 1;
    if (text_.names_delimiter == '\t') {  // texts between tabs may hold blanks
      const char* const end = end_of_line(p);
      columns += static_cast<unsigned>(std::count(p, end, '\t'));
    } else {
      for (p = skip_blanks(p); *p != '\n' && !is_comment(*p); p = skip_blanks(p)) {
        ++columns;
        while (*p != '\n' && !is_blank(*p)) ++p;
      }
    }
    if (columns != layout_.columns) throw LineProblem{p, other_columns(columns, layout_.columns)};
    return end_of_line(p) + 1;
  }

  const EdgeText&   text_;
  const EdgeLayout& layout_;
};

/// Any columns, quotes, names: every line is taken apart.
template <class Weight, class Key>
class FieldLines {
 public:
  FieldLines(const EdgeText& text) : text_(text), layout_(text.layout) {}

  template <class Add>
  std::uint64_t parse(const LineChunk& chunk, WideWeight& wide, Add&& add) const {
    std::vector<std::string> fields;
    std::uint64_t            edges = 0;
    for (const char* p = chunk.begin; p < chunk.end;) {
      const char* const end  = end_of_line(p);
      const char* const line = p;
      const char* const word = skip_blanks(p);
      p                      = end + 1;
      if (word == end || is_comment(*word)) continue;
      if (!split_fields({line, static_cast<std::size_t>(end - line)}, layout_.delimiter, fields, layout_.also))
        throw LineProblem{line, "a quote is not closed on this line, or text follows a closing quote"};
      check_columns(fields, line);
      if (names && (fields[0] == "#" || fields[0] == "%"))
        throw LineProblem{line, "this looks like a comment; among names, comments stand at the top of the file"};
      const Key     source = key(fields, layout_.source, line, "source");
      const Key     target = key(fields, layout_.target, line, "target");
      std::uint32_t weight = 0;
      if constexpr (Weight::type != WeightType::none) weight = weight_of(fields, line, wide);
      add(source, target, weight, line);
      ++edges;
    }
    return edges;
  }

 private:
  static constexpr bool names = std::is_same_v<Key, std::string_view>;

  bool is_comment(char c) const { return layout_.comments.find(c) != std::string::npos; }

  /// Names may be anything, so that only the number of columns tells an edge from prose. Among numbers, a line may
  /// lack columns that nobody reads.
  void check_columns(const std::vector<std::string>& fields, const char* line) const {
    const std::size_t columns = layout_.columns;
    if (fields.size() == columns || layout_.ragged) return;
    if (!names && fields.size() < columns && layout_.delimiter != ' ') return;
    if (fields.size() > columns && !fields[columns].empty() && is_comment(fields[columns][0])) return;
    // A line that is short of an id or a weight is told so below.
    const std::size_t last =
        std::max({layout_.source, layout_.target, Weight::type == WeightType::none ? 0 : layout_.weight});
    if (fields.size() <= last) return;
    if constexpr (!names) throw LineProblem{line, other_columns(fields.size(), columns)};
    throw LineProblem{line,
                      fmt::format("the line has {}, where {} were expected, as in the first line; names with "
                                  "blanks in them are quoted, or separated by tabs or commas",
                                  counted(fields.size(), "column", "columns"), columns)};
  }

  const std::string& field(const std::vector<std::string>& fields, unsigned column, const char* line,
                           const char* what) const {
    if (column < fields.size() && !fields[column].empty()) return fields[column];
    throw LineProblem{
        line, fmt::format("expected a {} in column {}, but {}", what, column + 1,
                          column < fields.size() ? std::string{"it is empty"}
                                                 : "the line has " + counted(fields.size(), "column", "columns"))};
  }

  Key key(const std::vector<std::string>& fields, unsigned column, const char* line, const char* what) const {
    const std::string& text = field(fields, column, line, what);
    if constexpr (names) {
      return text;
    } else {
      if (const auto number = parse_number(text)) {
        if (text_.names_if_zeros && text.size() > 1 && text[0] == '0')
          throw LineProblem{line, text, Finding::names};
        return *number;
      }
      throw LineProblem{line, fmt::format("expected a {} id (a number) in column {}, found '{}'{}", what,
                                          column + 1, printable(text), text_.hint)};
    }
  }

  std::uint32_t weight_of(const std::vector<std::string>& fields, const char* line, WideWeight& wide) const {
    // Parsers stop at a newline, and may look past it.
    const std::string text =
        field(fields, layout_.weight, line, "weight") + '\n' + std::string(readable_past, '\0');
    const char* place = text.c_str();
    try {
      WideWeight          found;
      const std::uint32_t bits = Weight::parse(place, layout_.delimiter, text_.weights_stated, found);
      if (found.place) wide.note(line, found.text);
      if (*skip_blanks(place) == '\n') return bits;
    } catch (const LineProblem& problem) {
      throw LineProblem{line, problem.message, problem.finding};
    }
    throw LineProblem{line, fmt::format("expected a weight in column {}, found '{}'", layout_.weight + 1,
                                        printable(fields[layout_.weight]))};
  }

  const EdgeText&   text_;
  const EdgeLayout& layout_;
};

template <class Visit>
auto with_weight(WeightType type, Visit&& visit) {
  switch (type) {
    case WeightType::u32:
      return visit(IntegerWeight{});
    case WeightType::f32:
      return visit(FloatWeight{});
    case WeightType::none:
      break;
  }
  return visit(NoWeight{});
}

std::uint32_t negated(WeightType type, std::uint32_t bits) {
  return type == WeightType::f32 ? bits ^ 0x80000000u : bits;
}

/// One reading of the text with everything about it settled.
class EdgeTextReader {
 public:
  EdgeTextReader(const EdgeText& text, ReadJob& job) : text_(text), job_(job), source_(job, text.start) {}

  ReadResult read() {
    return with_weight(text_.weight_type, [&](auto weight) {
      using Weight             = decltype(weight);
      const EdgeLayout& layout = text_.layout;
      const bool in_order = layout.delimiter != '\t' && !layout.also && !layout.quoted && layout.source == 0 &&
                            layout.target == 1 && (text_.weight_type == WeightType::none || layout.weight == 2);
      if (text_.ids == IdKind::strings)
        return interned<std::string_view>(FieldLines<Weight, std::string_view>{text_});
      if (text_.ids == IdKind::numbers)
        return in_order ? interned<std::uint64_t>(NumberLines<Weight>{text_})
                        : interned<std::uint64_t>(FieldLines<Weight, std::uint64_t>{text_});
      return in_order ? small_numbers(NumberLines<Weight>{text_})
                      : small_numbers(FieldLines<Weight, std::uint64_t>{text_});
    });
  }

 private:
  /// Parses all pieces on all threads; adder(thread) gives what takes (source, target, weight, place) there.
  template <class Lines, class Adder>
  void parse(const Lines& lines, Adder&& adder) {
    std::atomic<std::uint64_t> edges{0};
    job_.progress().begin("reading", job_.sample.file_bytes, ProgressUnit::bytes);
    on_threads(job_.context.threads, [&](int thread) {
      LineChunk  chunk;
      WideWeight wide;
      auto       add = adder(thread);
      try {
        // Whoever works before the first problem goes on, so that the same line is told however threads run.
        while (source_.next(thread, chunk) && chunk.offset < first_problem_) {
          wide = {};
          edges += lines.parse(chunk, wide, add);
          report(chunk, wide);
        }
      } catch (const LineProblem& problem) {
        report(chunk, wide);
        report(chunk, problem);
      } catch (...) {
        first_problem_ = 0;
        throw;
      }
    });
    job_.progress().end();
    decide();
    if (text_.edges && edges != *text_.edges)
      throw bad_input("{}: {} says {} edges, but {} follow", job_.path(), text_.edges_stated_by, *text_.edges,
                      edges.load());
  }

  void report(const LineChunk& chunk, const LineProblem& problem) {
    const std::scoped_lock lock{mutex_};
    if (chunk.offset >= first_problem_) return;
    first_problem_ = chunk.offset;
    problem_       = {problem.finding, problem.message, source_.line_of(chunk, problem.place)};
  }

  void report(const LineChunk& chunk, const WideWeight& wide) {
    if (!wide.place) return;
    const std::scoped_lock lock{mutex_};
    if (chunk.offset >= first_wide_) return;
    first_wide_ = chunk.offset;
    wide_ = {Finding::mistake, fmt::format(wide_weight_message, wide.text), source_.line_of(chunk, wide.place)};
  }

  /// What the file as a whole comes to. A weight that is too wide counts as a mistake in its line, unless a line
  /// before the first mistake makes floats of all weights.
  void decide() const {
    const bool found = first_problem_ != UINT64_MAX,
               wide  = first_wide_ <= first_problem_ && first_wide_ != UINT64_MAX;
    if (found && problem_.finding != Finding::mistake) throw problem_;
    if (!found && !wide) return;
    const Reread& first = wide ? wide_ : problem_;
    throw bad_input("{}:{}: {}", job_.path(), first.line, first.text);
  }

  template <class Lines>
  ReadResult small_numbers(const Lines& lines) {
    return with_collector(job_.context, text_.weight_type, [&](auto& collector) {
      const std::uint64_t limit = text_.vertices.value_or(text_.dense ? max_vertices : text_.id_limit);
      const std::uint64_t first = text_.first_id;
      const bool          skew = text_.layout.negate_reverse, one_triangle = text_.layout.one_triangle;
      parse(lines, [&](int thread) {
        return [&, limit, first, skew, one_triangle, &appender = collector.appender(thread)](
                   std::uint64_t source, std::uint64_t target, std::uint32_t weight, const char* place) {
          // Below first_id the subtraction wraps to a number past every limit.
          const std::uint64_t u = source - first, v = target - first;
          if (u >= limit || v >= limit) [[unlikely]]
            out_of_range(u >= limit ? source : target, place);
          if (one_triangle && u != v) note_triangle(u > v, place);
          appender.add(static_cast<Vertex>(u), static_cast<Vertex>(v), weight);
          if (skew) add_negated(appender, u, v, weight, place);
        };
      });
      const Stopwatch              clock;
      std::optional<std::uint64_t> vertices = text_.vertices;
      if (!vertices && text_.dense) vertices = collector.id_bound();
      ReadResult result =
          from_collected(std::move(collector).finish(vertices), vertices, first, text_.weight_type, job_);
      result.build_ms = clock.milliseconds();
      return result;
    });
  }

  template <class Appender>
  void add_negated(Appender& appender, std::uint64_t u, std::uint64_t v, std::uint32_t weight,
                   const char* place) const {
    if (u == v) throw LineProblem{place, "a skew-symmetric matrix has no entries on its diagonal"};
    appender.add(static_cast<Vertex>(v), static_cast<Vertex>(u), negated(text_.weight_type, weight));
  }

  /// Each triangle says that it was seen before it asks after the other, so that one of two threads finds out.
  void note_triangle(bool lower, const char* place) {
    std::atomic<bool>& ours = lower ? lower_seen_ : upper_seen_;
    if (!ours.load(std::memory_order_relaxed)) ours.store(true);
    if ((lower ? upper_seen_ : lower_seen_).load())
      throw LineProblem{place,
                        "a symmetric matrix states one triangle only, and this entry is in the other; if the file "
                        "lists every entry, its symmetry is 'general'"};
  }

  [[noreturn]] void out_of_range(std::uint64_t id, const char* place) const {
    if (text_.vertices == 0) throw LineProblem{place, fmt::format("vertex {} in a graph that has none", id)};
    if (text_.vertices)
      throw LineProblem{place, fmt::format("vertex {} is out of range: ids run from {} to {}", id, text_.first_id,
                                           text_.first_id + *text_.vertices - 1)};
    if (text_.dense)
      throw LineProblem{
          place, fmt::format("vertex {} is too large for dense ids (at most 4294967294); say --ids sparse", id)};
    throw LineProblem{place, {}, Finding::wider_ids};
  }

  /// An edge whose ends are numbered as their thread met them.
  struct Met {
    Vertex        source, target;
    std::uint32_t weight;
  };

  template <class Key, class Lines>
  ReadResult interned(const Lines& lines) {
    const auto                                  threads = static_cast<std::size_t>(job_.context.threads);
    std::vector<std::unique_ptr<Interner<Key>>> interners;
    std::vector<MetEdges>                       met(threads);
    for (std::size_t i = 0; i < threads; ++i)
      interners.push_back(std::make_unique<Interner<Key>>(job_.context.budget));
    parse(lines, [&](int thread) {
      return [&, &interner = *interners[static_cast<std::size_t>(thread)],
              &edges = met[static_cast<std::size_t>(thread)]](Key source, Key target, std::uint32_t weight,
                                                              const char*) {
        const Vertex u = interner.number_of(source);
        edges.add({u, interner.number_of(target), weight}, job_.context.budget);
      };
    });

    const Stopwatch        clock;
    const OrderedKeys<Key> ordered{interners, job_.context.budget};
    Charge                 charge{job_.context.budget, "the table of vertex ids"};
    charge.raise_to(text_.vertex_list.size() * sizeof(Key));
    const std::vector<Key>  listed = listed_keys<Key>();
    const std::vector<Key>& keys   = text_.vertex_list_path.empty() ? ordered.keys() : listed;
    if (keys.size() > max_vertices)
      throw bad_input("{}: {} vertices: at most 2^32-1 are supported", job_.path(), keys.size());
    ReadResult result = with_collector(job_.context, text_.weight_type, [&](auto& collector) {
      for_each_task(job_.context.threads, threads, [&](std::uint64_t i, int thread) {
        const std::vector<Vertex> places = ordered.places_in(keys, i, [&](const Key& missing) {
          throw bad_input("{}: an edge names vertex {}, which {} does not list", job_.path(), missing,
                          text_.vertex_list_path);
        });
        auto&                     to     = collector.appender(thread);
        met[i].drain([&](const Met& edge) { to.add(places[edge.source], places[edge.target], edge.weight); });
      });
      return from_collected(std::move(collector).finish(keys.size()), keys.size(), 0, text_.weight_type, job_);
    });
    result.ids        = id_map(keys);
    result.build_ms   = clock.milliseconds();
    return result;
  }

  /// Edges in blocks, so that they can be given back one block after the other.
  class MetEdges {
   public:
    void add(const Met& edge, const std::shared_ptr<MemoryBudget>& budget) {
      if (used_ == block_edges || blocks_.empty()) {
        blocks_.emplace_back(block_edges, budget, "the edges being read");
        used_ = 0;
      }
      blocks_.back()[used_++] = edge;
    }

    template <class Visit>
    void drain(Visit&& visit) {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::uint64_t count = i + 1 == blocks_.size() ? used_ : block_edges;
        for (std::uint64_t j = 0; j < count; ++j) visit(blocks_[i][j]);
        blocks_[i] = {};
      }
    }

   private:
    static constexpr std::uint64_t block_edges = 64u << 10;
    std::vector<Buffer<Met>>       blocks_;
    std::uint64_t                  used_ = 0;
  };

  /// The ids that a list of vertices states; only numbers come with one.
  template <class Key>
  std::vector<Key> listed_keys() const {
    if constexpr (std::is_same_v<Key, std::uint64_t>) return {text_.vertex_list.begin(), text_.vertex_list.end()};
    return {};
  }

  IdMap id_map(const std::vector<std::uint64_t>& keys) const {
    if (keys.empty()) return IdMap::consecutive();
    if (keys.back() - keys.front() + 1 == keys.size()) return IdMap::consecutive(keys.front());
    return IdMap::numbers(make_array<std::uint64_t>(keys, job_.context.budget, "the table of vertex ids"));
  }

  IdMap id_map(const std::vector<std::string_view>& keys) const {
    std::uint64_t bytes = 0;
    for (const std::string_view key : keys) bytes += key.size();
    Buffer<std::uint64_t> ends{keys.size(), job_.context.budget, "the table of vertex names"};
    Buffer<char>          text{bytes, job_.context.budget, "the table of vertex names"};
    std::uint64_t         end = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::memcpy(text.data() + end, keys[i].data(), keys[i].size());
      ends[i] = end += keys[i].size();
    }
    return IdMap::strings(std::move(ends).freeze(), std::move(text).freeze());
  }

  const EdgeText&            text_;
  ReadJob&                   job_;
  LineSource                 source_;
  std::mutex                 mutex_;
  std::atomic<std::uint64_t> first_problem_{UINT64_MAX};  ///< offset of the first piece with one
  Reread                     problem_{};
  std::uint64_t              first_wide_ = UINT64_MAX;  ///< offset of the first piece with a weight too wide
  Reread                     wide_{};
  std::atomic<bool>          lower_seen_{false}, upper_seen_{false};
};

/// Mean length of the lines in a piece of text; the last, cut off, counts as a part.
double mean_line(std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return static_cast<double>(text.size()) / static_cast<double>(lines + 1);
}

/// At least how many lines follow: the longest mean of three places counts, since sorted lists start with short
/// lines.
std::uint64_t fewest_lines(const EdgeText& text, const ReadJob& job) {
  const std::uint64_t bytes = job.sample.file_bytes;
  double              mean  = mean_line(std::string_view{job.sample.text}.substr(text.start));
  const FileHandle    file  = open_for_reading(job.path());
  std::string         piece(std::min<std::uint64_t>(bytes, 64u << 10), '\0');
  for (const std::uint64_t offset : {bytes / 2, bytes}) {
    read_at(file, job.path(), std::min(offset, bytes - piece.size()), piece.data(), piece.size());
    mean = std::max(mean, mean_line(piece));
  }
  return static_cast<std::uint64_t>(static_cast<double>(bytes - text.start) / mean);
}

/// Refuses before the work starts what cannot fit by the look of its lines.
void expect_to_fit(const EdgeText& text, const ReadJob& job) {
  if (job.sample.file_bytes == 0 || job.sample.compressed || job.sample.text.size() <= text.start) return;
  const std::uint64_t edges = text.edges.value_or(fewest_lines(text, job));
  const std::uint64_t arcs  = job.context.transform.undirected || text.layout.negate_reverse ? edges * 2 : edges;
  if (arcs > job.sample.file_bytes) return;  // more than the file can hold: reading will say so
  job.context.budget->expect(building_bytes(text.vertices.value_or(0), arcs, text.weight_type != WeightType::none),
                             fmt::format("{}: a graph of about {} arcs", job.path(), with_commas(arcs)));
}

/// Whole weights that became floats because others are fractions may be others now.
void note_rounding(const EdgeText& text, const ReadResult& result, ReadJob& job) {
  constexpr double exact_up_to = 1u << 24;
  if (!text.floats_guessed || text.weight_type != WeightType::f32) return;
  const WeightRange range = weight_range(result.csr, text.weight_type, job.context.threads);
  if (std::max(std::abs(range.least), std::abs(range.most)) >= exact_up_to) job.notes.emplace_back(rounding_note);
}

}  // namespace

bool split_fields(std::string_view line, char delimiter, std::vector<std::string>& fields, char also) {
  fields.clear();
  const auto  blank = [&](char c) { return is_blank(c) && (delimiter == ' ' || c != delimiter); };
  std::size_t i     = 0;
  for (;;) {
    while (i < line.size() && blank(line[i])) ++i;
    if (i == line.size() && (delimiter == ' ' || fields.empty())) return true;
    std::string& field = fields.emplace_back();
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i == line.size()) return false;
        if (line[i] == '"') {
          if (i + 1 == line.size() || line[i + 1] != '"') break;
          ++i;  // a doubled quote is a quote
        }
        field += line[i];
      }
      ++i;
      if (i < line.size() && !blank(line[i]) && line[i] != delimiter && line[i] != also) return false;
    } else {
      const std::size_t begin = i;
      while (i < line.size() && line[i] != delimiter && !(delimiter == ' ' && blank(line[i])) &&
             !(also && line[i] == also))
        ++i;
      field = line.substr(begin, i - begin);
      while (!field.empty() && blank(field.back())) field.pop_back();
    }
    while (i < line.size() && blank(line[i])) ++i;
    if (i == line.size()) return true;
    if (also && line[i] == also) ++i;
    if (delimiter == ' ') continue;
    if (line[i] != delimiter) return false;  // text after a closing quote
    ++i;
  }
}

WeightRange weight_range(const Csr& csr, WeightType type, int threads) {
  std::mutex            mutex;
  constexpr WeightRange none{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  WeightRange           total = none;
  if (csr.weights.empty()) return {};
  const std::uint64_t count = csr.weights.size(), parts = static_cast<std::uint64_t>(threads);
  on_threads(threads, [&](int thread) {
    const std::uint64_t part = static_cast<std::uint64_t>(thread);
    WeightRange         own  = none;
    for (std::uint64_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
      const std::uint32_t bits = csr.weights[i];
      const double        value =
          type == WeightType::f32 ? double{std::bit_cast<float>(bits)} : static_cast<double>(bits);
      own.least = std::min(own.least, value);
      own.most  = std::max(own.most, value);
    }
    const std::scoped_lock lock{mutex};
    total.least = std::min(total.least, own.least);
    total.most  = std::max(total.most, own.most);
  });
  return total;
}

ReadResult read_edge_text(EdgeText& text, ReadJob& job) {
  const std::uint64_t held = job.context.budget->used();
  for (;;) {
    try {
      expect_to_fit(text, job);
      ReadResult result = EdgeTextReader{text, job}.read();
      note_rounding(text, result, job);
      return result;
    } catch (const MemoryRefusal&) {
      job.size = forecast(text, job);
      if (job.size) job.size->loading_bytes += held;
      throw;
    } catch (const Reread& again) {
      switch (again.finding) {
        case Finding::wider_ids:
          text.ids = IdKind::numbers;
          break;
        case Finding::names:
          text.ids             = IdKind::strings;
          text.first_name      = again.text;
          text.first_name_line = again.line;
          if (text.names_delimiter) text.layout.delimiter = text.names_delimiter;
          break;
        case Finding::fractions:
          text.weight_type    = WeightType::f32;
          text.floats_guessed = true;
          break;
        case Finding::mistake:
          throw internal_error("a mistake does not ask for another reading");
      }
    }
  }
}

}  // namespace spillway
