// Loopy belief propagation, sum-product over pairwise factors: Pearl, "Probabilistic Reasoning in Intelligent
// Systems", 1988; Yedidia, Freeman & Weiss, "Understanding Belief Propagation and its Generalizations", 2003.
#include "algorithms/bp.hpp"

#include <algorithm>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "algorithms/gpu/beliefs.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"

namespace spillway {
namespace {

using Run = Beliefs(const Graph&, const BeliefModel&, const RunOptions&);

struct Form {
  const char* name;
  bool        oriented;  ///< knows directions
  bool        program;   ///< on the CPU
  Run*        on_cpu;
  Run*        on_gpu;
};

constexpr Form forms[] = {{"arc", true, false, beliefs_by_messages, gpu::beliefs_by_messages},
                          {"vertex", false, true, beliefs_by_vertices, gpu::beliefs_by_vertices}};

const Form& form_of(const ParameterValues& values) {
  std::vector<std::string> names;
  for (const Form& form : forms) names.emplace_back(form.name);
  const std::string& chosen = Parameters{"bp", values}.choice("form", names);
  return *std::find_if(std::begin(forms), std::end(forms), [&](const Form& form) { return form.name == chosen; });
}

std::vector<Column> columns_of(const Beliefs& beliefs, const BeliefModel& model, const Graph& graph, int threads) {
  const std::uint64_t         n = graph.vertex_count();
  std::vector<Buffer<double>> values;
  for (std::uint64_t x = 0; x < model.states; ++x) values.emplace_back(n, graph.budget(), "the result");
  for_each_share(threads, n, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v)
      for (std::uint64_t x = 0; x < model.states; ++x) values[x][v] = beliefs.values[v * model.states + x];
  });
  std::vector<Column> columns;
  for (std::uint64_t x = 0; x < model.states; ++x)
    columns.push_back({.name = fmt::format("belief_{}", x), .values = std::move(values[x]).freeze()});
  return columns;
}

/// Where the last bits matter and nobody asks for a GPU, they are not to depend on whether it has room today.
bool stays_on_cpu(const RunOptions& options) { return options.deterministic && options.device.kind.automatic(); }

void check_form(const Form& form, const BeliefModel& model) {
  if (model.oriented && !form.oriented)
    throw usage_error("bp: the {} form knows no directions and needs a symmetric table; use --form arc",
                      form.name);
}

Beliefs beliefs_of(const Form& form, const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  check_form(form, model);
  const auto on_cpu = [&] { return form.on_cpu(graph, model, options); };
  if (stays_on_cpu(options)) return on_cpu();
  return gpu::or_else(
      graph, options, [&] { return form.on_gpu(graph, model, options); }, on_cpu);
}

Result run_bp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const int         threads = thread_count(options.threads);
  const Form&       form    = form_of(values);
  Stopwatch         clock;
  const BeliefModel model = belief_model(graph, values, threads);
  graph.simple();
  const double prepared = clock.lap();
  Beliefs      beliefs  = beliefs_of(form, graph, model, options);
  clock.lap();
  Result result;
  result.columns    = columns_of(beliefs, model, graph, threads);
  result.facts      = {{"iterations", beliefs.statistics.iterations},
                       {"change", beliefs.change},
                       {"converged", std::string{beliefs.change <= model.tolerance ? "yes" : "no"}}};
  result.statistics = std::move(beliefs.statistics);
  result.statistics.prepare_ms += prepared;
  result.statistics.run_ms += clock.milliseconds();
  return result;
}

Plan plan_bp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Form&       form  = form_of(values);
  const BeliefModel model = belief_model(graph, values, thread_count(options.threads));
  check_form(form, model);
  const bool on_cpu = stays_on_cpu(options) || !gpu::wanted(options);
  return form.program && on_cpu ? plan_by_vertices(graph, model, options)
                                : plan_without_program(options, !stays_on_cpu(options));
}

}  // namespace

Algorithm bp_algorithm() {
  return {
      .name    = "bp",
      .summary = "belief propagation: the probability of each state at each vertex",
      .reference =
          "Pearl, Probabilistic Reasoning in Intelligent Systems, 1988; Yedidia, Freeman & Weiss, "
          "Understanding Belief Propagation and its Generalizations, 2003",
      .parameters     = {{"states", "states of a vertex, 2 to 8", "2"},
                         {"iterations", "most iterations; in each, every message is sent once", "20"},
                         {"tolerance", "stop when no belief changes by more; 0: never", "1e-6"},
                         {"damping", "share of the old message in the new one, 0 to 1", "0"},
                         {"coupling", "how much likelier neighbours are in the same state than in two others", "2"},
                         {"potentials",
                          "coupling, or a FILE: a row for each state of u, a column for each of v, for an arc u to v; "
                              "symmetric unless the graph is directed",
                          "coupling"},
                         {"priors",
                          "random, or a FILE: lines of a vertex and a number for each state; vertices that it leaves "
                              "out are in all states alike",
                          "random"},
                         {"seed", "of the random priors", "1"},
                         {"form",
                          "arc: a message for each arc; vertex: state on vertices only, more certain and cheaper",
                          "arc"}},
      .columns        = {{"belief_0", "probability of state 0"},
                         {"belief_1", "probability of state 1, and so on up to the last state"}},
      .on_gpu         = gpu::built,
      .vertex_program = false,
      .run            = run_bp,
      .plan           = plan_bp,
      .verify         = verify_bp,
      .aliases        = {"belief_propagation"}};
}

}  // namespace spillway
