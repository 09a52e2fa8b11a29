// Kronecker graphs: R-MAT (Chakrabarti, Zhan & Faloutsos, SDM 2004) as Graph500 uses it.
// An edge is a path through `scale` levels, at each of which one quadrant of the adjacency matrix is chosen
// with probability a, b, c or d. Several levels are chosen with one draw from an alias table (Walker 1977;
// Vose 1991) over all their combinations, as in Hübschle-Schneider & Sanders, "Linear Work Generation of
// R-MAT Graphs" (Network Science 2020).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <spillway/parameters.hpp>
#include "generate/generators.hpp"
#include "generate/numbered_edges.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

struct Quadrants {
  double a, b, c, d;
};

/// Chooses the quadrants of five levels with 32 random bits. The probabilities of the 4^5 combinations are
/// the true ones rounded to multiples of 2^-32, and sum to one exactly.
class QuadrantTable {
 public:
  static constexpr unsigned levels = 5;  // 4^5 entries of 4 bytes leave room in every first-level cache

  explicit QuadrantTable(const Quadrants& quadrants) { alias(masses(quadrants)); }

  /// Appends the chosen bits to the row and the column.
  void choose(std::uint32_t random, std::uint32_t& row, std::uint32_t& column) const {
    const std::uint32_t own      = random >> (32 - code_bits);
    const std::uint32_t entry    = entries_[own];
    const std::uint32_t fraction = random << code_bits >> code_bits;
    // All ones where the fraction falls to the own code: a branch here would often be mispredicted.
    const std::uint32_t is_own = 0u - static_cast<std::uint32_t>(fraction < entry >> code_bits);
    const std::uint32_t code   = entry ^ ((entry ^ own) & is_own);
    row                        = row << levels | (code >> levels & half_mask);
    column                     = column << levels | (code & half_mask);
  }

 private:
  static constexpr unsigned      code_bits = 2 * levels;  // row bits, then column bits
  static constexpr std::uint32_t size      = 1u << code_bits;
  static constexpr std::uint32_t half_mask = (1u << levels) - 1;

  /// The probability of every code in units of 2^-32.
  static std::vector<std::uint64_t> masses(const Quadrants& q) {
    std::vector<std::uint64_t> mass(size);
    std::uint64_t              total = 0;
    for (std::uint32_t code = 0; code < size; ++code) {
      const std::uint32_t row = code >> levels, column = code & half_mask;
      double              probability = 0x1p32;
      for (unsigned level = 0; level < levels; ++level) {
        const bool down = row >> level & 1, right = column >> level & 1;
        probability *= down ? (right ? q.d : q.c) : (right ? q.b : q.a);
      }
      mass[code] = static_cast<std::uint64_t>(std::llround(probability));
      total += mass[code];
    }
    // What rounding left over, at most half a unit a code, goes where it shows least: the likeliest code.
    *std::max_element(mass.begin(), mass.end()) += (std::uint64_t{1} << 32) - total;
    return mass;
  }

  /// Vose's construction, in whole numbers and so exact: each entry shares its column with one other code.
  void alias(std::vector<std::uint64_t> mass) {
    const std::uint64_t        column = (std::uint64_t{1} << 32) / size;
    std::vector<std::uint32_t> light, heavy;
    for (std::uint32_t code = 0; code < size; ++code) {
      entries_[code] = code;  // full columns keep this: never the own half, and the other is the same
      if (mass[code] != column) (mass[code] < column ? light : heavy).push_back(code);
    }
    while (!light.empty()) {
      const std::uint32_t less = light.back(), more = heavy.back();
      light.pop_back();
      entries_[less] = static_cast<std::uint32_t>(mass[less]) << code_bits | more;
      mass[more] -= column - mass[less];
      if (mass[more] > column) continue;
      heavy.pop_back();
      if (mass[more] < column) light.push_back(more);
    }
  }

  /// The share of the own code in the high bits, the other code in the low ones.
  std::array<std::uint32_t, size> entries_{};
};

