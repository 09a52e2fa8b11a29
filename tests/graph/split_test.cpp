// Physical splits (Tigr, section 3): what the transformation promises of every vertex, against Algorithm 1 as it
// is printed; and that graphs come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "graph/split.hpp"
#include "graph/split_family.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::random_graph;
using testing::zoo;

/// What an error says; nothing: there is none.
template <class Body>
std::string complaint(Body&& body) {
  return failure_of(body).second;
}

constexpr SplitKind kinds[] = {SplitKind::udt, SplitKind::star, SplitKind::circular, SplitKind::clique};

/// Rows of a family: member by member, first edges of the vertex's own, then members that they lead to.
struct Member {
  std::vector<std::uint64_t> edges, members;

  bool        operator==(const Member&) const = default;
  std::size_t degree() const { return edges.size() + members.size(); }
};
using Family = std::vector<Member>;

Family family_of(SplitKind kind, std::uint64_t bound, EdgeIndex degree) {
  const SplitFamily split{kind, bound, degree};
  Family            family;
  for (std::uint64_t member = 0; member <= split.added(); ++member) {
    const SplitFamily::Row row = split.row(member);
    family.emplace_back();
    for (std::uint64_t i = row.edges.first; i < row.edges.last; ++i) family.back().edges.push_back(i);
    for (std::uint64_t i = row.children.first; i < row.children.last; ++i)
      if (i != row.except) family.back().members.push_back(i + 1);
    EXPECT_EQ(row.length(), family.back().degree());
  }
  return family;
}

/// Algorithm 1, with its queue.
Family by_queue(std::uint64_t bound, EdgeIndex degree) {
  struct Entry {
    bool          is_edge;
    std::uint64_t number;
  };
  std::deque<Entry> queue;
  for (std::uint64_t i = 0; i < degree; ++i) queue.push_back({true, i});
  Family     family{{}};
  const auto take = [&](Member& member) {
    (queue.front().is_edge ? member.edges : member.members).push_back(queue.front().number);
    queue.pop_front();
  };
  while (queue.size() > bound) {
    Member added;
    for (std::uint64_t i = 0; i < bound; ++i) take(added);
    family.push_back(added);
    queue.push_back({false, family.size() - 1});
  }
  while (!queue.empty()) take(family.front());
  return family;
}

/// Tree arcs on the way to each member, along the shortest way; by how many ways it is reached.
struct Ways {
  std::vector<std::uint64_t> hops, count;
};

Ways ways_in(const Family& family) {
  Ways ways{std::vector<std::uint64_t>(family.size()), std::vector<std::uint64_t>(family.size())};
  std::deque<std::uint64_t> waiting{0};
  ways.count[0] = 1;
  while (!waiting.empty()) {
    const std::uint64_t member = waiting.front();
    waiting.pop_front();
    for (const std::uint64_t next : family[member].members) {
      if (ways.count[next]++ > 0) continue;
      ways.hops[next] = ways.hops[member] + 1;
      waiting.push_back(next);
    }
  }
  return ways;
}

std::uint64_t residual_members(const Family& family, std::uint64_t bound) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(family, [&](const Member& member) { return member.degree() < bound; }));
}

std::uint64_t tree_arcs(const Family& family) {
  std::uint64_t arcs = 0;
  for (const Member& member : family) arcs += member.members.size();
  return arcs;
}

std::size_t largest(const Family& family) { return std::ranges::max(family, {}, &Member::degree).degree(); }

TEST(SplitFamily, OfFiveEdgesAndThreeIsThePapersExample) {
  const Family udt = family_of(SplitKind::udt, 3, 5);
  EXPECT_EQ(udt, (Family{{{3, 4}, {1}}, {{0, 1, 2}, {}}}));
  EXPECT_EQ(residual_members(udt, 3), 0u);
  EXPECT_EQ(residual_members(family_of(SplitKind::star, 3, 5), 3), 2u);
}

TEST(SplitFamily, IsWhatTheQueueMakes) {
  for (std::uint64_t bound = 2; bound < 12; ++bound)
    for (EdgeIndex degree = 0; degree < 300; ++degree)
      ASSERT_EQ(family_of(SplitKind::udt, bound, degree), by_queue(bound, degree))
          << degree << " edges, K " << bound;
}

