// Radius and reach of every vertex by sketches: the neighbourhood function of HADI (Kang, Tsourakakis, Appel,
// Faloutsos, Leskovec, TKDD 2011) with Flajolet-Martin bit strings that are OR-ed along the arcs. After h steps a
// vertex's strings tell about how many vertices it reaches within h arcs; its radius is the last step that told it
// anything new.
#include <bit>
#include <cmath>

#include "algorithms/radius.hpp"
#include "algorithms/registry.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

// Flajolet & Martin 1985: the expected position of the lowest unset bit is log2(0.77351 n).
constexpr double correction = 0.77351;

/// Two strings of 32 bits a word.
template <std::size_t Words>
using Strings = std::array<std::uint64_t, Words>;

SPILLWAY_HD inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// One bit in every string, bit b with chance 2^-(b+1).
template <std::size_t Words>
SPILLWAY_HD Strings<Words> strings_of(Vertex v, std::uint64_t seed) {
  Strings<Words> strings{};
  for (std::size_t i = 0; i < 2 * Words; ++i) {
    const std::uint64_t draw = mixed(mixed(seed + i) ^ (std::uint64_t{v} + 0x9E3779B97F4A7C15u));
    std::uint64_t       bit  = 0;
    while (bit < 31 && !(draw >> bit & 1)) ++bit;
    strings[i / 2] |= std::uint64_t{1} << (bit + 32 * (i % 2));
  }
  return strings;
}

/// How many vertices the strings have seen, about.
template <std::size_t Words>
SPILLWAY_HD double reach_of(const Strings<Words>& strings) {
  double low_bits = 0;
  for (const std::uint64_t word : strings)
    for (const std::uint64_t string : {word & 0xFFFFFFFFu, word >> 32}) {
      std::uint64_t bit = 0;
      while (string >> bit & 1) ++bit;
      low_bits += static_cast<double>(bit);
    }
  return std::exp2(low_bits / static_cast<double>(2 * Words)) / correction;
}

template <std::size_t Words>
struct Radius {
  struct Value {
    Strings<Words> strings;
    std::uint64_t  last;  ///< step that brought something new
  };
  struct Global {
    double gained = 0;  ///< by all estimates of reach

    SPILLWAY_HD void operator+=(const Global& other) { gained += other.gained; }
  };
  using Update  = Strings<Words>;
  using Combine = Or<Update>;

  static constexpr Along along        = Along::in;  // what is reached from the target is reached from the source
  static constexpr bool  reads_degree = false;

  std::uint64_t seed;
  std::uint64_t max_iterations;

  SPILLWAY_HD Value  init(Vertex v) const { return {strings_of<Words>(v, seed), 0}; }
  SPILLWAY_HD Update publish(const Value& value, const Step<Global>&) const { return value.strings; }
  SPILLWAY_HD Update compute(const Update& strings, const Edge<>&) const { return strings; }

  SPILLWAY_HD bool apply(Value& value, const Update& update, const Step<Global>& step) const {
    const double before = reach_of<Words>(value.strings);
    if (!Combine::improve(value.strings, update)) return false;
    value.last = step.iteration + 1;
    step.total->gained += reach_of<Words>(value.strings) - before;
    return true;
  }
};

/// The step within which nine tenths of all pairs that are ever connected are (interpolated, as HADI does).
template <std::size_t Words>
double effective_diameter(const Outcome<Radius<Words>>& outcome) {
  double all = 0;
  for (const auto& value : outcome.values.span()) all += reach_of<Words>(value.strings);
  double now = all;
  for (const auto& step : outcome.history) now -= step.gained;
  if (now >= 0.9 * all) return 0;
  double h = 0;
  for (const auto& step : outcome.history) {
    if (now + step.gained >= 0.9 * all) return h + (0.9 * all - now) / step.gained;
    now += step.gained;
    ++h;
  }
  return h;
}

template <std::size_t Words>
Result run_with(const Graph& graph, const Parameters& parameters, const RunOptions& options) {
  using Value = typename Radius<Words>::Value;
  auto outcome =
      run(Radius<Words>{parameters.number("seed", 0, UINT64_MAX), parameters.number("steps", 1, 1u << 30)}, graph,
          options);
  Result result;
  result.facts = {{effective_diameter_fact, effective_diameter(outcome)}};
  result.columns.push_back(
      outcome.column("radius", [](const Value& value) { return static_cast<std::uint32_t>(value.last); }));
  result.columns.push_back(
      outcome.column("reach", [](const Value& value) { return reach_of<Words>(value.strings); }));
  result.statistics = std::move(outcome.statistics);
  return result;
}

template <class Body>
auto with_words(const Parameters& parameters, Body&& body) {
  const std::string& sketches = parameters.choice("sketches", {"8", "16", "32", "64"});
  if (sketches == "8") return body.template operator()<4>();
  if (sketches == "16") return body.template operator()<8>();
  if (sketches == "32") return body.template operator()<16>();
  return body.template operator()<32>();
}

Result run_radius(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters parameters{"radius", values};
  return with_words(parameters, [&]<std::size_t Words>() { return run_with<Words>(graph, parameters, options); });
}

}  // namespace

Algorithm radius_algorithm() {
  return {.name       = "radius",
          .summary    = "how far each vertex sees and how many it reaches, by sketches",
          .reference  = "Kang et al.: HADI, TKDD 2011; Flajolet, Martin: Probabilistic Counting, 1985",
          .parameters = {{.name = "sketches",
                          .help = "8, 16, 32 or 64 a vertex; the error of reach is about 0.78 / sqrt(sketches)",
                          .default_value = "16"},
                         {.name = "steps", .help = "go no farther than this", .default_value = "1000000"},
                         {.name = "seed", .help = "what the sketches depend on", .default_value = "1"}},
          .columns    = {{"radius", "the last step that told it of a new vertex: close below its eccentricity"},
                         {"reach", "about how many vertices it reaches, itself included"}},
          .on_gpu     = built_for_gpu,
          .run        = run_radius,
          .verify     = verify_radius};
}

}  // namespace spillway
