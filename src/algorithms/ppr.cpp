// Personalised PageRank: the random walk restarts at one vertex. The program is PageRank's.
#include "algorithms/pagerank.hpp"
#include "algorithms/registry.hpp"

namespace spillway {

Algorithm ppr_algorithm() {
  std::vector<Parameter> parameters = pagerank_parameters();
  parameters.insert(parameters.begin(), {.name = "source",
                                         .help = "where the walk restarts, by the graph's own ids",
                                         .kind = ParameterKind::source});
  return {
      .name       = "ppr",
      .summary    = "personalized PageRank: the walk restarts at a source",
      .reference  = "Haveliwala: Topic-Sensitive PageRank, WWW 2002; Tong, Faloutsos, Pan: ICDM 2006",
      .parameters = std::move(parameters),
      .columns    = {{"rank", "share of the walk's time; all sum to 1"}},
      .on_gpu     = gpu::built && has_device_code<PageRank>,
      .run =
          [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
            return run_pagerank("ppr", graph, Parameters{"ppr", values}.vertex(graph), values, options);
          },
      .plan =
          [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
            return plan_pagerank("ppr", graph, Parameters{"ppr", values}.vertex(graph), values, options);
          },
      .verify =
          [](const Graph& graph, const ParameterValues& values, const Result& result,
             const VerifyOptions& options) {
            return verify_pagerank("ppr", graph, Parameters{"ppr", values}.vertex(graph), values, result, options);
          },
      .aliases = {"personalized_pagerank"}};
}

}  // namespace spillway
