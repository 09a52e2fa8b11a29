// METIS .graph text: a header `n m [fmt [ncon]]`, then a line a vertex with its neighbours, from 1.
// A blank line is a vertex without neighbours. Every edge stands on the lines of both its ends and counts once.
#include <algorithm>
#include <charconv>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/symmetry.hpp"
#include "io/reading.hpp"
#include "io/row_text.hpp"
#include "io/token_stream.hpp"

namespace spillway {
namespace {

// Past this no header can be true, and sizes in bytes still fit 64 bits.
constexpr std::uint64_t most_edges = std::uint64_t{1} << 56;

constexpr std::uint64_t most_constraints = 1u << 20;

struct Header {
  std::uint64_t vertices      = 0;
  std::uint64_t edges         = 0;
  bool          edge_weights  = false;
  bool          vertex_sizes  = false;
  std::uint64_t vertex_fields = 0;  ///< numbers before the neighbours: the size and the weights of the vertex
};

/// The header that `words` make, or `problem` says why they do not.
std::optional<Header> header_of(const std::vector<std::string>& words, std::string& problem) {
  std::uint64_t numbers[4] = {0, 0, 0, 0};
  if (words.size() < 2 || words.size() > 4) {
    problem = fmt::format("the header should read 'vertices edges [fmt [ncon]]', not {} words", words.size());
    return std::nullopt;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto number = parse_number(words[i]);
    if (!number) {
      problem = fmt::format("the header should read 'vertices edges [fmt [ncon]]' in numbers, not '{}'",
                            printable(words[i]));
      return std::nullopt;
    }
    numbers[i] = *number;
  }
  const auto [vertices, edges, fmt_code, constraints] = numbers;
  const std::uint64_t digits[3]                       = {fmt_code % 10, fmt_code / 10 % 10, fmt_code / 100};
  if (vertices > max_vertices) {
    problem = fmt::format("{} vertices, and Spillway holds at most 2^32-1", vertices);
  } else if (edges > most_edges) {
    problem = fmt::format("{} edges are more than any file holds", edges);
  } else if (digits[0] > 1 || digits[1] > 1 || digits[2] > 1) {
    problem = fmt::format("fmt should be three digits of 0 and 1, not '{}'", printable(words[2]));
  } else if (constraints > 0 && digits[1] == 0) {
    problem = fmt::format("ncon is {}, but fmt '{}' says that vertices have no weights", constraints,
                          printable(words[2]));
  } else if (constraints > most_constraints) {
    problem = fmt::format("ncon {} is more weights a vertex than any file has", constraints);
  }
  if (!problem.empty()) return std::nullopt;
  const std::uint64_t vertex_weights = digits[1] == 0 ? 0 : std::max<std::uint64_t>(constraints, 1);
  return Header{vertices, edges, digits[0] == 1, digits[2] == 1, digits[2] + vertex_weights};
}

std::vector<std::string> words_of_line(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string>   words;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

}  // namespace

bool fits_metis(std::string_view text, bool& lines_differ) {
  std::optional<Header>                                header;
  std::string                                          problem;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs, reversed;
  std::uint64_t                                        rows = 0;
  std::size_t shortest = std::numeric_limits<std::size_t>::max(), longest = 0;
  while (!text.empty()) {
    const std::size_t      end  = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('%')) continue;
    const auto words = words_of_line(line);
    shortest = std::min(shortest, words.size()), longest = std::max(longest, words.size());
    if (!header) {
      header = header_of(words, problem);
      if (!header || header->edges == 0) return false;
      continue;
    }
    if (rows == header->vertices && words.empty()) continue;
    ++rows;
    if (words.size() < header->vertex_fields) return false;
    for (const std::string& word : words)
      if (!parse_number(word)) return false;
    for (std::size_t i = header->vertex_fields; i < words.size(); i += header->edge_weights ? 2 : 1) {
      const std::uint64_t neighbor = *parse_number(words[i]);
      if (neighbor < 1 || neighbor > header->vertices) return false;
      arcs.emplace_back(rows, neighbor);
      reversed.emplace_back(neighbor, rows);
    }
  }
  lines_differ = shortest != longest;
  if (!header || rows != header->vertices || arcs.size() != 2 * header->edges) return false;
  std::sort(arcs.begin(), arcs.end());
  std::sort(reversed.begin(), reversed.end());
  return arcs == reversed;
}

namespace {

/// The first line that is no comment begins with a number. Matrix Market has such comments too.
bool starts_with_number(std::string_view text) {
  if (lower_case(text.substr(0, 14)) == "%%matrixmarket") return false;
  while (text.starts_with('%')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

/// Almost any two numbers make a header, so the name has a say: under its own suffixes a damaged file gets
/// METIS's message rather than being read as a list of edges.
bool recognises_metis(const Sample& sample) {
  if (named_with(sample.path, "graph") || named_with(sample.path, "metis")) return starts_with_number(sample.text);
  bool lines_differ = false;  // those of an edge list do not
  return sample.whole && fits_metis(sample.text, lines_differ) && lines_differ;
}

class MetisReader {
 public:
  explicit MetisReader(ReadJob& job) : job_(job), tokens_(job) {}

  ReadResult read() {
    read_header();
    kept_ = kept_weights(job_, header_.edge_weights ? WeightType::u32 : WeightType::none);
    allocate();
    for (vertex_ = 0; vertex_ < header_.vertices; ++vertex_) {
      offsets_[vertex_] = arcs_;
      read_row();
    }
    offsets_[header_.vertices] = arcs_;
    check_nothing_follows();
    check_edge_count();
    tokens_.finish();

    targets_.shrink(arcs_);  // fewer than stated only where loops were dropped
    if (kept_ != WeightType::none) weights_.shrink(arcs_);
    job_.context.transform.drop_loops = false;
    return from_symmetric_rows(
        {std::move(offsets_).freeze(), std::move(targets_).freeze(), std::move(weights_).freeze()},
        IdMap::consecutive(1), kept_, "METIS", job_);
  }

 private:
  void read_header() {
    while (tokens_.peek() == '%') tokens_.skip_line();
    if (tokens_.at_end())
      throw bad_input("{}:{}: the file ends before METIS's header", job_.path(), tokens_.line());
    std::vector<std::string> words;
    while (!tokens_.at_line_end() && words.size() <= 4) words.emplace_back(tokens_.word());
    std::string problem;
    const auto  header = header_of(words, problem);
    if (!header) throw bad_input("{}:{}: {}", job_.path(), tokens_.line(), problem);
    header_ = *header;
    check_against_file();
    tokens_.next_line();
    if (header_.vertex_fields == 0) return;
    job_.notes.push_back(fmt::format("the {} of vertices are ignored", !header_.vertex_sizes ? "weights"
                                                                       : header_.vertex_fields == 1
                                                                           ? "sizes"
                                                                           : "sizes and weights"));
  }

  /// A row takes a byte and a neighbour two at least: a header that lies is caught before memory is asked for.
  void check_against_file() {
    const Sample& sample = job_.sample;
    if (sample.is_pipe || sample.compressed) return;
    if (header_.vertices > sample.file_bytes || header_.edges > sample.file_bytes / 4 + 1)
      throw bad_input("{}:{}: the header states {} vertices and {} edges, which a file of {} bytes cannot hold",
                      job_.path(), tokens_.line(), header_.vertices, header_.edges, sample.file_bytes);
  }

  void allocate() {
    const auto&     budget   = job_.context.budget;
    const EdgeIndex arcs     = header_.edges * 2;
    const bool      weighted = kept_ != WeightType::none;
    job_.expect_rows(header_.vertices, arcs, kept_, /*undirected_file=*/true);
    offsets_ = Buffer<EdgeIndex>{header_.vertices + 1, budget, "the row offsets"};
    targets_ = Buffer<Vertex>{arcs, budget, "the arcs"};
    weights_ = Buffer<std::uint32_t>{weighted ? arcs : 0, budget, "the weights"};
  }

  void read_row() {
    while (tokens_.peek() == '%') tokens_.skip_line();
    if (tokens_.at_end())
      throw bad_input(
          "{}:{}: the file ends where the line of vertex {} of {} was expected (a vertex without "
          "neighbours has a blank line)",
          job_.path(), tokens_.line(), vertex_ + 1, header_.vertices);
    for (std::uint64_t i = 0; i < header_.vertex_fields; ++i) {
      tokens_.at_line_end();
      tokens_.number(i == 0 && header_.vertex_sizes ? "the size of the vertex" : "a weight of the vertex");
    }
    while (!tokens_.at_line_end()) read_neighbor();
    tokens_.next_line();
  }

  void read_neighbor() {
    const std::uint64_t neighbor = tokens_.number("a neighbour");
    if (neighbor == 0 || neighbor > header_.vertices)
      throw bad_input("{}:{}: vertex {} is out of range: METIS counts from 1, here to {}", job_.path(),
                      tokens_.line(), neighbor, header_.vertices);
    const std::uint32_t weight = header_.edge_weights ? read_weight() : 0;
    if (neighbor - 1 == vertex_) return count_loop();
    if (arcs_ == targets_.size())
      throw bad_input("{}:{}: more neighbours than the header's {} edges have ends ({})", job_.path(),
                      tokens_.line(), header_.edges, targets_.size());
    targets_[arcs_] = static_cast<Vertex>(neighbor - 1);
    if (kept_ != WeightType::none) weights_[arcs_] = weight;
    ++arcs_;
  }

  std::uint32_t read_weight() {
    if (tokens_.at_line_end())
      throw bad_input("{}:{}: the last neighbour has no weight, but the header says that edges have one",
                      job_.path(), tokens_.line());
    if (tokens_.peek() == '-')
      throw bad_input("{}:{}: the weight {} is negative, which METIS does not allow", job_.path(), tokens_.line(),
                      printable(tokens_.word()));
    const std::uint64_t weight = tokens_.number("a whole weight of an edge");
    if (kept_ == WeightType::none) return 0;
    const bool fits = weight <= std::numeric_limits<std::uint32_t>::max() || kept_ == WeightType::f32;
    if (!fits)
      throw bad_input("{}:{}: the weight {} is above 2^32-1; --weight-type f32 reads it", job_.path(),
                      tokens_.line(), weight);
    return *(kept_ == WeightType::f32 ? weight_bits(static_cast<double>(weight), kept_)
                                      : weight_bits(static_cast<std::int64_t>(weight), kept_));
  }

  void count_loop() {
    if (!job_.options.transform.drop_loops)
      throw bad_input(
          "{}:{}: vertex {} is its own neighbour, which METIS does not allow; remove the loop, or read "
          "with --drop-loops",
          job_.path(), tokens_.line(), vertex_ + 1);
    ++loops_;
  }

  void check_nothing_follows() {
    while (!tokens_.at_end()) {
      if (tokens_.peek() == '%') {
        tokens_.skip_line();
      } else if (tokens_.at_line_end()) {
        tokens_.next_line();
      } else {
        throw bad_input("{}:{}: a line too many: the header states {} vertices", job_.path(), tokens_.line(),
                        header_.vertices);
      }
    }
  }

  /// Writers that do put loops into a file differ in how they count them: not at all, once or twice.
  void check_edge_count() {
    const EdgeIndex stated = header_.edges * 2;
    if (arcs_ == stated || arcs_ + loops_ == stated || arcs_ + 2 * loops_ == stated) return;
    throw bad_input("{}: the header states {} edges, which takes {} neighbours, but the lines have {}",
                    job_.path(), header_.edges, stated, arcs_);
  }

  ReadJob&              job_;
  TokenStream           tokens_;
  Header                header_;
  WeightType            kept_   = WeightType::none;
  std::uint64_t         vertex_ = 0;
  EdgeIndex             arcs_   = 0;
  EdgeIndex             loops_  = 0;
  Buffer<EdgeIndex>     offsets_;
  Buffer<Vertex>        targets_;
  Buffer<std::uint32_t> weights_;
};

/// METIS holds simple undirected graphs; anything else is refused before the first byte is written.
void check_writable(const Graph& graph, const Progress& progress) {
  if (graph.weight_type() == WeightType::f32)
    throw usage_error(
        "METIS holds whole weights only, and the graph's are f32; read it with --weight-type u32 or "
        "none, or write another format");
  const Csr& csr     = graph.out();
  const int  threads = thread_count();
  for_each_row_range(csr, threads, [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v) {
      const auto row = csr.neighbors(v);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] == v)
          throw usage_error("METIS holds no loops, and vertex {} has one; drop them with --drop-loops",
                            graph.ids().name(v));
        if (i > 0 && row[i] == row[i - 1])
          throw usage_error(
              "METIS holds no parallel edges, and {} -> {} occurs twice; keep one of each with --dedup",
              graph.ids().name(v), graph.ids().name(row[i]));
      }
    }
  });
  if (graph.symmetric()) return;
  if (const auto lone = find_lone_arc(csr, threads, progress))
    throw usage_error(
        "METIS holds undirected graphs only, and {} has no reverse{}; add what is missing with "
        "--symmetrize",
        arc_name(graph.ids(), lone->source, lone->target, graph.weight_type(), lone->weight),
        csr.weights.empty() ? "" : " of the same weight");
}

