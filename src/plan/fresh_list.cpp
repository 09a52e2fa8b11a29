#include "plan/fresh_list.hpp"

#include <algorithm>
#include <cmath>

#include <spillway/options.hpp>

namespace spillway {
namespace {

// Measured on an H200 with 16 cores and on 2 cores without a GPU (docs/performance.md, "Unsorted edges"): a
// second.
constexpr double uploaded               = 39e9;   // bytes of a mapped list
constexpr double visited                = 130e9;  // edges of a list, by a GPU…
constexpr double gathered               = 50e9;   // …that adds to accumulators
constexpr double sorted_by_gpu          = 2.1e9;  // edges that become rows, uploaded included
constexpr double rows_visited           = 165e9;
constexpr double sorted_a_thread        = 18e6;
constexpr double row_a_thread           = 52e6;   // edges of rows
constexpr double edge_a_thread          = 90e6;   // edges of a list
constexpr double row_pulled_a_thread    = 120e6;  // where all are active all the time
constexpr double edge_gathered_a_thread = 30e6;
constexpr double kept_a_thread = 60e6;  // that are parsed into a list; rows of sorted ones are built meanwhile

class Prices {
 public:
  explicit Prices(const FreshList& list)
      : list_(list), arcs_(list.edges * (list.both_ways ? 2 : 1)), threads_(list.threads) {}

  FormPrice edges_on_gpu() const {
    const double bytes = list_.edges * (list_.weighted ? 12 : 8), state = 24 * list_.vertices;
    const bool   fits   = bytes + state <= list_.gpu_memory;
    const double pass   = arcs_ / (list_.gathers ? gathered : visited);
    const double sent   = bytes / (fits ? uploaded : Rates{}.sent);
    const double run    = fits ? sent + passes() * pass : passes() * std::max(sent, pass);
    FormPrice    answer = price(ListForm::edges, true, start() + kept() + run);
    if (state >= list_.gpu_memory) answer.excluded = "the vertices do not fit the GPU's memory";
    return answer;
  }
  FormPrice rows_by_gpu() const {
    const double row_bytes = arcs_ * (list_.weighted ? 8 : 4);
    FormPrice answer = price(ListForm::rows_by_gpu, true, start() + kept() + gpu_rows_seconds() + rows_on_gpu());
    // Those that go both ways may have been listed from both ends, which shows while the CPU builds rows.
    if (list_.both_ways) answer.excluded = "not of edges that go both ways";
    if (row_bytes > list_.gpu_memory) answer.excluded = "they do not fit the GPU's memory";
    return answer;
  }
  /// Which run on whichever is sooner.
  FormPrice rows_by_cpu() const {
    const double built  = list_.text && list_.ascending && !list_.both_ways && !list_.gathers
                              ? 0
                              : arcs_ / (sorted_a_thread * threads_),
                 on_cpu = list_.row_passes * list_.runs * arcs_ /
                          ((list_.gathers ? row_pulled_a_thread : row_a_thread) * threads_),
                 on_gpu = start() + arcs_ * (list_.weighted ? 8 : 4) / Rates{}.uploaded + rows_on_gpu();
    const bool gpu      = list_.gpu_memory > 0 && (!list_.cpu || on_gpu < on_cpu);
    return price(ListForm::rows_by_cpu, gpu, built + (gpu ? on_gpu : on_cpu));
  }
  FormPrice edges_on_cpu() const {
    const double passed = list_.hooks ? list_.runs : passes(),
                 rate   = list_.gathers ? edge_gathered_a_thread : edge_a_thread;
    return price(ListForm::edges, false, kept() + passed * arcs_ / (rate * threads_));
  }

 private:
  static FormPrice price(ListForm form, bool on_gpu, double seconds) { return {form, on_gpu, seconds}; }

  double passes() const { return list_.passes * list_.runs; }
  double start() const { return list_.gpu_started ? 0 : Rates{}.context; }
  double kept() const { return list_.text ? arcs_ / (kept_a_thread * threads_) : 0; }
  /// Programs that gather have in-edges made, too.
  double gpu_rows_seconds() const { return arcs_ / sorted_by_gpu * (list_.gathers ? 1.55 : 1); }
  double rows_on_gpu() const { return list_.row_passes * list_.runs * arcs_ / rows_visited; }

  const FreshList& list_;
  double           arcs_;
  double           threads_;
};

}  // namespace

std::vector<FormPrice> priced_forms(const FreshList& list) {
  const Prices           prices{list};
  std::vector<FormPrice> all;
  if (list.gpu_memory > 0) all = {prices.edges_on_gpu(), prices.rows_by_gpu()};
  if (list.cpu) all.push_back(prices.edges_on_cpu());
  all.push_back(prices.rows_by_cpu());
  std::ranges::stable_sort(all, [](const FormPrice& a, const FormPrice& b) {
    return a.excluded.empty() != b.excluded.empty() ? a.excluded.empty() : a.seconds < b.seconds;
  });
  return all;
}

const char* to_string(ListForm form) {
  return form == ListForm::edges ? "edges" : form == ListForm::rows_by_gpu ? "rows by GPU" : "rows by CPU";
}

std::string name_of(const FormPrice& price) {
  switch (price.form) {
    case ListForm::edges:
      return price.on_gpu ? "edges as they lie, on the GPU" : "edges as they lie, on the CPU";
    case ListForm::rows_by_gpu:
      return "rows built on the GPU";
    case ListForm::rows_by_cpu:
      return "rows built on the CPU";
  }
  return {};
}

/// A list of few edges a vertex (roads) has as many rounds as its paths are long.
ListPasses list_passes(const std::string& algorithm, double vertices, double arcs, double iterations) {
  constexpr double few_rounds = 8, until_converged = 40;
  const double     rounds = arcs < 5 * vertices ? std::max(few_rounds, std::sqrt(vertices)) : few_rounds;
  const double     again  = rounds / few_rounds;  // of rows only the active ones are visited
  if (algorithm == "cc") return {rounds, std::min(again, 4.0)};
  if (algorithm == "bfs") return {rounds, 1};
  if (algorithm == "sssp" || algorithm == "sswp") return {rounds, 4};
  if (algorithm == "pagerank" || algorithm == "ppr") {
    const double all = iterations > 0 ? iterations : until_converged;
    return {all, all, true};
  }
  return {};
}

}  // namespace spillway
