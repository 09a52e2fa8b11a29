// The registry of algorithms. The command line and the documentation read it, so nothing is listed twice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/graph.hpp>
#include <spillway/parameters.hpp>
#include <spillway/plan.hpp>
#include <spillway/result.hpp>

namespace spillway {

/// How a result is checked: by computing it anew with plain serial code, or by properties that only a right one
/// has.
enum class CheckBy {
  automatic,  ///< the oracle on graphs in memory of up to `oracle_arcs` arcs, properties beyond
  oracle,
  properties,
};

struct VerifyOptions {
  CheckBy       by          = CheckBy::automatic;
  std::uint64_t oracle_arcs = std::uint64_t{1} << 26;
  int           threads     = 0;
  Progress*     progress    = nullptr;

  bool use_oracle(const Graph& graph) const {
    return by == CheckBy::oracle ||
           (by == CheckBy::automatic && !graph.pages() && graph.arc_count() <= oracle_arcs);
  }
};

/// How a result was checked, and what was found.
struct Verdict {
  std::string how;      ///< "serial oracle", "property checks"
  std::string problem;  ///< empty: right
};

/// What a person looks for in a column: `--top` lists it first, and the summary of a run names it.
enum class ColumnOrder {
  largest_first,
  smallest_first,  ///< distances from a source: the nearest first, the farthest is named
  by_group,        ///< entries name the group of a vertex: the largest groups first
};

struct ColumnInfo {
  std::string name;
  std::string meaning;
  ColumnOrder order = ColumnOrder::largest_first;
};

enum class WeightUse {
  ignored,
  used,    ///< where the graph has them
  needed,  ///< a graph without them is refused
};

/// `run` and `verify` want a value for every parameter; `completed_parameters` fills in the defaults.
struct Algorithm {
  using Run    = std::function<Result(const Graph&, const ParameterValues&, const RunOptions&)>;
  using Plans  = std::function<Plan(const Graph&, const ParameterValues&, const RunOptions&)>;
  using Verify = std::function<Verdict(const Graph&, const ParameterValues&, const Result&, const VerifyOptions&)>;

  std::string             name          = {};
  std::string             summary       = {};
  std::string             reference     = {};  ///< where the method is described
  std::vector<Parameter>  parameters    = {};
  std::vector<ColumnInfo> columns       = {};
  WeightUse               weights       = WeightUse::ignored;
  bool                    makes_a_graph = false;  ///< the answer is a graph, not columns
  bool                    on_gpu        = false;  ///< can be asked of one
  bool  vertex_program = true;   ///< or an algorithm of its own, to which directions and methods do not apply
  bool  survives_split = false;  ///< of its own, and answers by programs where vertices are split; programs say so
  bool  takes_lists    = false;  ///< of its own, and answers by a program where edges have no rows
  Run   run            = {};
  Plans plan           = {};              ///< of the first program that `run` runs: `plan_run` (run.hpp)
  Verify                   verify  = {};  ///< empty: the result cannot be checked
  std::vector<std::string> aliases = {};  ///< what others call it
};

/// Those that come with Spillway and those that were added.
const std::vector<Algorithm>& algorithms();

/// Adds one; a name that is taken is Error{usage}. Not while another thread reads the registry.
const Algorithm& add_algorithm(Algorithm algorithm);

/// The one of this name or alias, or none.
const Algorithm* find_algorithm(const std::string& name);

/// The one of this name or alias (- and _ and case do not matter); an unknown one is Error{usage} with a
/// suggestion.
const Algorithm& algorithm_named(const std::string& name);

/// The given values with defaults filled in; an unknown name is Error{usage}.
ParameterValues completed_parameters(const Algorithm& algorithm, const ParameterValues& given);

}  // namespace spillway