/// A bijection of the numbers below 2^scale that depends on the seed. Odd factors and folding the high half
/// into the low one can each be undone; done twice they carry every bit into every other.
class Scramble {
 public:
  Scramble(unsigned scale, std::uint64_t seed) : mask_((std::uint64_t{1} << scale) - 1), shift_((scale + 1) / 2) {
    const RandomStream stream{seed, RandomUse::labels};
    for (std::uint32_t i = 0; i < rounds; ++i) {
      factor_[i] = static_cast<std::uint32_t>(stream.bits(2 * i)) | 1;
      offset_[i] = static_cast<std::uint32_t>(stream.bits(2 * i + 1));
    }
  }

  Vertex operator()(std::uint32_t label) const {
    for (unsigned i = 0; i < rounds; ++i) {
      label = (label * factor_[i] + offset_[i]) & mask_;
      label ^= label >> shift_;
    }
    return label;
  }

 private:
  static constexpr unsigned rounds = 2;

  std::uint32_t mask_;
  unsigned      shift_;
  std::uint32_t factor_[rounds];
  std::uint32_t offset_[rounds];
};

/// Edge i of the graph, by what the stream holds at the positions of i.
class KroneckerEdges {
 public:
  KroneckerEdges(unsigned scale, const Quadrants& quadrants, std::uint64_t seed)
      : pairs_((scale + 2 * QuadrantTable::levels - 1) / (2 * QuadrantTable::levels)),
        mask_(static_cast<std::uint32_t>((std::uint64_t{1} << scale) - 1)),
        table_(quadrants),
        stream_(seed, RandomUse::topology) {}

  /// Levels are independent and alike, so those chosen beyond `scale` are simply cut off.
  NumberedEdge operator()(std::uint64_t number) const {
    std::uint32_t row = 0, column = 0;
    for (std::uint64_t pair = 0; pair < pairs_; ++pair) {
      const std::uint64_t random = stream_.bits(number * pairs_ + pair);
      table_.choose(static_cast<std::uint32_t>(random >> 32), row, column);
      table_.choose(static_cast<std::uint32_t>(random), row, column);
    }
    return {row & mask_, column & mask_};
  }

 private:
  std::uint64_t pairs_;  // of draws that an edge takes, two from each random number
  std::uint32_t mask_;
  QuadrantTable table_;
  RandomStream  stream_;
};

Quadrants quadrants_of(const Parameters& parameters) {
  const double     a = parameters.real("a", 0, 1), b = parameters.real("b", 0, 1), c = parameters.real("c", 0, 1);
  constexpr double rounding = 1e-9;  // three decimal fractions that should make one may make a little more
  const double     d        = 1 - a - b - c;
  if (d < -rounding)
    throw usage_error("kron: --a, --b and --c are {}, {} and {}; their sum must be at most 1", a, b, c);
  return {a, b, c, std::max(d, 0.0)};
}

Graph kronecker(const ParameterValues& values, const GenerateOptions& options) {
  const Parameters     parameters{"kron", values};
  const auto           scale    = static_cast<unsigned>(parameters.number("scale", 1, 31));
  const std::uint64_t  vertices = std::uint64_t{1} << scale;
  const std::uint64_t  edges    = parameters.degree() << scale;
  const KroneckerEdges edge_at{scale, quadrants_of(parameters), options.seed};
  const NumberedEdges  shape{.vertices = vertices, .numbers = edges, .edges = edges};
  if (!parameters.yes("scramble")) return build_graph(shape, options, edge_at);
  const Scramble scramble{scale, options.seed};
  return build_graph(shape, options, [&](std::uint64_t number) {
    const NumberedEdge edge = edge_at(number);
    return NumberedEdge{scramble(edge.source), scramble(edge.target)};
  });
}

}  // namespace

Generator kronecker_generator() {
  return {
      "kron",
      "Kronecker (R-MAT): skewed degrees, 2^scale vertices; directed, with loops and parallel edges. The Graph500 "
      "graph is this one undirected, without loops and duplicates",
      {{"scale", "the number of vertices is 2 to this power, 1 to 31", ""},
       {"degree", "edges a vertex", "16"},
       {"a", "chance of the upper left quadrant", "0.57"},
       {"b", "chance of the upper right quadrant", "0.19"},
       {"c", "chance of the lower left quadrant; the fourth gets what is left", "0.19"},
       {"scramble", "yes or no: shuffle the vertices, so that an id says nothing about the degree", "yes"}},
      kronecker};
}

}  // namespace spillway
