#include "io/edge_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "io/interner.hpp"
#include "io/line_parsers.hpp"
#include "io/text_forecast.hpp"

namespace spillway {
namespace {

/// One reading of the text with everything about it settled.
class EdgeTextReader {
 public:
  EdgeTextReader(const EdgeText& text, ReadJob& job) : text_(text), job_(job), source_(job, text.start) {}

  /// Lines that were edges.
  std::uint64_t edges() const { return edges_; }

  /// What was noticed of lines that were edges, each by the first line that shows it.
  void note_sightings() const {
    // Who asked for floats knows what fractions become.
    if (rounded_ && (job_.options.weight_type != WeightType::f32 || rounded_.text.find('.') == std::string::npos))
      job_.notes.push_back(fmt::format(
          "weights are read as 32-bit floats, which hold about 7 digits: {} in line {} ({})", rounded_.text,
          line_of(rounded_),
          text_.weights_stated ? "if all are whole and up to 4294967295, --weight-type u32 keeps them as they are"
                               : "whole weights up to 4294967295 are kept as they are, if all are whole"));
    if (!text_.edges) note_gap();
    if (text_.layout.comments.find('#') == std::string::npos) return;  // a format that says what a comment is
    if (remark_)
      job_.notes.push_back(
          fmt::format("'{}' in line {}, and whatever follows # or % behind the numbers of a line, is a "
                      "comment (put it into quotes if it is a column)",
                      shown_line(remark_.text), line_of(remark_)));
    if (divider_)
      job_.notes.push_back(fmt::format(
          "'{}' in line {} is a comment, though edges stand before it, and what follows is read as edges, too; an "
          "id that begins with # stands in quotes, and other parts than edges (of TGF, LGL) must be removed",
          shown_line(divider_.text), line_of(divider_)));
  }

  /// A blank line that edges follow, in its piece or in a later one.
  void note_gap() const {
    const bool           across = last_gap_ && last_gap_.chunk.offset < last_edges_;
    const bool           first  = across && (!gap_ || last_gap_.chunk.offset < gap_.chunk.offset);
    const FirstSighting& gap    = first ? last_gap_ : gap_;
    if (gap)
      job_.notes.push_back(fmt::format(
          "line {} is blank, and what follows it is read as edges, too; other parts than edges must be removed",
          line_of(gap)));
  }

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
  /// Parses all pieces on all threads; adder(thread, seen) gives what takes (source, target, weight, place) there,
  /// begin(thread, byte) is told where each piece begins.
  /// met() between stretches.
  template <class Lines, class Adder, class Begin, class Met>
  void parse(const Lines& lines, Adder&& adder, Begin&& begin, Met&& met) {
    job_.progress().begin("reading", job_.sample.file_bytes, ProgressUnit::bytes);
    go_on();
    for (bool more = true; more;) {
      parse_stretch(lines, adder, begin);
      if (first_problem_ == UINT64_MAX) met();
      more = first_problem_ == UINT64_MAX && source_.next_stretch();
    }
    job_.progress().end();
    decide();
    if (text_.edges && edges_ != *text_.edges)
      throw bad_input("{}: {} says {} edges, but {} follow", job_.path(), text_.edges_stated_by, *text_.edges,
                      edges_.load());
  }

  template <class Lines, class Adder, class Begin>
  void parse_stretch(const Lines& lines, Adder&& adder, Begin&& begin) {
    on_threads(job_.context.threads, [&](int thread) {
      LineChunk chunk;
      Seen      seen;
      auto      add = adder(thread, seen);
      try {
        // Whoever works before the first problem goes on, so that the same line is told however threads run.
        while (source_.next(thread, chunk) && chunk.offset < first_problem_) {
          seen.wide = {};
          begin(thread, chunk.offset);
          const std::uint64_t found = lines.parse(chunk, seen, add);
          edges_ += found;
          if (found > 0) report_edges(chunk);
          report(chunk, seen.wide);
          report(chunk, seen);
        }
      } catch (const LineProblem& problem) {
        report(chunk, seen.wide);
        report(chunk, seen);
        report(chunk, problem);
      } catch (...) {
        first_problem_ = 0;
        throw;
      }
    });
  }

  /// What was noticed up to a place in the input, and that place.
  StateWriter state() const {
    StateWriter state;
    state.put(source_.place());
    state.put(edges_.load());
    state.put(last_edges_);
    state.put(first_wide_);
    state.put(wide_.line);
    state.put_text(wide_.text);
    for (const FirstSighting* each : {&rounded_, &remark_, &divider_, &gap_, &last_gap_, &lower_, &upper_}) {
      state.put(each->chunk.offset);
      state.put(each->chunk.lines);
      state.put(each->within);
      state.put_text(each->text);
    }
    return state;
  }