void append_number(std::string& text, std::uint64_t number) {
  char digits[20];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// How many rows end between the last arc before row v and its first: that of the arc, and all empty ones.
std::size_t rows_ended_before(const Csr& csr, std::uint64_t v) {
  std::size_t rows = 0;
  while (v > 0) {
    ++rows;
    --v;
    if (csr.degree(static_cast<Vertex>(v)) > 0) break;
  }
  return rows;
}

void write_metis(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  check_writable(graph, progress);
  const Csr& csr      = graph.out();
  const bool weighted = !csr.weights.empty();
  file.append(fmt::format("{} {}{}\n", csr.vertex_count(), csr.arc_count() / 2, weighted ? " 001" : ""));
  write_arcs(graph, file, progress, [&](std::string& text, Vertex v, EdgeIndex i) {
    i == csr.offsets[v] ? static_cast<void>(text.append(rows_ended_before(csr, v), '\n')) : text.push_back(' ');
    append_number(text, std::uint64_t{csr.targets[i]} + 1);
    if (!weighted) return;
    text += ' ';
    append_number(text, csr.weights[i]);
  });
  file.append(std::string(rows_ended_before(csr, csr.vertex_count()), '\n'));
  if (weighted && std::find(csr.weights.begin(), csr.weights.end(), 0u) != csr.weights.end())
    notes.emplace_back("some weights are 0: Spillway reads them back, METIS itself wants them above 0");
  note_lost_ids(graph, "METIS", 1, notes);
}

}  // namespace

Format metis_format() {
  return {.name        = "metis",
          .description = "METIS, adjacency text (also Chaco, DIMACS10)",
          .suffixes    = {"graph", "metis"},
          .recognises  = recognises_metis,
          .read        = [](ReadJob& job) { return MetisReader{job}.read(); },
          .write       = write_metis};
}

}  // namespace spillway
