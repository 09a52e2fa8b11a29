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

struct Form {
  const char* name;
  bool        oriented;  ///< knows directions
  BeliefColumns (*run)(const Graph&, const BeliefModel&, const RunOptions&);
  Plan (*plan)(const Graph&, const BeliefModel&, const RunOptions&);
};

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
    columns.push_back({.name = belief_column(x), .values = std::move(values[x]).freeze()});
  return columns;
}

/// Where the last bits matter and nobody asks for a GPU, they are not to depend on whether it has room today.
bool stays_on_cpu(const RunOptions& options) { return options.deterministic && options.device.kind.automatic(); }

BeliefColumns by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  Stopwatch clock;
  graph.simple();
  const double prepared = clock.lap();
  const auto   on_cpu   = [&] { return beliefs_by_messages(graph, model, options); };
  const auto   on_gpu   = [&] { return gpu::beliefs_by_messages(graph, model, options); };
  const auto   work     = [&] { return work_of_messages(graph.simple(), model.iterations, model.states); };
  Beliefs      beliefs  = stays_on_cpu(options) ? on_cpu() : gpu::or_else(graph, options, work, on_gpu, on_cpu);
  clock.lap();
  BeliefColumns made{.columns    = columns_of(beliefs, model, graph, thread_count(options.threads)),
                     .change     = beliefs.change,
                     .statistics = std::move(beliefs.statistics)};
  made.statistics.prepare_ms += prepared;
  made.statistics.run_ms += clock.milliseconds();
  return made;
}

Plan plan_by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  if (stays_on_cpu(options)) return plan_without_program(options, /*may_use_gpu=*/false);
  return gpu::planned(graph, options,
                      [&] { return work_of_messages(graph.simple(), model.iterations, model.states); });
}

constexpr Form forms[] = {{"arc", true, by_messages, plan_by_messages},
                          {"vertex", false, beliefs_by_vertices, plan_by_vertices}};

const Form& form_of(const ParameterValues& values) {
  std::vector<std::string> names;
  for (const Form& form : forms) names.emplace_back(form.name);
  const std::string& chosen = Parameters{"bp", values}.choice("form", names);
  return *std::find_if(std::begin(forms), std::end(forms), [&](const Form& form) { return form.name == chosen; });
}

void check_form(const Form& form, const BeliefModel& model) {
  if (model.oriented && !form.oriented)
    throw usage_error("bp: the {} form knows no directions and needs a symmetric table; use --form arc",
                      form.name);
}

Result run_bp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Form&       form = form_of(values);
  const Stopwatch   clock;
  const BeliefModel model = belief_model(graph, values, thread_count(options.threads));
  check_form(form, model);
  const double  prepared = clock.milliseconds();
  BeliefColumns beliefs  = form.run(graph, model, options);
  Result        result;
  result.columns    = std::move(beliefs.columns);
  result.facts      = {{"iterations", beliefs.statistics.iterations},
                       {"change", beliefs.change},
                       {"converged", std::string{beliefs.change <= model.tolerance ? "yes" : "no"}}};
  result.statistics = std::move(beliefs.statistics);
  result.statistics.prepare_ms += prepared;
  return result;
}

Plan plan_bp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Form&       form  = form_of(values);
  const BeliefModel model = belief_model(graph, values, thread_count(options.threads));
  check_form(form, model);
  return form.plan(graph, model, options);
}

}  // namespace

std::string belief_column(std::uint64_t state) { return fmt::format("belief_{}", state); }

Algorithm bp_algorithm() {
  return {.name    = "bp",
          .summary = "belief propagation: the probability of each state at each vertex",
          .reference =
              "Pearl, Probabilistic Reasoning in Intelligent Systems, 1988; Yedidia, Freeman & Weiss, "
              "Understanding Belief Propagation and its Generalizations, 2003",
          .parameters =
              {{"states", "states of a vertex, 2 to 8", "2"},
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
                "arc: a message each way of an edge of the simple graph; vertex: state on vertices only, more "
                "certain and cheaper",
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
