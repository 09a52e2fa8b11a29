// Grids of streets that lead one way: how many do, which way, and that nothing else of the grid changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <spillway/generate.hpp>

namespace spillway {
namespace {

Graph grid_of(const std::string& rows, const std::string& columns, const std::string& one_way,
              const std::string& remove = "0", const GenerateOptions& options = {}) {
  return generate("grid", {{"rows", rows}, {"columns", columns}, {"remove", remove}, {"one-way", one_way}},
                  options);
}

bool has_arc(const Graph& graph, Vertex from, Vertex to) {
  const auto row = graph.out().neighbors(from);
  return std::binary_search(row.begin(), row.end(), to);
}

/// Streets that lead one way, forward and backward, and both ways; a vertex comes before those right of it and
/// below.
struct Ways {
  std::uint64_t forward = 0, back = 0, both = 0;
};

Ways ways_of(const Graph& graph) {
  Ways ways;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (const Vertex w : graph.out().neighbors(v)) {
      if (!has_arc(graph, w, v))
        ++(v < w ? ways.forward : ways.back);
      else if (v < w)
        ++ways.both;
    }
  return ways;
}

bool same_rows(const Graph& a, const Graph& b) {
  return std::ranges::equal(a.out().offsets.span(), b.out().offsets.span()) &&
         std::ranges::equal(a.out().targets.span(), b.out().targets.span());
}

TEST(Grid, StreetsLeadOneWayAtRandom) {
  const Graph  graph   = grid_of("500", "400", "0.8");
  const double streets = 500.0 * 399 + 499.0 * 400;
  const Ways   ways    = ways_of(graph);
  const double near    = 5 * std::sqrt(streets);
  EXPECT_FALSE(graph.symmetric());
  EXPECT_EQ(graph.vertex_count(), 200'000u);
  EXPECT_EQ(ways.forward + ways.back + ways.both, static_cast<std::uint64_t>(streets)) << "no street is lost";
  EXPECT_NEAR(static_cast<double>(ways.forward), 0.4 * streets, near);
  EXPECT_NEAR(static_cast<double>(ways.back), 0.4 * streets, near);
  EXPECT_NEAR(static_cast<double>(ways.both), 0.2 * streets, near);
}

TEST(Grid, AllStreetsMayLeadOneWay) {
  const Ways ways = ways_of(grid_of("30", "40", "1"));
  EXPECT_EQ(ways.both, 0u);
  EXPECT_EQ(ways.forward + ways.back, 30u * 39 + 29 * 40);
}

TEST(Grid, WithoutOneWayStreetsItIsAsItWas) {
  const Graph plain = generate("grid", {{"rows", "40"}, {"columns", "30"}, {"remove", "0.2"}});
  const Graph same  = grid_of("40", "30", "0", "0.2");
  EXPECT_TRUE(same_rows(plain, same));
  EXPECT_TRUE(same.symmetric());
}

/// The same streets are left out, whichever way the others lead.
TEST(Grid, StreetsThatAreLeftOutAreTheSame) {
  const Graph   both = grid_of("40", "30", "0", "0.3"), one = grid_of("40", "30", "0.7", "0.3");
  std::uint64_t arcs = 0;
  for (Vertex v = 0; v < one.vertex_count(); ++v)
    for (const Vertex w : one.out().neighbors(v)) EXPECT_TRUE(has_arc(both, v, w)) << v << " to " << w;
  for (Vertex v = 0; v < both.vertex_count(); ++v)
    for (const Vertex w : both.out().neighbors(v)) arcs += has_arc(one, v, w) || has_arc(one, w, v);
  EXPECT_EQ(arcs, both.arc_count());
  EXPECT_EQ(grid_of("9", "9", "0.5", "1").arc_count(), 0u);
}

TEST(Grid, RowsAndColumnsMayBeSingle) {
  for (const auto& [rows, columns] : std::vector<std::pair<const char*, const char*>>{{"1", "50"}, {"50", "1"}}) {
    const Ways ways = ways_of(grid_of(rows, columns, "0.5"));
    EXPECT_EQ(ways.forward + ways.back + ways.both, 49u) << rows << " rows";
  }
  EXPECT_EQ(grid_of("1", "1", "1").arc_count(), 0u);
}

TEST(Grid, WaysDependOnTheSeedAlone) {
  GenerateOptions options{.seed = 7, .threads = 1};
  const Graph     first = grid_of("90", "70", "0.5", "0.1", options);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_TRUE(same_rows(first, grid_of("90", "70", "0.5", "0.1", options))) << threads << " threads";
  }
  options.seed = 8;
  EXPECT_FALSE(same_rows(first, grid_of("90", "70", "0.5", "0.1", options)));
}

}  // namespace
}  // namespace spillway
