// The two sets of workloads.
#include "workload.hpp"

#include <cmath>

namespace spillway::bench {
namespace {

std::string power_of_two(unsigned exponent) { return std::to_string(std::uint64_t{1} << exponent); }

GraphSpec grid(std::string name, const std::string& side, double weight_max) {
  return {std::move(name), "grid", {{"rows", side}, {"columns", side}, {"remove", "0.1"}}, weight_max};
}

Workload in_memory(const std::string& algorithm, const std::string& graph) {
  Workload workload{.table = "in memory", .algorithm = algorithm, .graph = graph};
  if (algorithm == "pagerank") workload.parameters = {{"iterations", "20"}}, workload.per_iteration = true;
  if (algorithm == "bp") workload.parameters = {{"iterations", "5"}}, workload.per_iteration = true;
  return workload;
}

/// Every method that the algorithm can be asked by; `auto` is last, since it gets the memory that the others took.
std::vector<Workload> beyond_memory(const std::string& algorithm, const std::string& graph, unsigned resident_of,
                                    bool quick) {
  Workload any{.table = "beyond memory", .algorithm = algorithm, .graph = graph};
  any.resident_of = resident_of, any.beyond_memory = true;
  any.repeats  = quick ? Repeats{1, 1} : Repeats{2, 2};
  any.enough_s = 1, any.limit_s = 3;
  if (algorithm == "pagerank") any.parameters = {{"iterations", "4"}}, any.per_iteration = true;
  std::vector<Workload> all;
  const auto            add = [&](Method method, Compress compress) {
    all.push_back(any);
    all.back().method = method, all.back().compress = compress;
  };
  for (const Method method : methods()) {
    if (method->all_resident || method->streams_pages) continue;
    add(method, Compress::off);
    if (method->compresses && (!method->transfers || algorithm == "pagerank")) add(method, Compress::on);
  }
  add({}, Compress::automatic);
  return all;
}

}  // namespace

Graph made(const GraphSpec& spec, bool weighted) {
  GenerateOptions options;
  options.transform   = {.undirected = !spec.directed, .dedup = true, .drop_loops = true};
  options.weight_type = weighted ? WeightType::u32 : WeightType::none;
  options.weight_max  = spec.weight_max;
  return generate(spec.kind, spec.values, options);
}

Set cpu_set(unsigned scale, bool quick) {
  constexpr double  weight_max = 255;  // as GAPBS has them
  const std::string suffix     = std::to_string(scale);
  const std::string side       = std::to_string(static_cast<std::uint64_t>(std::sqrt(std::exp2(scale + 1.0))));
  Set               set;
  set.sources    = 10;
  set.graphs     = {{"kron" + suffix, "kron", {{"scale", suffix}}, weight_max},
                    {"urand" + suffix, "uniform", {{"vertices", power_of_two(scale)}, {"degree", "16"}}, weight_max},
                    grid("road" + suffix, side, weight_max)};
  const auto add = [&](const std::string& algorithm, const std::string& graph, int repeats) {
    set.workloads.push_back(in_memory(algorithm, graph));
    set.workloads.back().repeats  = {.cold = 0, .warm = repeats};
    set.workloads.back().enough_s = 20;
  };
  for (const GraphSpec& graph : set.graphs) {
    for (const char* algorithm : {"bfs", "sssp", "bc"}) add(algorithm, graph.name, set.sources);
    for (const char* algorithm : {"cc", "pagerank", "kcore", "tc"}) add(algorithm, graph.name, quick ? 3 : 5);
  }
  return set;
}

Set gpu_set(unsigned scale, bool quick) {
  const std::string side = power_of_two(scale / 2 - 1), suffix = std::to_string(scale);
  const std::string kron_name = "kron" + suffix, grid_name = "grid" + side;
  Set               set;
  set.graphs = {{kron_name, "kron", {{"scale", suffix}}}, grid(grid_name, side, 64)};

  const std::vector<std::string> common = {"bfs", "sssp", "cc", "pagerank", "sswp"};
  for (const GraphSpec& graph : set.graphs) {
    std::vector<std::string> algorithms = common;
    if (!quick) algorithms.insert(algorithms.end(), {"kcore", "bc", "cdlp", "tc"});
    if (!quick && graph.name == kron_name) algorithms.insert(algorithms.end(), {"scc", "bp"});
    for (const std::string& algorithm : algorithms) {
      set.workloads.push_back(in_memory(algorithm, graph.name));
      set.workloads.back().method  = resident_edges();
      set.workloads.back().repeats = {.cold = 1, .warm = quick ? 3 : 5};
    }
  }
  // The share that peers were measured with comes first, should time run out.
  const std::vector<unsigned> shares = quick ? std::vector<unsigned>{4} : std::vector<unsigned>{4, 2, 8, 0};
  for (const unsigned share : shares)
    for (const GraphSpec& graph : set.graphs)
      for (const std::string& algorithm : common)
        for (const Workload& workload : beyond_memory(algorithm, graph.name, share, quick))
          set.workloads.push_back(workload);
  return set;
}

Set plan_set(unsigned scale, bool quick) {
  constexpr unsigned many = 50;
  const std::string  side = power_of_two(scale / 2 - 1), smaller = std::to_string(scale - 2);
  Set                set;
  set.graphs = {{"kron" + std::to_string(scale), "kron", {{"scale", std::to_string(scale)}}},
                grid("grid" + side, side, 64),
                {"urand" + smaller, "uniform", {{"vertices", power_of_two(scale - 2)}, {"degree", "16"}}},
                {.name = "directed" + smaller, .kind = "kron", .values = {{"scale", smaller}}, .directed = true}};
  for (const GraphSpec& graph : set.graphs)
    for (const char* algorithm : {"bfs", "sssp", "pagerank", "sswp"})
      for (const unsigned share : quick ? std::vector<unsigned>{4} : std::vector<unsigned>{4, 0, 2, 8, 1}) {
        std::vector<Workload> all = beyond_memory(algorithm, graph.name, share, true);
        if (share == 1) {
          all.insert(all.begin(), all.front());
          all.front().method = resident_edges(), all.front().compress = Compress::automatic;
        }
        all.push_back(all.back());
        all.back().runs = many;
        for (Workload& workload : all) {
          workload.table    = "planning";
          workload.repeats  = {.cold = workload.compress == Compress::on || workload.runs > 1 ? 1 : 2,
                               .warm = workload.runs > 1 ? 4 : 1};  // some of many prepare what later ones need
          workload.enough_s = 4, workload.limit_s = 1.5;            // the best take less
          if (workload.algorithm == "pagerank") workload.parameters = {{"iterations", "10"}};
          set.workloads.push_back(workload);
        }
      }
  return set;
}

namespace {

struct Variant {
  std::string   name;
  CudaTuning    cuda      = {};
  Method        method    = {};
  Async         async     = Async::automatic;
  bool          all_parts = false;
  BalanceTuning balance   = {};
  SplitForm     split     = unsplit;
};

void add_variants(Set& set, const Workload& any, const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    Workload& workload = set.workloads.emplace_back(any);
    workload.variant   = variant.name;
    workload.cuda = variant.cuda, workload.method = variant.method;
    workload.async = variant.async, workload.all_parts = variant.all_parts;
    workload.balance = variant.balance, workload.split = variant.split;
  }
}

/// Figures 8 (a), 11 and 12: bounds of the online filter's bins, filters, fusion.
void add_simdx(Set& set, const std::string& graph) {
  const auto workload = [&](const char* table, const char* algorithm) {
    Workload any{.table = table, .algorithm = algorithm, .graph = graph};
    any.repeats = {.cold = 0, .warm = 3}, any.enough_s = 2, any.limit_s = 5;
    if (any.algorithm == "pagerank") any.parameters = {{"iterations", "10"}};
    return any;
  };
  std::vector<Variant> bounds;
  for (const auto& [name, entries] : {std::pair{"8 entries", 8u},
                                      {"32 entries", 32u},
                                      {"64 entries", 64u},
                                      {"256 entries", 256u},
                                      {"1024 entries", 1024u}})
    bounds.push_back({name, {.bin_entries = entries}, resident_edges()});
  add_variants(set, workload("simd-x 8", "bfs"), bounds);
  for (const char* algorithm : {"bfs", "sssp", "kcore"})
    add_variants(set, workload("simd-x 11", algorithm),
                 {{"ballot", {.filter = Filter::ballot}, resident_edges()},
                  {"batch", {.filter = Filter::batch}, resident_edges()},
                  {"just in time", {.filter = Filter::just_in_time}, resident_edges()}});
  for (const char* algorithm : {"bfs", "sssp", "kcore", "pagerank"})
    add_variants(set, workload("simd-x 12", algorithm),
                 {{"no fusion", {.fusion = Fusion::none}, resident_edges()},
                  {"push and pull", {.fusion = Fusion::push_pull}, resident_edges()},
                  {"all fused", {.fusion = Fusion::all}, resident_edges()}});
}

/// Table 3: whole partitions, all or those in which somebody is active; active edges alone, in two ways; and ours.
void add_subway(Set& set, const std::string& graph) {
  constexpr unsigned quarter = 4;
  for (const char* algorithm : {"bfs", "sssp", "sswp", "cc", "ssnsp", "pagerank"}) {
    // Over a grid there are more shortest paths than a floating number can count.
    if (std::string_view{algorithm} == "ssnsp" && graph.starts_with("grid")) continue;
    Workload any{.table = "subway 3", .algorithm = algorithm, .graph = graph};
    any.resident_of = quarter, any.beyond_memory = true;
    any.repeats = {.cold = 0, .warm = 2}, any.enough_s = 2, any.limit_s = 4;
    if (any.algorithm == "pagerank") any.parameters = {{"form", "residual"}};
    if (any.algorithm == "cc") any.parameters = {{"form", "propagate"}};
    add_variants(set, any,
                 {{"PT", {}, whole_partitions(), Async::off, true},
                  {"PT-Opt", {}, whole_partitions(), Async::off},
                  {"Subway-sync", {}, method_named("subgraph"), Async::off},
                  {"Subway-async", {}, method_named("subgraph"), Async::on},
                  {"auto", {}, {}}});
  }
}

/// Table 5: what the CPU takes that edges would not have to be brought from; the paper asks Galois.
void add_cpu(Set& set, const std::string& graph) {
  for (const char* algorithm : {"sssp", "bfs", "cc"}) {
    Workload any{.table = "subway 5", .algorithm = algorithm, .graph = graph};
    any.device  = cpu_kind();
    any.repeats = {.cold = 0, .warm = 2}, any.enough_s = 2, any.limit_s = 10;
    add_variants(set, any, {{"CPU"}});
  }
}

}  // namespace

