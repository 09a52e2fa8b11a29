// DIMACS shortest-path files (9th challenge): 'c' comments, 'p sp N M', 'a FROM TO WEIGHT'; ids count from 1.
#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/reading.hpp"

namespace spillway {
namespace {

struct ProblemLine {
  std::string   kind;
  std::uint64_t vertices = 0, arcs = 0, line = 0, after = 0;
};

/// The 'p' line, if comments and blank lines are all that stands before it.
std::optional<ProblemLine> problem_line_of(const Sample& sample) {
  const std::string_view text = sample.text;
  std::uint64_t          line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end == text.size() && !sample.whole) return std::nullopt;  // the line is cut off
    const std::string_view   whole = text.substr(begin, end - begin);
    std::vector<std::string> words;
    begin = end + 1;
    ++line;
    if (!split_fields(whole, ' ', words)) return std::nullopt;
    if (words.empty() || words[0] == "c") continue;
    if (words[0] != "p") return std::nullopt;
    ProblemLine problem{
        .kind = words.size() > 1 ? words[1] : "", .line = line, .after = std::min(begin, text.size())};
    const auto n = words.size() == 4 ? parse_number(words[2]) : std::nullopt;
    const auto m = words.size() == 4 ? parse_number(words[3]) : std::nullopt;
    if (!n || !m)
      throw bad_input("{}:{}: expected 'p sp VERTICES ARCS', found '{}'", sample.path, line, printable(whole, 60));
    problem.vertices = *n;
    problem.arcs     = *m;
    return problem;
  }
  return std::nullopt;
}

/// Galois' binary graphs have the same suffix. They are recognised where they lie uncompressed.
void refuse_compressed_galois(const Sample& sample) {
  using namespace std::string_view_literals;
  const std::string_view text = sample.text;
  if (!sample.compressed || (!text.starts_with("\1\0\0\0\0\0\0\0"sv) && !text.starts_with("\2\0\0\0\0\0\0\0"sv)))
    return;
  throw bad_input("{}: this seems to be a binary graph of Galois', which is read by position; decompress it first",
                  sample.path);
}

ReadResult read_dimacs(ReadJob& job) {
  refuse_compressed_galois(job.sample);
  const auto problem = problem_line_of(job.sample);
  if (!problem && job.sample.text.find('\0') != std::string::npos)
    throw bad_input("{}: the file is binary; --format galois says what is wrong with it, if it is a Galois graph",
                    job.path());
  if (!problem) throw bad_input("{}: expected 'c' comments and then a line 'p sp VERTICES ARCS'", job.path());
  if (problem->kind != "sp")
    throw bad_input("{}:{}: problem '{}' is not read; expected 'p sp VERTICES ARCS'", job.path(), problem->line,
                    printable(problem->kind));
  if (problem->vertices > max_vertices)
    throw bad_input("{}:{}: {} vertices: at most 2^32-1 are supported", job.path(), problem->line,
                    problem->vertices);
  EdgeText edges;
  edges.layout.comments = "c";
  edges.layout.lead     = 'a';
  edges.layout.columns  = 3;
  edges.start           = problem->after;
  edges.vertices        = problem->vertices;
  edges.first_id        = 1;
  edges.edges           = problem->arcs;
  edges.edges_stated_by = fmt::format("line {}", problem->line);
  edges.weight_type     = job.options.weight_type.value_or(WeightType::u32);
  edges.weights_stated  = job.options.weight_type.has_value();
  if (job.options.weight_column == "none") edges.weight_type = WeightType::none;
  ReadResult result = read_edge_text(edges, job);
  note_directions(result, 'c', job);
  return result;
}

/// Comments and then a whole problem line; a damaged one is left to the suffix to claim.
bool recognises_dimacs(const Sample& sample) {
  try {
    const auto problem = problem_line_of(sample);
    return problem && problem->kind == "sp";
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Format dimacs_format() {
  return {.name        = "dimacs",
          .description = "DIMACS shortest-path text: c, p sp, a lines",
          .suffixes    = {"gr", "dimacs"},
          .has_magic   = true,
          .by_arcs     = true,
          .recognises  = recognises_dimacs,
          .read        = read_dimacs,
          .write       = {}};
}

}  // namespace spillway
