// Pages on disk that stream past a GPU: every vertex program on the zoo and on random graphs, in pages so small
// that each graph has many; sent every time, kept by the host or by the device; and pages that are not what they
// should be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "algorithms/trying.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::filled;
using testing::TemporaryFolder;
using testing::variants_of;
using testing::with_weights_for;

std::string in_pages(const Graph& graph, const std::string& path, const store::PageOptions& options) {
  OutputFile file{path};
  store::write(graph, options, file, Progress::none());
  file.commit();
  return path;
}

struct PagedWay {
  bool                         compressed = true, in_edges = true;
  unsigned                     streams   = 4;
  std::optional<std::uint64_t> resident  = {};  ///< bytes that stay on the device
  std::uint64_t                host      = 0;   ///< bytes of memory; 0: all
  Direction                    direction = Direction::automatic;
  unsigned                     chunk     = 256;  ///< edges of one
};

const std::vector<PagedWay> ways{{.resident = 0},
                                 {.compressed = false, .streams = 1, .resident = 0, .host = 2u << 20},
                                 {.in_edges = false, .streams = 2},
                                 {.compressed = false, .resident = 8192, .direction = Direction::push},
                                 {.streams = 32, .resident = 0, .direction = Direction::pull, .chunk = 5},
                                 {.compressed = false, .in_edges = false, .streams = 3, .chunk = 33},
                                 {.resident = 12288, .host = 2u << 20, .chunk = 40}};

class GpuPrograms : public ::testing::TestWithParam<std::string> {
 protected:
  void try_graph(const Graph& given, const std::string& what) {
    const bool simple = algorithm_.name == "kcore" || algorithm_.name == "bp";  // which take arcs as undirected
    Graph      graph  = given;
    if (simple)
      graph =
          from_csr(given.out().offsets.span(), given.out().targets.span(), given.out().weights.span(),
                   given.weight_type(), {.transform = {.undirected = true, .dedup = true, .drop_loops = true}});
    graph                = with_weights_for(algorithm_, graph);
    const auto  variants = variants_of(algorithm_.name);
    const auto  values   = filled(algorithm_, graph, variants[turn_ % variants.size()]);
    const auto& way      = ways[turn_++ % ways.size()];
    if (!values || is_left_out(*values, graph)) return;
    if (way.in_edges) graph.in();
    const std::string path =
        in_pages(graph, folder_ / "g.spill", {.page_bytes = 4096, .compressed = way.compressed});
    const Graph paged = open(path, {.host_memory = way.host});
    RunOptions  options{.direction = way.direction, .device = {.kind = cuda_kind()}};
    options.cuda            = testing::on_gpu(Filter::just_in_time, Fusion::all, turn_ % 2 == 0);
    options.cuda.streams    = way.streams;
    options.supply.resident = way.resident;
    options.supply.chunk    = way.chunk;
    try {
      const Result         result     = algorithm_.run(paged, *values, options);
      const RunStatistics& statistics = result.statistics;
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm_.verify(graph, *values, result, {.by = by}).problem, "")
            << algorithm_.name << " on " << what << ", way " << (turn_ - 1) % ways.size();
      if (statistics.device == "cpu" || statistics.pages_wanted == 0) return;
      EXPECT_EQ(statistics.method, "pages");
      ++right_;
      sent_ += statistics.pages_sent, hits_ += statistics.pages_wanted - statistics.pages_sent;
      kept_ += statistics.pages_sent - statistics.pages_read;
      for (const IterationStatistics& each : statistics.per_iteration) seen_.insert(each.direction);
    } catch (const Error& error) {
      // Without in-edges some cannot go where they are asked to.
      EXPECT_NE(std::string{error.what()}.find("in-edges"), std::string::npos) << error.what() << " on " << what;
      EXPECT_FALSE(way.in_edges || graph.symmetric()) << error.what();
    }
  }

  /// Afforest hooks edges where they lie, and messages are for each of them. From every vertex takes long.
  bool is_left_out(const ParameterValues& values, const Graph& graph) const {
    if (algorithm_.name == "bp") return values.at("form") != "vertex";
    const bool hooks = algorithm_.name == "cc" && values.contains("form") && values.at("form") == "afforest";
    const bool all   = values.contains("sources") && values.at("sources") == "all" && graph.vertex_count() > 16;
    return hooks || all;
  }

  const Algorithm&    algorithm_ = algorithm_named(GetParam());
  TemporaryFolder     folder_;
  std::size_t         turn_ = 0, right_ = 0;
  std::uint64_t       sent_ = 0, hits_ = 0, kept_ = 0;
  std::set<Direction> seen_;
};

TEST_P(GpuPrograms, AreRightOnPages) {
  for (const auto& member : testing::zoo())
    if (GetParam() != "sssp" || member.name != "weights_large") try_graph(member.graph, member.name);
  const std::uint64_t seeds = testing::full_matrix() ? 60 : 14;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    try_graph(testing::random_graph(seed), fmt::format("random {}", seed));
  EXPECT_GT(right_, 10u);
  EXPECT_GT(sent_, 0u);
  if (GetParam() == "degrees") return;  // one pass
  EXPECT_GT(hits_, 0u) << "pages that had stayed on the device";
  EXPECT_GT(kept_, 0u) << "pages that had stayed in host memory";
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuPrograms,
                         ::testing::Values("bc", "bp", "bfs", "cc", "degrees", "kcore", "pagerank", "ppr",
                                           "radius", "ssnsp", "sssp", "sswp"),
                         [](const auto& member) { return member.param; });

}  // namespace
}  // namespace spillway