TEST(SplitFamily, HasEveryEdgeOnceAndReachesAllMembers) {
  for (const SplitKind kind : kinds)
    for (const std::uint64_t bound : {2u, 3u, 7u, 64u})
      for (EdgeIndex degree = 0; degree < 200; ++degree) {
        const Family               family = family_of(kind, bound, degree);
        std::vector<std::uint64_t> edges;
        for (std::uint64_t k = 0; k < family.size(); ++k)
          std::ranges::copy(family[SplitFamily::member_at(kind, k, family.size() - 1)].edges,
                            std::back_inserter(edges));
        ASSERT_EQ(edges.size(), degree);
        ASSERT_TRUE(std::ranges::is_sorted(edges)) << "members' edges, one after the other, are the vertex's own";
        const Ways ways = ways_in(family);
        for (std::size_t member = 0; member < family.size(); ++member) {
          ASSERT_GE(ways.count[member], 1u);
          ASSERT_LE(ways.hops[member], SplitFamily::most_hops(kind, bound, family.size() - 1));
          // P2 of the paper: one way, so that what is counted along it is counted once.
          if (kind != SplitKind::clique) {
            ASSERT_EQ(ways.count[member], 1u);
          }
        }
      }
}

TEST(SplitFamily, OfATreeIsUniform) {
  for (std::uint64_t bound = 2; bound < 12; ++bound)
    for (EdgeIndex degree = bound + 1; degree < 400; ++degree) {
      const Family family = family_of(SplitKind::udt, bound, degree);
      EXPECT_LE(largest(family), bound);
      EXPECT_LE(residual_members(family, bound), 1u);
      EXPECT_EQ(family.size() - 1, (degree - bound + bound - 2) / (bound - 1));
      const double height =
          std::ceil(std::log(static_cast<double>(degree)) / std::log(static_cast<double>(bound))) + 1;
      EXPECT_LE(static_cast<double>(std::ranges::max(ways_in(family).hops)), height);
    }
}

/// Of a clique, no arcs lead back to the root: all that enters a family enters it there.
TEST(SplitFamily, HasTheSizesOfTable1) {
  for (const std::uint64_t bound : {2u, 5u, 10u})
    for (EdgeIndex degree = bound + 1; degree < 200; ++degree) {
      const std::uint64_t parts    = (degree + bound - 1) / bound;
      const Family        star     = family_of(SplitKind::star, bound, degree);
      const Family        circular = family_of(SplitKind::circular, bound, degree);
      const Family        clique   = family_of(SplitKind::clique, bound, degree);
      EXPECT_EQ(star.size() - 1, parts);
      EXPECT_EQ(tree_arcs(star), parts);
      EXPECT_EQ(largest(star), std::max(bound, parts));
      EXPECT_EQ(std::ranges::max(ways_in(star).hops), 1u);
      EXPECT_EQ(circular.size() - 1, parts - 1);
      EXPECT_EQ(tree_arcs(circular), parts - 1);
      EXPECT_EQ(largest(circular), bound + 1);
      EXPECT_EQ(std::ranges::max(ways_in(circular).hops), parts - 1);
      EXPECT_EQ(clique.size() - 1, parts - 1);
      EXPECT_EQ(tree_arcs(clique), (parts - 1) * parts - (parts - 1));
      EXPECT_EQ(largest(clique), bound + parts - 1);
      EXPECT_EQ(std::ranges::max(ways_in(clique).hops), 1u);
    }
}

void expect_same_rows(const Csr& a, const Csr& b, const std::string& what) {
  EXPECT_TRUE(std::ranges::equal(a.offsets, b.offsets)) << what;
  EXPECT_TRUE(std::ranges::equal(a.targets, b.targets)) << what;
  EXPECT_TRUE(std::ranges::equal(a.weights, b.weights)) << what;
}

void expect_split(const Graph& graph, const SplitForm& form, const std::string& member) {
  const std::string what  = member + ", " + text_of(form);
  const Graph       split = spillway::split(graph, form, 3);
  const SplitRows&  rows  = *split.split();
  EXPECT_EQ(split.vertex_count(), graph.vertex_count()) << what;
  EXPECT_EQ(split.arc_count(), graph.arc_count()) << what;
  expect_same_rows(split.out(), graph.out(), what);
  expect_same_rows(without_split(split, 2).out(), graph.out(), what);
  // Corollary 4: the other side's degrees stay.
  const Csr& other = form.in_edges ? rows.out() : rows.in();
  const Csr& given = form.in_edges ? graph.out() : graph.in();
  for (Vertex v = 0; v < graph.vertex_count(); ++v) ASSERT_EQ(other.degree(v), given.degree(v)) << what;
  if (form.kind == SplitKind::udt) {
    EXPECT_LE(largest_degree(form.in_edges ? rows.in() : rows.out()), form.degree_bound) << what;
  }
  const Buffer<Vertex> hops = rows.hops(2);
  for (std::uint64_t v = 0; v < rows.vertex_count(); ++v) {
    EXPECT_EQ(hops[v] == 0, v < graph.vertex_count()) << what;
    EXPECT_LE(hops[v], rows.most_hops()) << what;
  }
}

