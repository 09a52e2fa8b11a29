#include "io/reading.hpp"

#include <spillway/edge_list.hpp>
#include <spillway/engine/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/symmetry.hpp"
#include "io/header_words.hpp"

namespace spillway {

std::string without_compression(std::string path) {
  for (const std::string_view compressed : {".gz", ".zst"})
    if (lower_case(path).ends_with(compressed)) path.resize(path.size() - compressed.size());
  return path;
}

bool named_with(const std::string& path, std::string_view suffix) {
  const std::string name = lower_case(without_compression(path));
  return name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

WeightType kept_weights(const ReadJob& job, WeightType held) {
  const auto& asked = job.options.weight_type;
  if (job.options.weight_column == "none" || asked == WeightType::none) return WeightType::none;
  if (held == WeightType::none && asked)
    throw usage_error("{}: --weight-type {} asked for, but the file has no weights", job.path(),
                      to_string(*asked));
  return asked.value_or(held);
}

std::optional<std::uint32_t> weight_bits(std::int64_t value, WeightType type) {
  if (type == WeightType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<std::uint32_t> weight_bits(double value, WeightType type) {
  if (type == WeightType::f32) {
    if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()}) return std::nullopt;
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (!(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max())) return std::nullopt;
  if (std::trunc(value) != value) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::string arc_name(const IdMap& ids, Vertex source, Vertex target, WeightType weight_type,
                     std::uint32_t weight) {
  std::string name = fmt::format("{} -> {}", ids.name(source), ids.name(target));
  if (weight_type == WeightType::u32) name += fmt::format(" (weight {})", weight);
  if (weight_type == WeightType::f32) name += fmt::format(" (weight {})", std::bit_cast<float>(weight));
  return name;
}

ReadResult from_symmetric_rows(Csr csr, IdMap ids, WeightType weight_type, std::string_view format, ReadJob& job) {
  Transform& transform = job.context.transform;
  if (transform.undirected) {
    transform.undirected = false;  // both arcs are there: adding them again would double every edge
    job.notes.push_back(fmt::format("--undirected changes nothing: {} lists both arcs of every edge", format));
  }
  // With --symmetrize a missing arc is no lie but what the user wants added.
  const bool promised = !transform.symmetrize;
  ReadResult result   = from_rows(std::move(csr), std::move(ids), weight_type, /*undirected_file=*/promised, job);
  if (!promised) return result;
  if (const auto lone = find_lone_arc(result.csr, job.context.threads, job.progress()))
    throw bad_input(
        "{}: {} lists both arcs of every edge, but {} has no reverse{}; correct the file, or add what is "
        "missing with --symmetrize",
        job.path(), format, arc_name(result.ids, lone->source, lone->target, weight_type, lone->weight),
        weight_type == WeightType::none ? "" : " of the same weight");
  return result;
}

namespace {

bool is_common_float(std::uint32_t bits) {
  const float value = std::abs(std::bit_cast<float>(bits));
  return value >= 1e-6f && value <= 1e9f;
}

/// A small number below 0 in 32 bits.
bool is_negative(std::uint32_t bits) { return static_cast<std::int32_t>(bits) < 0 && bits > 0xff00'0000; }

}  // namespace

void note_tiny_weights(std::span<const std::uint32_t> weights, ReadJob& job) {
  constexpr float tiny = 1e-30f;
  float           some = 0;
  for (const std::uint32_t bits : weights) {
    const float value = std::bit_cast<float>(bits);
    if (std::abs(value) > tiny) return;
    if (value != 0) some = value;
  }
  if (some != 0)
    job.notes.push_back(fmt::format(
        "weights are read as floats, such as {}, though all would be common whole numbers, this one {} "
        "(leave out --weight-type)",
        some, std::bit_cast<std::uint32_t>(some)));
}

/// Numbers that are all floats of a common size would be whole numbers above eight million, which weights hardly
/// are.
void note_odd_weights(std::span<const std::uint32_t> weights, ReadJob& job, std::string_view remedy) {
  const auto first = std::ranges::find_if(weights, [](std::uint32_t bits) { return bits != 0; });
  if (first == weights.end()) return;
  if (std::all_of(first, weights.end(), [&](std::uint32_t bits) { return bits == 0 || is_common_float(bits); }))
    job.notes.push_back(fmt::format(
        "weights are read as whole numbers, such as {}, though all would be common floats, this one {}{}", *first,
        std::bit_cast<float>(*first), remedy));
  else if (const auto below = std::ranges::find_if(weights, is_negative); below != weights.end())
    job.notes.push_back(fmt::format("weights are read as numbers without a sign: {} would be {} with one", *below,
                                    static_cast<std::int32_t>(*below)));
}

void note_zero_weights(std::span<const std::uint32_t> weights, ReadJob& job) {
  if (weights.empty() || std::ranges::any_of(weights, [](std::uint32_t bits) { return bits != 0; })) return;
  job.notes.emplace_back(
      "all weights are 0, as they are where neighbours of 64 bits are taken for neighbours and weights of 32 "
      "(--weight-type none)");
}

std::optional<bool> lists_both_ways(const ReadResult& read, int threads) {
  if (read.edges) return lists_both_ways(*read.edges, threads);
  if (!has_rows(read.csr)) return std::nullopt;
  return lists_both_ways(read.csr);
}

namespace {

/// Which ways arcs lead, as far as all of them agree.
class Agreement {
 public:
  /// False if they do not.
  bool goes_on(Vertex source, Vertex target) {
    if (source != target) (source < target ? down : up) = false;  // loops say nothing of it
    return up || down;
  }

  bool up = true, down = true;
};

Agreement agreement_of(const ReadResult& read) {
  Agreement all;
  if (read.edges) {
    const EdgeRun edges = read.edges->edges(thread_count());
    for (std::uint64_t i = 0; i < edges.count; ++i)
      if (!all.goes_on(edges.source(i), edges.target(i))) return all;
    return all;
  }
  for (std::uint64_t v = 0; v < read.csr.vertex_count(); ++v)
    for (const Vertex target : read.csr.neighbors(static_cast<Vertex>(v)))
      if (!all.goes_on(static_cast<Vertex>(v), target)) return all;
  return all;
}

}  // namespace

std::string one_way_clause(const ReadResult& read, const Transform& transform, std::string_view what) {
  constexpr EdgeIndex few  = 16;
  const EdgeIndex     arcs = read.edges ? read.edges->edge_count() : read.csr.arc_count();
  if (arcs < few || arcs < read.csr.vertex_count() || transform.undirected || transform.symmetrize) return "";
  const auto [up, down] = agreement_of(read);
  if (up == down) return "";
  return fmt::format("every arc leads from a {0} {2} to a {1} one (--undirected, if each edge is listed once)",
                     up ? "smaller" : "larger", up ? "larger" : "smaller", what);
}

void note_directions(const ReadResult& read, char mark, ReadJob& job) {
  const Transform&   transform = job.options.transform;
  const bool         both_ways = transform.undirected || transform.symmetrize;
  std::istringstream text{job.sample.text.substr(0, 64u << 10)};
  std::string        undirected, bipartite, other;
  for (std::string line; mark && std::getline(text, line);) {
    if (!line.starts_with(mark) || line.starts_with("%%")) continue;
    if (undirected.empty() && says_undirected(line)) undirected = printable(line, 60);
    if (bipartite.empty() && says_bipartite(line)) bipartite = printable(line, 60);
    if (other.empty() && says_how_edges_lie(line)) other = printable(line, 60);
  }
  if (!bipartite.empty())
    job.notes.push_back(
        fmt::format("the file says '{}': where both sides count from 1, vertices of one side are taken for "
                    "those of the other",
                    bipartite));
  if (!other.empty() && undirected.empty() && bipartite.empty() && !both_ways)
    job.notes.push_back(
        fmt::format("the comment '{}' is not followed: each line is an arc from its first number to "
                    "its second",
                    other));
  if (both_ways) return;
  if (!undirected.empty()) {
    const auto from_both_ends = lists_both_ways(read, job.context.threads);
    if (!from_both_ends) return;
    if (!*from_both_ends) {
      job.notes.push_back(
          fmt::format("each line is one arc, though the file says '{}' (--undirected reads both)", undirected));
      return;
    }
  }
  if (std::string clause = one_way_clause(read, transform); !clause.empty())
    job.notes.push_back(std::move(clause));
}

}  // namespace spillway
