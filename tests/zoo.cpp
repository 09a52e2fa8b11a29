#include "zoo.hpp"

#include "ways.hpp"

#include <bit>
#include <random>

#include <spillway/generate.hpp>

namespace spillway::testing {
namespace {

struct Arcs {
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
};

Arcs arcs(std::initializer_list<std::pair<Vertex, Vertex>> list) {
  Arcs result;
  for (const auto& [u, v] : list) result.sources.push_back(u), result.targets.push_back(v);
  return result;
}

Graph made(const Arcs& arcs, std::uint64_t vertices, WeightType type = WeightType::none) {
  return from_arcs(arcs.sources, arcs.targets, arcs.weights, type, vertices);
}

template <class WeightOf>
Graph weighted(Arcs list, std::uint64_t vertices, WeightType type, WeightOf&& weight_of) {
  for (std::size_t i = 0; i < list.sources.size(); ++i) list.weights.push_back(weight_of(i));
  return made(list, vertices, type);
}

Arcs random_arcs(std::uint64_t seed, Vertex vertices, std::size_t count) {
  std::mt19937_64 random{seed};
  Arcs            list;
  for (std::size_t i = 0; i < count; ++i) {
    list.sources.push_back(static_cast<Vertex>(random() % vertices));
    list.targets.push_back(static_cast<Vertex>(random() % vertices));
  }
  return list;
}

std::uint32_t float_bits(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

std::vector<ZooGraph> make_zoo() {
  GenerateOptions both;
  both.transform.undirected = true;
  GenerateOptions simple    = both;
  simple.transform.dedup = simple.transform.drop_loops = true;
  GenerateOptions heavy                                = simple;
  heavy.weight_type                                    = WeightType::u32;

#if defined(SPILLWAY_EMULATED)  // which takes its time
  const bool whole = full_matrix();
#else
  const bool whole = true;
#endif
  const auto            size = [&](int large, int small) { return std::to_string(whole ? large : small); };
  std::vector<ZooGraph> all;
  const auto add = [&](std::string name, Graph graph) { all.push_back({std::move(name), std::move(graph)}); };
  add("empty", Graph{});
  add("one_vertex", made({}, 1));
  add("one_loop", made(arcs({{0, 0}}), 1));
  add("one_arc", made(arcs({{0, 1}}), 2));
  add("isolated", made({}, 40));
  add("parallel_arcs", made(arcs({{0, 1}, {0, 1}, {0, 1}, {1, 0}, {1, 1}, {1, 1}}), 3));
  add("star_out", generate("star", {{"vertices", "100"}}));
  add("star_both", generate("star", {{"vertices", "100"}}, both));
  add("chain", generate("chain", {{"vertices", size(500, 90)}}));
  add("chain_both", generate("chain", {{"vertices", size(500, 90)}}, both));
  add("cycle", generate("cycle", {{"vertices", size(97, 41)}}));
  add("complete", generate("complete", {{"vertices", "24"}}));
  add("bipartite", generate("bipartite", {{"left", "7"}, {"right", "31"}}, both));
  add("tree", generate("tree", {{"vertices", "127"}, {"arity", "2"}}, both));
  add("two_cycles_and_a_bridge", made(arcs({{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}}), 6));
  add("disconnected", made(arcs({{0, 1}, {1, 0}, {3, 4}, {4, 5}, {5, 3}, {9, 8}}), 12));
  add("rmat_directed", generate("kron", {{"scale", size(9, 7)}}));
  add("rmat_simple", generate("kron", {{"scale", size(10, 7)}}, simple));
  add("rmat_weighted", generate("kron", {{"scale", size(9, 6)}}, heavy));
  add("uniform", generate("uniform", {{"vertices", size(600, 150)}, {"degree", "5"}}));
  add("grid", generate("grid", {{"rows", size(20, 8)}, {"columns", size(30, 12)}, {"remove", "0.1"}}));
  add("growth", generate("ba", {{"vertices", size(400, 120)}, {"degree", "3"}}));
  add("weights_zero", weighted(random_arcs(5, 60, 300), 60, WeightType::u32, [](std::size_t) { return 0u; }));
  add("weights_equal", weighted(random_arcs(6, 60, 300), 60, WeightType::u32, [](std::size_t) { return 7u; }));
  add("weights_large", weighted(random_arcs(7, 60, 300), 60, WeightType::u32,
                                [](std::size_t i) { return 4294967295u - static_cast<std::uint32_t>(i % 5); }));
  add("weights_float", weighted(random_arcs(8, 60, 300), 60, WeightType::f32,
                                [](std::size_t i) { return float_bits(static_cast<double>(i % 11) / 3); }));
  return all;
}

}  // namespace

const std::vector<ZooGraph>& zoo() {
  static const std::vector<ZooGraph> all = make_zoo();
  return all;
}

std::string zoo_name(const ZooGraph& member) { return member.name; }

Graph random_graph(std::uint64_t seed) {
  std::mt19937_64  random{seed};
  const auto       vertices = static_cast<Vertex>(1 + random() % 300);
  const auto       count    = static_cast<std::size_t>(random() % 2000);
  const WeightType types[]  = {WeightType::none, WeightType::u32, WeightType::f32};
  const WeightType type     = types[random() % 3];
  const Arcs       list     = random_arcs(seed * 31 + 1, vertices, count);
  if (type == WeightType::none || count == 0) return made(list, vertices);
  return weighted(list, vertices, type, [&](std::size_t) {
    const auto draw = static_cast<std::uint32_t>(random() % 100);
    return type == WeightType::u32 ? draw : float_bits(draw / 8.0);
  });
}

}  // namespace spillway::testing