  /// From where an earlier process had got to, if there is a journal of it.
  void go_on() {
    auto state = job_.journal() ? job_.journal()->find("input") : std::nullopt;
    if (!state) return;
    source_.go_on_from(state->get<std::uint64_t>());
    edges_      = state->get<std::uint64_t>();
    last_edges_ = state->get<std::uint64_t>();
    first_wide_ = state->get<std::uint64_t>();
    wide_.line  = state->get<std::uint64_t>();
    wide_.text  = state->get_text();
    for (FirstSighting* each : {&rounded_, &remark_, &divider_, &gap_, &last_gap_, &lower_, &upper_}) {
      each->chunk.offset = state->get<std::uint64_t>();
      each->chunk.lines  = state->get<std::uint64_t>();
      each->within       = state->get<std::uint64_t>();
      each->text         = state->get_text();
    }
  }

  void report(const LineChunk& chunk, const LineProblem& problem) {
    const std::scoped_lock lock{mutex_};
    if (chunk.offset >= first_problem_) return;
    first_problem_ = chunk.offset;
    problem_       = {problem.finding, problem.message, source_.line_of(chunk, problem.place)};
    if (problem.finding == Finding::no_weight) {
      problem_.finding = Finding::mistake;
      problem_.text += text_.weight_hint;
    }
  }

  void report(const LineChunk& chunk, const WideWeight& wide) {
    if (!wide.place) return;
    const std::scoped_lock lock{mutex_};
    if (chunk.offset >= first_wide_) return;
    first_wide_ = chunk.offset;
    wide_ = {Finding::mistake, fmt::format(wide_weight_message, wide.text), source_.line_of(chunk, wide.place)};
  }

  /// The first of all threads' sightings. Its line is counted when all are known.
  struct FirstSighting {
    LineChunk     chunk{.offset = UINT64_MAX};  ///< its text is gone
    std::uint64_t within = 0;                   ///< lines of the chunk before this one
    std::string   text;

    explicit operator bool() const { return !text.empty(); }
  };

  void report(const LineChunk& chunk, Sighting& sighting, FirstSighting& first) {
    if (!sighting.place) return;
    const std::scoped_lock lock{mutex_};
    if (chunk.offset < first.chunk.offset)
      first = {chunk, static_cast<std::uint64_t>(std::count(chunk.begin, sighting.place, '\n')), sighting.text};
    sighting.place = nullptr;
  }

  void report(const LineChunk& chunk, Seen& seen) {
    report(chunk, seen.rounded, rounded_);
    report(chunk, seen.remark, remark_);
    report(chunk, seen.divider, divider_);
    report(chunk, seen.gap, gap_);
    report(chunk, seen.last_gap, last_gap_);
    report(chunk, seen.lower, lower_);
    report(chunk, seen.upper, upper_);
  }

  void report_edges(const LineChunk& chunk) {
    const std::scoped_lock lock{mutex_};
    last_edges_ = std::max(last_edges_, chunk.offset);
  }

  std::uint64_t line_of(const FirstSighting& first) const {
    return source_.lines_before(first.chunk) + first.within + 1;
  }

  /// What the file as a whole comes to. A weight that is too wide counts as a mistake in its line, unless a line
  /// before the first mistake makes floats of all weights.
  void decide() const {
    const bool found = first_problem_ != UINT64_MAX,
               wide  = first_wide_ <= first_problem_ && first_wide_ != UINT64_MAX;
    if (found && problem_.finding != Finding::mistake) throw problem_;
    const auto stray = stray_entry();
    if (!found && !wide && !stray) return;
    const Reread& first = wide ? wide_ : problem_;
    if (stray && ((!found && !wide) || *stray < first.line))
      throw bad_input(
          "{}:{}: a symmetric matrix states one triangle only, and this entry is in the other; if the file lists "
          "every entry, its symmetry is 'general'",
          job_.path(), *stray);
    throw bad_input("{}:{}: {}", job_.path(), first.line, first.text);
  }

  /// The line of the first entry that is in another triangle than those before it.
  std::optional<std::uint64_t> stray_entry() const {
    if (!lower_ || !upper_) return std::nullopt;
    return std::max(line_of(lower_), line_of(upper_));
  }

