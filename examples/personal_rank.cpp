// A rank as one vertex sees it: where a random walk is that follows arcs and now and then starts again at its
// source (personalised PageRank). Sum over all vertices in every iteration, until the ranks stand still.
//
//   spillway build personal_rank.cpp && spillway run ./personal_rank.so friends.txt --source alice --top 10
#include <cmath>

#include <spillway/plugin.hpp>
#include <spillway/run.hpp>

using namespace spillway;

struct PersonalRank {
  using Value   = double;  // the chance that the walk is at the vertex
  using Combine = Sum<double>;
  struct Global {
    double stranded = 0;  // where no arc leads on
    double change   = 0;  // of all ranks in this iteration

    SPILLWAY_HD void operator+=(const Global& other) {
      stranded += other.stranded;
      change += other.change;
    }
  };
  static constexpr bool all_active = true;

  Vertex        source;
  double        restart        = 0.15;  // the chance of starting again at each step
  double        tolerance      = 1e-9;
  std::uint64_t max_iterations = 1000;

  SPILLWAY_HD double init(Vertex v) const { return v == source ? 1 : 0; }

  SPILLWAY_HD double publish(const double& rank, const Step<Global>& step) const {
    if (step.degree > 0) return rank / static_cast<double>(step.degree);
    step.total->stranded += rank;
    return 0;
  }

  SPILLWAY_HD double compute(double share, const Edge<>&) const { return share; }

  SPILLWAY_HD bool apply(double& rank, double shares, const Step<Global>& step) const {
    double next = (1 - restart) * shares;
    if (step.vertex == source) next += restart + (1 - restart) * step.global->stranded;
    step.total->change += std::abs(next - rank);
    rank = next;
    return true;
  }

  SPILLWAY_HD bool converged(const Global& global) const { return global.change <= tolerance; }
};

PersonalRank program_of(const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{"personal_rank", values};
  return {.source    = parameters.vertex(graph),
          .restart   = parameters.real("restart", 1e-3, 1),
          .tolerance = parameters.real("tolerance", 0, 1)};
}

Algorithm personal_rank() {
  return {.name       = "personal_rank",
          .summary    = "how often a random walk that restarts at a source is at each vertex",
          .parameters = {{.name = "source", .help = "where the walk starts", .kind = ParameterKind::source},
                         {.name = "restart", .help = "chance to start again", .default_value = "0.15"},
                         {.name = "tolerance", .help = "change of all ranks to stop at", .default_value = "1e-9"}},
          .columns    = {{"rank", "share of the walk's time; all sum to 1"}},
          .on_gpu     = built_for_gpu,
          .run =
              [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
                auto   outcome = run(program_of(graph, values), graph, options);
                Result result;
                result.facts = {{"change", outcome.global.change}};
                result.columns.push_back(outcome.column("rank"));
                result.statistics = std::move(outcome.statistics);
                return result;
              },
          .plan = [](const Graph& graph, const ParameterValues& values,
                     const RunOptions& options) { return plan_run(program_of(graph, values), graph, options); }};
}

SPILLWAY_PLUGIN(personal_rank())
