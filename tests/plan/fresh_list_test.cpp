// What is predicted of lists of edges before they are read, where it was measured (docs/performance.md).
#include "plan/fresh_list.hpp"

#include <gtest/gtest.h>

namespace spillway {
namespace {

FreshList kron24_pairs(const char* algorithm, double iterations = 0) {
  FreshList  list{.edges       = 520.8e6,
                  .vertices    = 16.8e6,
                  .ascending   = true,
                  .threads     = 16,
                  .gpu_memory  = 140e9,
                  .gpu_started = true,
                  .cpu         = false};
  const auto passes = list_passes(algorithm, list.vertices, list.edges, iterations);
  list.passes = passes.edges, list.row_passes = passes.rows, list.gathers = passes.gathers;
  return list;
}

FreshList kron20_text(const char* algorithm, bool ascending) {
  FreshList list{.edges = 31.4e6, .vertices = 1e6, .ascending = ascending, .text = true, .threads = 2};
  list.hooks        = std::string_view{algorithm} == "cc";
  const auto passes = list_passes(algorithm, list.vertices, list.edges, 0);
  list.passes = passes.edges, list.row_passes = passes.rows, list.gathers = passes.gathers;
  return list;
}

const FormPrice& price_of(const std::vector<FormPrice>& prices, ListForm form) {
  return *std::find_if(prices.begin(), prices.end(), [&](const FormPrice& each) { return each.form == form; });
}

TEST(FreshList, TakesTheFormThatWasMeasuredToBeSooner) {
  for (const auto& [algorithm, iterations] : {std::pair{"bfs", 0}, {"cc", 0}, {"sssp", 0}, {"pagerank", 10}}) {
    const auto prices = priced_forms(kron24_pairs(algorithm, iterations));
    EXPECT_EQ(prices.front().form, ListForm::edges) << algorithm;
    EXPECT_TRUE(prices.front().on_gpu);
    EXPECT_EQ(prices.back().form, ListForm::rows_by_cpu) << algorithm;
  }
  EXPECT_EQ(priced_forms(kron24_pairs("pagerank", 200)).front().form, ListForm::rows_by_gpu);
  EXPECT_EQ(priced_forms(kron20_text("cc", false)).front().form, ListForm::edges);
  for (const char* algorithm : {"bfs", "cc", "pagerank"})
    EXPECT_EQ(priced_forms(kron20_text(algorithm, true)).front().form, ListForm::rows_by_cpu) << algorithm;
  EXPECT_EQ(priced_forms(kron20_text("bfs", false)).front().form, ListForm::rows_by_cpu);
}

TEST(FreshList, PredictsWithinAThird) {
  const auto near = [](const FreshList& list, ListForm form, double measured) {
    const double predicted = price_of(priced_forms(list), form).seconds;
    EXPECT_GT(predicted, measured / 1.34);
    EXPECT_LT(predicted, measured * 1.34);
  };
  near(kron24_pairs("bfs"), ListForm::edges, 0.132);  // prepare and run
  near(kron24_pairs("bfs"), ListForm::rows_by_gpu, 0.26);
  near(kron24_pairs("pagerank", 10), ListForm::rows_by_gpu, 0.445);
}

TEST(FreshList, RowsWhereQuestionsAreManyOrPathsLong) {
  FreshList many = kron24_pairs("bfs");
  many.runs      = 64;
  EXPECT_EQ(priced_forms(many).front().form, ListForm::rows_by_gpu);
  FreshList  roads{.edges = 1e8, .vertices = 4e7, .threads = 16, .gpu_memory = 140e9, .gpu_started = true};
  const auto passes = list_passes("sssp", roads.vertices, roads.edges, 0);
  roads.passes = passes.edges, roads.row_passes = passes.rows;
  EXPECT_NE(priced_forms(roads).front().form, ListForm::edges);
}

TEST(FreshList, SaysWhatIsExcluded) {
  FreshList both = kron24_pairs("bfs");
  both.both_ways = true;
  EXPECT_NE(price_of(priced_forms(both), ListForm::rows_by_gpu).excluded, "");
  FreshList large  = kron24_pairs("bfs");
  large.gpu_memory = 1e9;
  EXPECT_NE(price_of(priced_forms(large), ListForm::rows_by_gpu).excluded, "");
  EXPECT_EQ(priced_forms(large).back().form, ListForm::rows_by_gpu);
  FreshList wide  = kron24_pairs("bfs");
  wide.gpu_memory = 0.3e9;
  EXPECT_NE(price_of(priced_forms(wide), ListForm::edges).excluded, "");
  EXPECT_FALSE(list_passes("tc", 1, 1, 0));
}

}  // namespace
}  // namespace spillway
