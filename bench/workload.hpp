// What the benchmarks run: algorithms on graphs, each by one method. `make bench` and `make gpu-bench` are two
// sets of workloads and one way to measure them.
#pragma once

#include <string>
#include <vector>

#include <spillway/generate.hpp>
#include <spillway/options.hpp>
#include <spillway/parameters.hpp>
#include <spillway/split.hpp>

namespace spillway::bench {

struct GraphSpec {
  std::string     name;
  std::string     kind;  ///< of `generators()`
  ParameterValues values;
  double          weight_max = 64;
  bool            directed   = false;
};

/// Simple, and undirected unless it says so, with whole weights from 1 on, or without any.
Graph made(const GraphSpec& spec, bool weighted = true);

/// A cold run finds nothing of the graph on the device, a warm one what the run before it left.
struct Repeats {
  int cold = 1, warm = 5;
};

/// Vertices are split that have more edges than any has.
inline constexpr SplitForm unsplit{.degree_bound = ~std::uint64_t{0}};

struct Workload {
  std::string     table;  ///< that its figures go to
  std::string     algorithm;
  std::string     graph;
  ParameterValues parameters    = {};
  bool            per_iteration = false;  ///< the figure is one iteration's
  Method          method        = {};
  DeviceKind      device        = {};  ///< automatic: that of the set
  Compress        compress      = Compress::automatic;
  SplitForm       split         = unsplit;  ///< of the graph that is run on
  BalanceTuning   balance       = {};
  unsigned        resident_of   = 0;   ///< one of so many parts of the edges may stay on the device; 0: none
  unsigned        runs          = 1;   ///< that are announced
  std::string     variant       = {};  ///< of a paper's table, in place of the method's name: …
  CudaTuning      cuda          = {};  ///< …what it is made of
  Async           async         = Async::automatic;
  bool            all_parts     = false;
  bool            beyond_memory = false;  ///< `resident_of` holds, and `auto` gets no more memory than the others
  Repeats         repeats       = {};
  double          enough_s      = 5;   ///< of repeats; a run that takes longer is not repeated
  double          limit_s       = 20;  ///< of one run; one that takes longer is ended
};

struct Set {
  std::vector<GraphSpec> graphs;
  int                    sources = 1;  ///< one: the vertex of highest degree; more: drawn by a fixed seed
  std::vector<Workload>  workloads;
};

/// kron, urand and road with 2^scale vertices (the road with twice as many).
Set cpu_set(unsigned scale, bool quick);
/// kron with 2^scale vertices and a grid with a quarter as many, in memory and beyond it.
Set gpu_set(unsigned scale, bool quick);

/// What `auto` chooses on a GPU against everything that can be asked for by name: on four graphs, from all of the
/// edges on the device to none, for one run and for many.
Set plan_set(unsigned scale, bool quick);

/// What Tigr's figure 13 and tables 7 and 8 compare: every balance, and physical splits, on four graphs.
Set balance_set(unsigned scale, bool quick);

/// What SIMD-X's figures 8, 11 and 12 and Subway's tables 3 and 5 compare, on our graphs, which table 2 lists.
Set papers_set(unsigned scale, bool quick);

/// "bfs kron24 1/4 zerocopy compressed": what results are compared by.
std::string name_of(const Workload& workload);
std::string method_name(const Workload& workload);
std::string share_name(const Workload& workload);
/// Of the graph that it is, split or not: "kron24 udt:10".
std::string graph_name(const Workload& workload);

}  // namespace spillway::bench
