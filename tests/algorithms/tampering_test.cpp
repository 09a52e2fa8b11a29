// Whether verification can fail. Every registered algorithm's right answers are changed, one entry or one fact at
// a time, and the oracle and the property checks must both complain. An algorithm joins by registering.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "algorithms/trying.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::as_text;
using testing::filled;
using testing::variants_of;
using testing::with_weights_for;

struct Try {
  const Algorithm& algorithm;
  Graph            graph;
  ParameterValues  values;
};

/// Changes that nobody could notice without computing the answer: the change of the last iteration, and ranks that
/// may still change by that much, where a run was cut short.
struct Exception {
  std::string algorithm, what, with;  ///< `with`: parameters
};

const std::vector<Exception> unknown_to_properties{
    {"bp", "change", "--iterations 4"},
    {"pagerank", "residual", "--iterations 7"},
    {"ppr", "residual", "--iterations 5"},
    {"ppr", "rank", "--iterations 5"},
};

bool is_exception(const Try& at, const std::string& what, CheckBy by) {
  return by == CheckBy::properties && std::ranges::any_of(unknown_to_properties, [&](const Exception& exception) {
           return exception.algorithm == at.algorithm.name && exception.what == what &&
                  as_text(at.values).find(exception.with) != std::string::npos;
         });
}

void expect_complaint(const Try& at, const Result& wrong, const std::string& what, const std::string& how) {
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
    if (is_exception(at, what, by)) continue;
    EXPECT_NE(at.algorithm.verify(at.graph, at.values, wrong, {.by = by, .threads = 1}).problem, "")
        << at.algorithm.name << as_text(at.values) << ": " << what << how << " went unnoticed by "
        << (by == CheckBy::oracle ? "the oracle" : "the properties");
  }
}

/// No right entry: a vertex is its own parent, label or colour, or is not, in one way only.
std::uint32_t changed(std::uint32_t entry, std::size_t v, bool is_vertex) {
  if (!is_vertex) return entry + 1;
  return entry == v ? static_cast<std::uint32_t>(v == 0 ? 1 : 0) : static_cast<std::uint32_t>(v);
}
std::uint64_t changed(std::uint64_t entry, std::size_t, bool) { return entry + 1; }
template <class Real>
requires std::is_floating_point_v<Real> Real changed(Real entry, std::size_t, bool) {
  return entry == std::numeric_limits<Real>::infinity() ? Real{1} : entry * Real{1.25} + Real{0.01};
}

void change_entries(const Try& at, const Result& right) {
  for (std::size_t c = 0; c < right.columns.size(); ++c)
    std::visit(
        [&]<class T>(const Array<T>& entries) {
          for (std::size_t v = 0; v < entries.size(); ++v) {
            std::vector<T> wrong{entries.begin(), entries.end()};
            wrong[v]                 = changed(wrong[v], v, right.columns[c].vertices);
            Result result            = right;
            result.columns[c].values = Array<T>::own(std::move(wrong));
            expect_complaint(at, result, right.columns[c].name,
                             " of vertex " + at.graph.ids().name(static_cast<Vertex>(v)));
          }
        },
        right.columns[c].values);
}

/// Whether a result may have either.
template <class T>
bool alike(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a == b || std::abs(a - b) <= T{1e-4} * std::max(a, b);
  return a == b;
}

/// Sums stay as they are.
void exchange_entries(const Try& at, const Result& right) {
  for (std::size_t c = 0; c < right.columns.size(); ++c)
    std::visit(
        [&]<class T>(const Array<T>& entries) {
          if (right.columns[c].name == "parent") return;  // each may be a parent of the other's
          for (std::size_t v = 1; v < entries.size(); ++v) {
            if (alike(entries[v], entries[v - 1])) continue;
            std::vector<T> wrong{entries.begin(), entries.end()};
            std::swap(wrong[v], wrong[v - 1]);
            Result result            = right;
            result.columns[c].values = Array<T>::own(std::move(wrong));
            expect_complaint(at, result, right.columns[c].name,
                             " of two vertices, exchanged at " + at.graph.ids().name(static_cast<Vertex>(v)));
          }
        },
        right.columns[c].values);
}

