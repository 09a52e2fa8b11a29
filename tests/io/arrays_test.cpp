// Graphs from arrays of a caller: the same as from a file of the same edges, whatever type ids have.
#include <gtest/gtest.h>

#include <limits>

#include <spillway/edge_list.hpp>
#include "support.hpp"

#include <spillway/graph.hpp>

namespace spillway {
namespace {

template <class T>
Strided<T> all_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) names.push_back(graph.ids().name(v));
  return names;
}

using Names = std::vector<std::string>;

std::vector<std::pair<std::string, std::string>> arcs_of(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> arcs;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (const Vertex u : graph.out().neighbors(v)) arcs.emplace_back(graph.ids().name(v), graph.ids().name(u));
  return arcs;
}

template <class T>
class ArraysOf : public ::testing::Test {};
using IdTypes = ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(ArraysOf, IdTypes);

TYPED_TEST(ArraysOf, IdsThatAppearAreTheVertices) {
  const std::vector<TypeParam> from{7, 3, 7}, to{3, 12, 7};
  const Graph                  graph = from_edges(all_of(from), all_of(to));
  EXPECT_EQ(names_of(graph), (Names{"3", "7", "12"}));
  const std::vector<std::pair<std::string, std::string>> arcs{{"3", "12"}, {"7", "3"}, {"7", "7"}};
  EXPECT_EQ(arcs_of(graph), arcs);
}

TYPED_TEST(ArraysOf, EdgesInOrderAreTheRowsOfOthers) {
  const std::vector<TypeParam>     from{2, 2, 2, 5, 9}, to{5, 5, 9, 2, 9};
  const std::vector<std::uint32_t> weights{1, 4, 2, 0, 7};
  const std::vector<std::size_t>   places{3, 1, 4, 0, 2};
  std::vector<TypeParam>           mixed_from, mixed_to;
  std::vector<std::uint32_t>       mixed_weights;
  for (const std::size_t i : places)
    mixed_from.push_back(from[i]), mixed_to.push_back(to[i]), mixed_weights.push_back(weights[i]);
  for (const auto vertices : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{12}}) {
    const LoadOptions options{.vertices = vertices};
    const Graph       graph = from_edges(all_of(from), all_of(to), weights, WeightType::u32, options);
    const Graph mixed = from_edges(all_of(mixed_from), all_of(mixed_to), mixed_weights, WeightType::u32, options);
    EXPECT_EQ(names_of(graph), names_of(mixed));
    EXPECT_EQ(arcs_of(graph), arcs_of(mixed));
    EXPECT_TRUE(std::ranges::equal(graph.out().weights, mixed.out().weights));
  }
}

TYPED_TEST(ArraysOf, LargeIdsAreLookedUp) {
  const auto                   large = std::numeric_limits<TypeParam>::max();
  const std::vector<TypeParam> from{large, 0}, to{0, 5};
  const Graph                  graph = from_edges(all_of(from), all_of(to));
  EXPECT_EQ(names_of(graph), (Names{"0", "5", std::to_string(large)}));
  EXPECT_EQ(graph.arc_count(), 2u);
}

TYPED_TEST(ArraysOf, AStrideSkipsWhatLiesBetween) {
  const std::vector<TypeParam> table{0, 1, 1, 2, 2, 0};
  const Graph                  graph =
      from_edges(Strided<TypeParam>{table.data(), 3, 2}, Strided<TypeParam>{table.data() + 1, 3, 2});
  EXPECT_EQ(arcs_of(graph),
            (std::vector<std::pair<std::string, std::string>>{{"0", "1"}, {"1", "2"}, {"2", "0"}}));
}

TYPED_TEST(ArraysOf, ListedVerticesNeedNoEdges) {
  const std::vector<TypeParam> from{4}, to{2}, listed{9, 2};
  EXPECT_EQ(names_of(from_edges(all_of(from), all_of(to), {}, WeightType::none, {}, all_of(listed))),
            (Names{"2", "4", "9"}));
}

TEST(Arrays, NegativeIdsAreRefusedByTheirPlace) {
  const std::vector<std::int64_t> from{1, 2}, to{0, -5};
  const auto [code, message] = testing::failure_of([&] { from_edges(all_of(from), all_of(to)); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_EQ(message, "target 1 is -5: ids are not negative");
}

TEST(Arrays, NamesAreIds) {
  const std::vector<std::string_view> from{"ann", "bob"}, to{"bob", "cy"}, listed{"zoe"};
  const auto                          span = [](const auto& names) { return IdArray{std::span{names}}; };
  const Graph graph = from_edges(span(from), span(to), {}, WeightType::none, {}, span(listed));
  EXPECT_EQ(names_of(graph), (Names{"ann", "bob", "cy", "zoe"}));
}

TEST(Arrays, OptionsAreThoseOfFiles) {
  const std::vector<std::int32_t>  from{0, 3}, to{1, 3};
  const std::vector<std::uint32_t> weights{5, 6};
  LoadOptions                      options{.vertices = 6, .transform = {.undirected = true}};
  const Graph                      graph = from_edges(all_of(from), all_of(to), weights, WeightType::u32, options);
  EXPECT_EQ(graph.vertex_count(), 6u);
  EXPECT_EQ(graph.arc_count(), 3u);
  EXPECT_TRUE(graph.symmetric());
  options.vertices = 3;
  EXPECT_EQ(
      testing::failure_of([&] { from_edges(all_of(from), all_of(to), {}, WeightType::none, options); }).first,
      ExitCode::bad_input);
  options = {.edges = true};
  EXPECT_EQ(from_edges(all_of(from), all_of(to), {}, WeightType::none, options).edges()->edge_count(), 2u);
}

TEST(Arrays, OtherSizesAndTypesAreRefused) {
  const std::vector<std::int32_t>  two{0, 1}, one{0};
  const std::vector<std::int64_t>  wide{0, 1};
  const std::vector<std::uint32_t> weight{1};
  const auto usage = [](auto&& body) { EXPECT_EQ(testing::failure_of(body).first, ExitCode::usage); };
  usage([&] { from_edges(all_of(two), all_of(one)); });
  usage([&] { from_edges(all_of(two), all_of(wide)); });
  usage([&] { from_edges(all_of(two), all_of(two), weight, WeightType::u32); });
}

TEST(Arrays, NoEdgesMakeNoVertices) {
  EXPECT_EQ(from_edges(IdArray{}, IdArray{}).vertex_count(), 0u);
  EXPECT_EQ(from_edges(std::span<const std::string_view>{}, std::span<const std::string_view>{}).vertex_count(),
            0u);
}

}  // namespace
}  // namespace spillway
