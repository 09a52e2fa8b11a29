// The cost models of GTS, against what its authors measured and computed (section 7.5), and their limits.
#include "plan/streaming.hpp"

#include <gtest/gtest.h>

#include <array>

namespace spillway {
namespace {

constexpr double gb = 1e9;

/// Ten iterations of PageRank on RMAT30: 114 GB of pages. The authors compute 190, 228 and 3,454 s from bytes and
/// rates alone, and measured 153, 196 and 2,843, since pages stay in memory: 16 to 24 % less.
struct Measured {
  double bus, disks, computed, measured;
};

class PagesOfRmat30 : public ::testing::TestWithParam<Measured> {};

TEST_P(PagesOfRmat30, TakeWhatTheirBytesTake) {
  const Measured&        paper = GetParam();
  const StreamedGraph    graph{.pages = 114 * gb, .count = 1786};
  const StreamingMachine machine{.stream_rate = paper.bus, .disk_rate = paper.disks};
  const double           ten = 10 * scan_seconds(graph, machine);
  EXPECT_NEAR(ten, paper.computed, 0.01 * paper.computed);
  EXPECT_GT(ten, 1.15 * paper.measured);
  EXPECT_LT(ten, 1.25 * paper.measured);
  // With the share of pages that a buffer of a fifth of the graph keeps, it is what was measured, within a tenth.
  EXPECT_NEAR(10 * scan_seconds(graph, machine, 0.2), paper.measured, 0.1 * paper.measured);
}

INSTANTIATE_TEST_SUITE_P(Paper, PagesOfRmat30,
                         ::testing::Values(Measured{6 * gb, 0, 190, 153}, Measured{6 * gb, 5 * gb, 228, 196},
                                           Measured{6 * gb, 0.33 * gb, 3454, 2843}));

TEST(StreamingCosts, PagesAreDividedAmongGpusOrState) {
  const StreamedGraph graph{.written = 4 * gb, .read_only = 4 * gb, .pages = 114 * gb, .count = 1786};
  StreamingMachine    machine{.chunk_rate = 16 * gb, .stream_rate = 6 * gb};
  const double        one = scan_seconds(graph, machine);
  EXPECT_NEAR(one, 2 * 4 / 16.0 + 118 / 6.0, 1e-9);
  machine.gpus = 2;
  EXPECT_NEAR(scan_seconds(graph, machine), 2 * 4 / 16.0 + 118 / 12.0, 1e-9);
  machine.divides_state = true;  // every page goes to both
  EXPECT_NEAR(scan_seconds(graph, machine), one, 1e-9);
  machine.divides_state = false, machine.disk_rate = 5 * gb;
  EXPECT_NEAR(scan_seconds(graph, machine), 2 * 4 / 16.0 + 118 / 5.0, 1e-9) << "disks are slower than two buses";
  machine.call = 1e-3, machine.last_kernel = 0.5, machine.sync = 0.25;
  EXPECT_NEAR(scan_seconds(graph, machine), 2 * 4 / 16.0 + 118 / 5.0 + 1786e-3 / 2 + 0.75, 1e-9);
}

/// Buses, disks and kernels go on at once.
TEST(StreamingCosts, WaitForWhatIsSlowest) {
  const StreamedGraph graph{.pages = 60 * gb, .count = 0, .edges = 20e9};
  StreamingMachine    machine{.stream_rate = 60 * gb};
  EXPECT_EQ(bound_of(graph, machine), StreamingBound::buses);
  machine.edge_rate = 10e9;
  EXPECT_EQ(bound_of(graph, machine), StreamingBound::kernels);
  EXPECT_NEAR(scan_seconds(graph, machine), 2, 1e-9);
  machine.disk_rate = 3 * gb;
  EXPECT_EQ(bound_of(graph, machine), StreamingBound::disks);
  EXPECT_NEAR(scan_seconds(graph, machine), 20, 1e-9);
}

TEST(StreamingCosts, TraversalsVisitPagesLevelByLevel) {
  const StreamedGraph    graph{.written = 1 * gb, .pages = 60 * gb, .count = 1000};
  const StreamingMachine machine{.gpus = 2, .chunk_rate = 10 * gb, .stream_rate = 6 * gb, .call = 1e-4};
  const std::array       levels{StreamedLevel{0.001}, StreamedLevel{0.5}, StreamedLevel{1}};
  const double           balanced = traversal_seconds(graph, machine, levels);
  EXPECT_NEAR(balanced, 0.2 + 1.501 * 60 / 12.0 + 1.501 * 0.1 / 2, 1e-9);
  // With all pages at one of two, it is as if there were one.
  EXPECT_NEAR(traversal_seconds(graph, machine, levels, 0, 0.5), 0.2 + 1.501 * 60 / 6.0 + 1.501 * 0.1, 1e-9);
  EXPECT_NEAR(traversal_seconds(graph, machine, levels, 0.25), 0.2 + 0.75 * 1.501 * 60 / 12.0 + 1.501 * 0.05,
              1e-9);
  EXPECT_NEAR(traversal_seconds(graph, machine, {}), 0.2, 1e-9);
}

}  // namespace
}  // namespace spillway