std::uint64_t changed(std::uint64_t fact) { return fact + 1; }
double        changed(double fact) { return fact * 1.25 + 0.01; }
std::string   changed(const std::string& fact) { return fact == "yes" ? "no" : "yes"; }

void change_facts(const Try& at, const Result& right) {
  for (std::size_t f = 0; f < right.facts.size(); ++f) {
    Result wrong = right;
    std::visit([&](auto& fact) { fact = changed(fact); }, wrong.facts[f].value);
    expect_complaint(at, wrong, right.facts[f].name, ", a fact,");
  }
}

/// One arc of the answer leads elsewhere.
void change_graph(const Try& at, const Result& right) {
  if (!right.graph || right.graph->arc_count() == 0 || right.graph->vertex_count() < 2) return;
  const Csr&          csr = right.graph->out();
  std::vector<Vertex> targets{csr.targets.begin(), csr.targets.end()};
  targets[0] = (targets[0] + 1) % static_cast<Vertex>(right.graph->vertex_count());
  Graph::Parts parts;
  parts.out         = {csr.offsets, Array<Vertex>::own(std::move(targets)), csr.weights};
  parts.ids         = right.graph->ids();
  parts.weight_type = right.graph->weight_type();
  parts.symmetric   = right.graph->symmetric();
  parts.budget      = right.graph->budget();
  Result wrong      = right;
  wrong.graph       = Graph{std::move(parts)};
  expect_complaint(at, wrong, "graph", "");
}

/// Random graphs of each type of weight, small enough to change every entry of every column.
std::vector<Graph> small_graphs() {
  std::vector<Graph> graphs;
  for (const WeightType type : {WeightType::none, WeightType::u32, WeightType::f32})
    for (std::uint64_t seed = 0;; ++seed) {
      Graph graph = testing::random_graph(seed);
      if (graph.weight_type() != type || graph.vertex_count() < 10 || graph.vertex_count() > 40 ||
          graph.arc_count() < 2 * graph.vertex_count() || graph.arc_count() > 10 * graph.vertex_count())
        continue;
      graphs.push_back(std::move(graph));
      break;
    }
  return graphs;
}

class EveryVerification : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryVerification, NoticesWhatWasChanged) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  for (const Graph& given : small_graphs()) {
    const Graph graph = with_weights_for(algorithm, given);
    for (const ParameterValues& variant : variants_of(algorithm.name)) {
      const Try    at{algorithm, graph, *filled(algorithm, graph, variant)};
      const Result right = algorithm.run(graph, at.values, {.threads = 1});
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        ASSERT_EQ(algorithm.verify(graph, at.values, right, {.by = by}).problem, "");
      change_entries(at, right);
      exchange_entries(at, right);
      change_facts(at, right);
      change_graph(at, right);
    }
  }
}

/// All but a little of a budget, for as long as this lives.
class Occupied {
 public:
  explicit Occupied(const std::shared_ptr<MemoryBudget>& budget) : budget_(budget) {
    constexpr std::uint64_t a_little = 4096;
    bytes_                           = budget->limit() - budget->used() - a_little;
    budget->take(bytes_, "a test");
  }
  Occupied(const Occupied&) = delete;
  ~Occupied() { budget_->give(bytes_); }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t                 bytes_;
};

/// Property checks of these look at a few vertices, or at what they are given, and need no memory that grows.
const std::set<std::string> modest{"lcc", "tc"};

TEST_P(EveryVerification, CountsItsMemory) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  const Graph      graph = with_random_weights(generate("uniform", {{"vertices", "20000"}, {"degree", "3"}}), 1);
  const ParameterValues values = *filled(algorithm, graph, {});
  const Result          result = algorithm.run(graph, values, {});
  graph.in(), graph.simple();
  const Occupied rest{graph.budget()};
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
    if (by == CheckBy::properties && modest.contains(algorithm.name)) continue;
    const auto verify = [&] { algorithm.verify(graph, values, result, {.by = by}); };
    EXPECT_EQ(testing::failure_of(verify).first, ExitCode::does_not_fit);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryVerification, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