Set papers_set(unsigned scale, bool quick) {
  Set set = gpu_set(scale, quick);
  set.workloads.clear();
  for (const GraphSpec& graph : set.graphs) {
    add_simdx(set, graph.name);
    add_subway(set, graph.name);
    add_cpu(set, graph.name);
  }
  return set;
}

namespace {

/// The first is what others are compared with; the default is last.
std::vector<Variant> balances(bool quick) {
  std::vector<Variant> all;
  const auto           add = [&](std::string name, const BalanceTuning& balance) {
    all.push_back({.name = std::move(name), .method = resident_edges(), .balance = balance});
  };
  const auto split = [](std::uint64_t degree_bound) {
    return BalanceTuning{.kind = Balance::split, .split = {.degree_bound = degree_bound}};
  };
  add("bins", {.kind = Balance::bins});
  add("split:10", split(10));
  add("thread", {.kind = Balance::thread});
  add("warp:8", {.kind = Balance::warp, .lanes = 8});
  if (!quick) {
    add("split:4", split(4));
    add("split:32", split(32));
    BalanceTuning other   = split(10);
    other.split.coalesced = false;
    add("split:10 consecutive", other);
    other             = split(10);
    other.split.array = true;
    add("split:10 array", other);
    other.split.worklist = false;
    add("split:10 array, no worklist", other);
  }
  add("auto", {});
  return all;
}

/// Programs on the graph as it is and split; of those that pull, in-edges are.
std::vector<Variant> physical_splits(const std::string& algorithm) {
  std::vector<Variant> all{{.name = "as it is", .method = resident_edges()}};
  const bool           in_edges = algorithm == "pagerank";
  for (const std::uint64_t degree_bound : {10u, 100u, 10'000u})
    all.push_back({.name   = "udt:" + std::to_string(degree_bound) + (in_edges ? ":in" : ""),
                   .method = resident_edges(),
                   .split  = {.degree_bound = degree_bound, .in_edges = in_edges}});
  return all;
}

}  // namespace

Set balance_set(unsigned scale, bool quick) {
  Set set = plan_set(scale, quick);
  set.workloads.clear();
  for (const GraphSpec& graph : set.graphs) {
    if (quick || graph.kind != "kron") continue;
    for (const char* algorithm : {"bfs", "sssp", "sswp", "cc", "pagerank"}) {
      Workload any{.table = "tigr 8", .algorithm = algorithm, .graph = graph.name};
      any.repeats = {.cold = 0, .warm = 2}, any.enough_s = 0.7, any.limit_s = 2;
      if (any.algorithm == "pagerank") any.parameters = {{"tolerance", "1e-4"}};
      if (any.algorithm == "cc") any.parameters = {{"form", "propagate"}};
      add_variants(set, any, physical_splits(algorithm));
    }
  }
  for (const GraphSpec& graph : set.graphs) {
    for (const char* algorithm : {"bfs", "sssp", "pagerank", "sswp", "cc", "bc"}) {
      Workload any{.table = "tigr 13", .algorithm = algorithm, .graph = graph.name};
      any.repeats = {.cold = 0, .warm = quick ? 2 : 3}, any.enough_s = 0.5, any.limit_s = 2;
      if (any.algorithm == "pagerank") any.parameters = {{"iterations", "10"}}, any.per_iteration = true;
      if (any.algorithm == "cc") any.parameters = {{"form", "propagate"}};
      add_variants(set, any, balances(quick));
    }
  }
  return set;
}

std::string graph_name(const Workload& workload) {
  if (workload.split.degree_bound == unsplit.degree_bound) return workload.graph;
  return workload.graph + " " + std::string{to_string(workload.split.kind)} + ":" +
         std::to_string(workload.split.degree_bound) + (workload.split.in_edges ? ":in" : "");
}

std::string method_name(const Workload& workload) {
  std::string name{workload.variant.empty() ? workload.method->name : workload.variant};
  if (workload.runs > 1) name += " for " + std::to_string(workload.runs);
  return workload.compress == Compress::on ? name + " compressed" : name;
}

std::string share_name(const Workload& workload) {
  return workload.resident_of == 0 ? "0" : "1/" + std::to_string(workload.resident_of);
}

std::string name_of(const Workload& workload) {
  const std::string name = workload.algorithm + " " + workload.graph;
  if (workload.beyond_memory) return name + " " + share_name(workload) + " " + method_name(workload);
  return workload.variant.empty() ? name : name + " " + workload.variant;
}

}  // namespace spillway::bench