  template <class Lines>
  ReadResult small_numbers(const Lines& lines) {
    return with_input_collector(job_.context, text_.weight_type, [&](auto& collector) {
      const std::uint64_t limit = text_.vertices.value_or(text_.dense ? max_vertices : text_.id_limit);
      const std::uint64_t first = text_.first_id;
      const bool          skew = text_.layout.negate_reverse, one_triangle = text_.layout.one_triangle;
      collector.restore();
      const auto add = [&](int thread, Seen& seen) {
        return [&, limit, first, skew, one_triangle, &appender = collector.appender(thread)](
                   std::uint64_t source, std::uint64_t target, std::uint32_t weight, const char* place) {
          // Below first_id the subtraction wraps to a number past every limit.
          const std::uint64_t u = source - first, v = target - first;
          if (u >= limit || v >= limit) [[unlikely]]
            out_of_range(u >= limit ? source : target, place);
          if (one_triangle && u != v) (u > v ? seen.lower : seen.upper).note(place, "entry");
          appender.add(static_cast<Vertex>(u), static_cast<Vertex>(v), weight);
          if (skew) add_negated(appender, u, v, weight, place);
        };
      };
      const auto begin = [&](int thread, std::uint64_t byte) { collector.appender(thread).at(byte); };
      parse(lines, add, begin, [&] {
        if (source_.place() != LineSource::the_end) return collector.keep_if_due([&] { return state(); });
        if (job_.journal()) job_.journal()->put("input", state());
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
    parse(
        lines,
        [&](int thread, Seen&) {
          return [&, &interner = *interners[static_cast<std::size_t>(thread)],
                  &edges = met[static_cast<std::size_t>(thread)]](Key source, Key target, std::uint32_t weight,
                                                                  const char*) {
            const Vertex u = interner.number_of(source);
            edges.add({u, interner.number_of(target), weight}, job_.context);
          };
        },
        [&](int thread, std::uint64_t byte) { met[static_cast<std::size_t>(thread)].begin_piece(byte); }, [] {});

    const Stopwatch        clock;
    const OrderedKeys<Key> ordered{interners, job_.context.budget};
    Charge                 charge{job_.context.budget, "the table of vertex ids"};
    charge.raise_to(text_.vertex_list.size() * sizeof(Key));
    const std::vector<Key>  listed = listed_keys<Key>();
    const std::vector<Key>& keys   = text_.vertex_list_path.empty() ? ordered.keys() : listed;
    if (keys.size() > max_vertices)
      throw bad_input("{}: {} vertices: at most 2^32-1 are supported", job_.path(), keys.size());
    ReadResult result = with_input_collector(job_.context, text_.weight_type, [&](auto& collector) {
      for_each_task(job_.context.threads, threads, [&](std::uint64_t i, int thread) {
        const std::vector<Vertex> places = ordered.places_in(keys, i, [&](const Key& missing) {
          throw bad_input("{}: an edge names vertex {}, which {} does not list", job_.path(), missing,
                          text_.vertex_list_path);
        });
        auto&                     to     = collector.appender(thread);
        met[i].drain(
            job_.context, [&](std::uint64_t byte) { to.at(byte); },
            [&](const Met& edge) { to.add(places[edge.source], places[edge.target], edge.weight); });
      });
      return from_collected(std::move(collector).finish(keys.size()), keys.size(), 0, text_.weight_type, job_);
    });
    result.ids        = id_map_of(keys, job_.context.budget);
    result.build_ms   = clock.milliseconds();
    return result;
  }

  /// Edges in blocks, so that they can be given back one block after the other. Where memory need not hold the
  /// graph, whole blocks wait on disk.
  class MetEdges {
   public:
    /// What follows is from this byte on. Where rows go elsewhere their order says nothing.
    void begin_piece(std::uint64_t byte) { pieces_.push_back({byte, added_}); }
    void add(const Met& edge, const BuildContext& context) {
      if (used_ == block_edges || blocks_.empty()) next_block(context);
      blocks_.back()[used_++] = edge;
      ++added_;
    }

    /// begin(byte) before the edges of a piece.
    template <class Begin, class Visit>
    void drain(const BuildContext& context, Begin&& begin, Visit&& visit) {
      auto          piece = pieces_.begin();
      std::uint64_t edge  = 0;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::uint64_t count = i + 1 == blocks_.size() ? used_ : block_edges;
        for (std::uint64_t j = 0; j < count; ++j, ++edge) {
          for (; piece != pieces_.end() && piece->edge == edge; ++piece) begin(piece->byte);
          visit(blocks_[i][j]);
        }
        if (i + 1 < blocks_.size()) blocks_[i] = {};
      }
      for (const std::uint64_t at : written_) {
        const Buffer<Met>& block = blocks_.back();
        context.outside->spill.read(at, block.data(), block_edges * sizeof(Met));
        for (std::uint64_t j = 0; j < block_edges; ++j) visit(block[j]);
      }
      blocks_.clear();
    }

   private:
    struct Piece {
      std::uint64_t byte, edge;
    };

    void next_block(const BuildContext& context) {
      used_ = 0;
      if (context.outside && !blocks_.empty())
        written_.push_back(context.outside->spill.write(blocks_.back().data(), block_edges * sizeof(Met)));
      else
        blocks_.emplace_back(block_edges, context.budget, "the edges being read");
    }

    static constexpr std::uint64_t block_edges = 64u << 10;
    std::vector<Buffer<Met>>       blocks_;
    std::vector<std::uint64_t>     written_;  ///< where in the file
    std::uint64_t                  used_ = 0, added_ = 0;
    std::vector<Piece>             pieces_;
  };

  /// The ids that a list of vertices states; only numbers come with one.
  template <class Key>
  std::vector<Key> listed_keys() const {
    if constexpr (std::is_same_v<Key, std::uint64_t>) return {text_.vertex_list.begin(), text_.vertex_list.end()};
    return {};
  }

  const EdgeText&            text_;
  ReadJob&                   job_;
  LineSource                 source_;
  std::mutex                 mutex_;
  std::atomic<std::uint64_t> edges_{0};
  std::atomic<std::uint64_t> first_problem_{UINT64_MAX};  ///< offset of the first piece with one
  Reread                     problem_{};
  std::uint64_t              first_wide_ = UINT64_MAX;  ///< offset of the first piece with a weight too wide
  Reread                     wide_{};
  FirstSighting              rounded_, remark_, divider_, gap_, last_gap_, lower_, upper_;
  std::uint64_t              last_edges_ = 0;  ///< offset of the last piece with edges
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
  if (text.vertices)
    job.context.budget->expect(building_bytes(*text.vertices, 0, false),
                               fmt::format("{}: a graph of {} vertices", job.path(), with_commas(*text.vertices)));
  if (job.sample.file_bytes == 0 || job.sample.compressed || job.sample.text.size() <= text.start) return;
  const std::uint64_t edges = text.edges.value_or(fewest_lines(text, job));
  if (job.context.outside) return job.expect_outside(edges, text.weight_type, !text.edges, text.vertices);
  const std::uint64_t arcs = job.context.transform.undirected || text.layout.negate_reverse ? edges * 2 : edges;
  if (arcs > job.sample.file_bytes) return;  // more than the file can hold: reading will say so
  job.context.budget->expect(building_bytes(text.vertices.value_or(0), arcs, text.weight_type != WeightType::none),
                             fmt::format("{}: a graph of about {} arcs", job.path(), with_commas(arcs)));
}

// How a text is read changes when it is read again: a journal says which reading it is of.
constexpr const char* reading_state = "reading";

void restore_reading(EdgeText& text, const ReadJob& job) {
  auto state = job.journal() ? job.journal()->find(reading_state) : std::nullopt;
  if (!state) return;
  text.ids              = state->get<IdKind>();
  text.weight_type      = state->get<WeightType>();
  text.layout.delimiter = state->get<char>();
  text.layout.quoted    = state->get<bool>();
  text.first_name_line  = state->get<std::uint64_t>();
  text.first_name       = state->get_text();
}

/// What was read before is forgotten, on disk first.
void start_anew(const EdgeText& text, const ReadJob& job) {
  if (!job.journal()) return;
  StateWriter state;
  state.put(text.ids);
  state.put(text.weight_type);
  state.put(text.layout.delimiter);
  state.put(text.layout.quoted);
  state.put(text.first_name_line);
  state.put_text(text.first_name);
  job.journal()->forget_all();
  job.journal()->put(reading_state, std::move(state));
  if (job.journal()->has_committed()) job.journal()->commit();
  job.context.outside->spill.clear();
}

}  // namespace

ReadResult read_edge_text(EdgeText& text, ReadJob& job) {
  const std::uint64_t held = job.context.budget->used();
  restore_reading(text, job);
  for (;;) {
    try {
      expect_to_fit(text, job);
      EdgeTextReader reader{text, job};
      ReadResult     result = reader.read();
      text.edges_read       = reader.edges();
      reader.note_sightings();
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
          text.weight_type = WeightType::f32;
          break;
        case Finding::quotes:
          text.layout.quoted = true;
          if (text.names_delimiter) text.layout.delimiter = text.names_delimiter;
          break;
        case Finding::mistake:
        case Finding::no_weight:
          throw internal_error("a mistake does not ask for another reading");
      }
      start_anew(text, job);
    }
  }
}

}  // namespace spillway