TEST(Split, OfTheZooAndOfRandomGraphsComesBack) {
  std::vector<SplitForm> forms;
  for (const SplitKind kind : kinds)
    for (const std::uint64_t bound : {2u, 5u})
      for (const bool in : {false, true}) forms.push_back({kind, bound, in});
  std::size_t turn     = 0;
  const auto  try_some = [&](const Graph& graph, const std::string& what) {
    for (int i = 0; i < 3; ++i) {
      const SplitForm& form = forms[turn++ % forms.size()];
      // A clique of many parts is as many times as large.
      if (form.kind != SplitKind::clique || graph.arc_count() < 2000) expect_split(graph, form, what);
    }
  };
  for (const auto& member : zoo()) try_some(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    try_some(random_graph(seed), "random graph " + std::to_string(seed));
}

TEST(Split, WithABoundThatNoVertexExceedsChangesNothing) {
  const Graph      graph = generate("kron", {{"scale", "8"}}, {});
  const SplitRows& rows  = *split(graph, {SplitKind::udt, largest_degree(graph.out())}).split();
  EXPECT_EQ(rows.tree_vertices(), 0u);
  expect_same_rows(rows.out(), graph.out(), "kron");
}

TEST(Split, ChoosesTheBoundAsThePaperDoes) {
  // Table 3.
  EXPECT_EQ(default_degree_bound(8'800), 500u);
  EXPECT_EQ(default_degree_bound(15'000), 1'000u);
  EXPECT_EQ(default_degree_bound(11'000), 1'000u);
  EXPECT_EQ(default_degree_bound(33'000), 1'000u);
  EXPECT_EQ(default_degree_bound(278'000), 10'000u);
  EXPECT_EQ(default_degree_bound(698'000), 10'000u);
  EXPECT_EQ(split(generate("star", {{"vertices", "2000"}}, {}), {}).split()->form().degree_bound, 500u);
}

TEST(Split, TransformedHasIdsBehindTheLast) {
  const std::vector<Vertex>      sources(7, 0);
  const std::vector<Vertex>      targets{0, 1, 1, 2, 2, 2, 1};
  const std::vector<std::string> names{"ada", "bo", "cy"};
  Graph::Parts                   parts;
  parts.out           = from_arcs(sources, targets).out();
  parts.ids           = IdMap::numbers(Array<std::uint64_t>::own({5, 7, 100}));
  const Graph numbers = transformed(split(Graph{parts}, {SplitKind::udt, 3}));
  ASSERT_EQ(numbers.vertex_count(), 5u);
  EXPECT_EQ(numbers.ids().name(3), "101");
  EXPECT_EQ(numbers.ids().name(4), "102");
  std::vector<std::uint64_t> ends;
  std::string                bytes;
  for (const std::string& name : names) bytes += name, ends.push_back(bytes.size());
  parts.ids         = IdMap::strings(Array<std::uint64_t>::own(ends),
                                     Array<char>::own(std::vector<char>(bytes.begin(), bytes.end())));
  const Graph named = transformed(split(Graph{parts}, {SplitKind::udt, 3}));
  EXPECT_EQ(named.ids().name(3), "cy~0");
  EXPECT_EQ(named.ids().name(4), "cy~1");
  EXPECT_TRUE(named.ids().valid_for(5));
  parts.ids = IdMap::numbers(Array<std::uint64_t>::own({5, 7, UINT64_MAX - 1}));
  EXPECT_EQ(
      complaint([&] {
        transformed(split(Graph{parts}, {SplitKind::udt, 3}));
      }),
      "the largest vertex id is 18446744073709551614: no 2 larger ones are left for what vertices are split into");
}

TEST(Split, RefusesWhatCannotBe) {
  const Graph star = generate("star", {{"vertices", "100"}}, {});
  EXPECT_EQ(complaint([&] {
              split(star, {SplitKind::udt, 1});
            }),
            "a split into vertices of one edge never ends; K must be 2 or more");
  EXPECT_NE(complaint([&] {
              split(split(star, {SplitKind::udt, 4}), {SplitKind::udt, 3});
            }).find("split already (udt:4)"),
            std::string::npos);
}

TEST(Split, ReadsForms) {
  const auto text = [](const std::string& given) { return text_of(split_form(given)); };
  for (const char* form : {"udt:10", "udt", "star:2:in", "circular:in", "clique:4294967295"})
    EXPECT_EQ(text(form), form);
  for (const char* wrong :
       {"", "tree", "udt:", "udt:ten", "udt:10:out", "udt:10:in:in", "udt:-3", "udt 10", ":10", "none:3"})
    EXPECT_NE(complaint([&] { split_form(wrong); }).find("KIND[:K][:in] is expected"), std::string::npos) << wrong;
  for (const char* wrong : {"udt:0", "udt:1", "clique:1:in"})
    EXPECT_NE(complaint([&] { split_form(wrong); }).find("must be 2 or more"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace spillway
