// Graphs that memory does not hold, made in passes: the rows are those of the graph made at once.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

struct Made {
  const char*     kind;
  ParameterValues values;
  GenerateOptions options;
};

const std::vector<Made> made{
    {"kron", {{"scale", "18"}}, {.transform = {.undirected = true, .dedup = true, .drop_loops = true}}},
    {"kron", {{"scale", "18"}}, {.transform = {.dedup = true}, .weight_type = WeightType::u32}},
    {"uniform", {{"vertices", "200000"}, {"degree", "8"}}, {.weight_type = WeightType::f32}},
};

/// With `memory` bytes, the rows into pages; the offsets alone are held.
Graph in_passes(const Made& one, const store::PageOptions& pages, std::uint64_t memory, const std::string& path) {
  OutputFile         file{path};
  ArcSpill           spill{folder_of(path), memory / 8};
  store::PagedOutput output{pages, file, spill, 2, Progress::none()};
  GenerateOptions    options = one.options;
  options.host_memory        = memory;
  options.threads            = 2;
  options.rows               = &output.rows();
  const Graph graph          = generate(one.kind, one.values, options);
  if (!output.in_use()) throw Error{ExitCode::internal_error, "memory held all of it"};
  EXPECT_LE(graph.budget()->peak(), memory);
  output.finish(graph.out().offsets, graph.ids(), graph.weight_type(), graph.symmetric());
  file.commit();
  return open(path);
}

TEST(MadeInPasses, IsTheGraphThatIsMadeAtOnce) {
  const testing::TemporaryFolder folder;
  const store::PageOptions       compressed{.page_bytes = 4096, .compressed = true},
      ordered{.page_bytes = 1u << 16, .by_degree = true};
  for (const Made& one : made) {
    const Graph whole = generate(one.kind, one.values, one.options);
    for (const store::PageOptions& pages : {compressed, ordered}) {
      const std::uint64_t all = whole.arc_count() * (whole.weight_type() == WeightType::none ? 6u : 10u);
      const Graph parts       = in_passes(one, pages, all * 3 / 4 + whole.vertex_count() * 32, folder / "g.spill");
      const Graph loaded      = store::in_memory(parts, 2, Progress::none());
      EXPECT_EQ(loaded.symmetric(), whole.symmetric());
      EXPECT_TRUE(std::ranges::equal(loaded.out().offsets, whole.out().offsets)) << one.kind;
      EXPECT_TRUE(std::ranges::equal(loaded.out().targets, whole.out().targets)) << one.kind;
      EXPECT_TRUE(std::ranges::equal(loaded.out().weights, whole.out().weights)) << one.kind;
    }
  }
}

TEST(MadeInPasses, OneHubThatDoesNotFitIsRefusedWithANumberThatSuffices) {
  const testing::TemporaryFolder folder;
  const Made                     star{"star", {{"vertices", "400000"}}, {}};
  const auto refused = testing::failure_of([&] { in_passes(star, {.compressed = true}, 6u << 20, folder / "g"); });
  EXPECT_EQ(refused.first, ExitCode::does_not_fit);
  EXPECT_NE(refused.second.find("--host-memory"), std::string::npos) << refused.second;
}

}  // namespace
}  // namespace spillway
