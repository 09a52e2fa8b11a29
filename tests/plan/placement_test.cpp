// Where edges are put, on machines that are made up: a table of programs, graphs and machines.
#include <gtest/gtest.h>

#include "plan/placement.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t GB = 1'000'000'000;

enum class Kind { votes, ranks, buckets, improves };

struct Machine {
  std::uint64_t memory = 4 * GB;
  double        read   = 50e9;  ///< of the bus
};

/// A graph of degree 32 with edges of 4 GB, half of which the machine has room for, unless it is said.
struct Case {
  const char* what;
  Kind        kind;
  Machine     machine;
  const char* method;
  bool        compressed;
  const char* reason;  ///< a part of it

  std::uint64_t                vertices = 31'250'000, arcs = GB;
  double                       passes = 1, so_far = 0;
  std::optional<std::uint64_t> resident  = {};
  Direction                    direction = Direction::automatic;
  RowForm                      form      = RowForm::any;
};

Placement chosen(const Case& one, bool* asked_for_rates = nullptr) {
  RunOptions options;
  options.supply.resident      = one.resident;
  options.direction            = one.direction;
  const std::uint64_t    state = one.vertices * 40;
  const PlacementRequest request{.options          = options,
                                 .vertices         = one.vertices,
                                 .arcs             = one.arcs,
                                 .all_active       = one.kind == Kind::ranks,
                                 .voting           = one.kind == Kind::votes,
                                 .prioritised      = one.kind == Kind::buckets,
                                 .improving        = one.kind == Kind::buckets || one.kind == Kind::improves,
                                 .form             = one.form,
                                 .passes           = one.passes,
                                 .state            = state,
                                 .state_in_windows = state};
  const std::uint64_t    rows = one.arcs * sizeof(Vertex) + (one.vertices + 1) * sizeof(EdgeIndex);
  const PlacementDevice  device{.name          = "made up",
                                .room          = one.machine.memory,
                                .holds_all     = rows + state <= one.machine.memory,
                                .passes_so_far = one.so_far,
                                .rates         = [&] {
                                 if (asked_for_rates) *asked_for_rates = true;
                                 Rates rates;
                                 rates.read = one.machine.read;
                                 return rates;
                               }};
  return chosen_placement(request, device);
}

const Case cases[] = {
    {"a large GPU", Kind::votes, {.memory = 140 * GB}, "frontier", false, "all edges fit"},
    {"ranks on it", Kind::ranks, {.memory = 140 * GB}, "frontier", false, "all edges fit", 31'250'000, GB, 30},
    {"votes", Kind::votes, {}, "zerocopy", false, "one edge decides"},
    {"buckets", Kind::buckets, {}, "zerocopy", false, "many small iterations"},
    {"ranks, few iterations", Kind::ranks, {}, "partitions", false, "whole partitions", 31'250'000, GB, 5},
    {"ranks, many",
     Kind::ranks,
     {},
     "partitions",
     true,
     "whole partitions are transferred, compressed",
     31'250'000,
     GB,
     30},
    {"ranks, again and again", Kind::ranks, {}, "partitions", true, "compressed", 31'250'000, GB, 5, 25},
    {"ranks over a fast bus",
     Kind::ranks,
     {.read = 450e9},
     "partitions",
     false,
     "pays after some 214",
     31'250'000,
     GB,
     30},
    {"ranks, a slow bus", Kind::ranks, {.read = 6e9}, "partitions", true, "compressed", 31'250'000, GB, 5},
    {"a dense graph that improves", Kind::improves, {}, "mixed", false, "most edges are active once or twice"},
    {"a road",
     Kind::improves,
     {.memory = 17 * GB},
     "zerocopy",
     false,
     "cached row prefixes spare",
     250'000'000,
     6 * GB / 4},
    {"a road, nothing resident",
     Kind::improves,
     {.memory = 17 * GB},
     "mixed",
     false,
     "least predicted",
     250'000'000,
     6 * GB / 4,
     2,
     0,
     0},
    {"a small GPU", Kind::improves, {.memory = 1300'000'000}, "zerocopy", false, "transfer buffers"},
    {"a pull that was asked for",
     Kind::improves,
     {},
     "zerocopy",
     false,
     "would be pushed",
     31'250'000,
     GB,
     1,
     0,
     {},
     Direction::pull},
    {"rows that are looked up in",
     Kind::improves,
     {},
     "zerocopy",
     false,
     "not enough GPU memory",
     31'250'000,
     GB,
     9,
     0,
     {},
     Direction::automatic,
     RowForm::whole},
};

TEST(Placement, IsAFunctionOfTheFacts) {
  for (const Case& one : cases) {
    const Placement placement = chosen(one);
    EXPECT_EQ(placement.method->name, one.method) << one.what;
    EXPECT_EQ(placement.compressed, one.compressed) << one.what;
    std::string why;
    for (const std::string& reason : placement.why) why += reason + "; ";
    EXPECT_NE(why.find(one.reason), std::string::npos) << one.what << ": " << why;
  }
}

TEST(Placement, MeasuresNothingWhereNothingIsLeftToChoose) {
  for (const Case& one : cases) {
    bool asked = false;
    chosen(one, &asked);
    const bool fits = std::string_view{one.method} == "frontier";
    EXPECT_EQ(asked, !fits && one.form == RowForm::any) << one.what;
  }
}

TEST(Placement, IsWhatWasAskedFor) {
  RunOptions options;
  options.method = method_named("subgraph");
  const PlacementRequest request{.options = options, .vertices = 10, .arcs = 100};
  const PlacementDevice  device{.name = "made up", .room = GB, .holds_all = true, .rates = [] { return Rates{}; }};
  EXPECT_EQ(chosen_placement(request, device).method->name, "subgraph");
  const Plan plan = planned_placement(request, device);
  EXPECT_EQ(plan.device, "made up");
  EXPECT_EQ(plan.method, "subgraph");
  EXPECT_EQ(plan.edge_bytes, 400u);
}

}  // namespace
}  // namespace spillway
