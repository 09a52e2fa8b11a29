// Which edges of a row a virtual node has: the example of Tigr's figures 10 and 12, and that every edge is of one
// node.
#include <gtest/gtest.h>

#include <vector>

#include <spillway/engine/virtual_nodes.hpp>

namespace spillway {
namespace {

/// Figure 10: the vertex of six edges at K = 3, whose row begins at edge 3 of the array, is two nodes, which begin
/// at edges 3 and 6.
TEST(VirtualNodes, OfSixEdgesAreTwoThatLieSideBySide) {
  constexpr std::uint32_t row = 3;
  ASSERT_EQ(nodes_of(6u, 3u), 2u);
  EXPECT_EQ(row + edges_of_node(6, 0, 3, false).at(0), 3u);
  EXPECT_EQ(row + edges_of_node(6, 1, 3, false).at(0), 6u);
}

/// Figure 12: coalesced, the second of them has edges 1, 3 and 5.
TEST(VirtualNodes, TakeTurnsWhereTheyAreCoalesced) {
  const NodeEdges            second = edges_of_node(6, 1, 3, true);
  std::vector<std::uint32_t> edges;
  for (std::uint32_t i = 0; i < second.count; ++i) edges.push_back(second.at(i));
  EXPECT_EQ(edges, (std::vector<std::uint32_t>{1, 3, 5}));
}

/// The paper's algorithm 3 counts to K in every node and overruns those that have fewer.
TEST(VirtualNodes, HaveEveryEdgeOnceAndAtMostSoMany) {
  for (std::uint32_t degree_bound = 2; degree_bound < 12; ++degree_bound)
    for (std::uint32_t edges = 0; edges < 80; ++edges)
      for (const bool coalesced : {false, true}) {
        std::vector<int>    times(edges);
        const std::uint32_t nodes = nodes_of(edges, degree_bound);
        EXPECT_EQ(nodes, (edges + degree_bound - 1) / degree_bound);
        for (std::uint32_t node = 0; node < nodes; ++node) {
          const NodeEdges own = edges_of_node(edges, node, degree_bound, coalesced);
          EXPECT_GE(own.count, 1u);
          EXPECT_LE(own.count, degree_bound);
          for (std::uint32_t i = 0; i < own.count; ++i) {
            ASSERT_LT(own.at(i), edges);
            ++times[own.at(i)];
          }
        }
        EXPECT_EQ(times, std::vector<int>(edges, 1)) << edges << " edges, K = " << degree_bound;
      }
}

}  // namespace
}  // namespace spillway
