// Radius and reach of every vertex by sketches: the neighbourhood function of HADI (Kang, Tsourakakis, Appel,
// Faloutsos, Leskovec, TKDD 2011) with Flajolet-Martin bit strings that are OR-ed along the arcs. After h steps a
// vertex's strings tell about how many vertices it reaches within h arcs; its radius is the last step that told it
// anything new.
#include "algorithms/programs/radius.hpp"
#include "algorithms/radius.hpp"
#include "algorithms/registry.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

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
Radius<Words> program_of(const Parameters& parameters) {
  return {parameters.number("seed", 0, UINT64_MAX), parameters.number("steps", 1, 1u << 30)};
}

template <std::size_t Words>
Result run_with(const Graph& graph, const Parameters& parameters, const RunOptions& options) {
  using Value    = typename Radius<Words>::Value;
  auto   outcome = run(program_of<Words>(parameters), graph, options);
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

Plan plan_radius(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters parameters{"radius", values};
  return with_words(parameters,
                    [&]<std::size_t Words>() { return plan_run(program_of<Words>(parameters), graph, options); });
}

}  // namespace

Algorithm radius_algorithm() {
  return {.name       = "radius",
          .summary    = "estimated eccentricities, reach and effective diameter, by sketches",
          .reference  = "Kang et al.: HADI, TKDD 2011; Flajolet, Martin: Probabilistic Counting, 1985",
          .parameters = {{.name = "sketches",
                          .help = "8, 16, 32 or 64 a vertex; the error of reach is about 0.78 / sqrt(sketches)",
                          .default_value = "16"},
                         {.name = "steps", .help = "largest distance", .default_value = "1000000"},
                         {.name = "seed", .help = "of the random sketches", .default_value = "1"}},
          .columns    = {{"radius", "the last step that added to its sketches: a lower bound of its eccentricity"},
                         {"reach", "about how many vertices it reaches, itself included"}},
          .on_gpu     = gpu::built && has_device_code<Radius<4>>,
          .run        = run_radius,
          .plan       = plan_radius,
          .verify     = verify_radius,
          .aliases    = {"effective_diameter", "eccentricity"}};
}

}  // namespace spillway
