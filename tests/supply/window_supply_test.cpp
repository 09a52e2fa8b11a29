// In which order a supply has windows sent and visited, whatever the device: one that only writes it down.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "supply/windows.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/method.hpp>

namespace spillway {
namespace {

/// Every row is active and has one edge.
class Notes final : public WindowDevice {
 public:
  explicit Notes(EdgeIndex edges) : edges_(edges) {}

  std::vector<std::string> taken() { return std::exchange(notes_, {}); }

 private:
  LayoutSize lay_out(std::size_t, bool, std::vector<PartAt>& parts) override {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const EdgeIndex at = std::min<EdgeIndex>(i * 16, edges_);
      parts[i]           = {at, at};
    }
    return {edges_, edges_};
  }
  ChunkLayout  chunks(std::uint64_t, std::uint64_t) override { return {}; }
  void         reuse(std::size_t) override {}
  EdgePointers stage(std::size_t, EdgeIndex) override { return {}; }
  void         send_staged(std::size_t, EdgeIndex, EdgeIndex) override {}
  void         send(std::size_t slot, const WindowSide&, std::size_t part) override {
    notes_.push_back("part " + std::to_string(part) + " to " + std::to_string(slot));
  }
  void visit(std::size_t slot, const WindowAt& window) override {
    const std::string where = slot == resident ? "kept" : std::to_string(slot);
    notes_.push_back("visit " + where + (window.local ? " locally" : "") + (window.again ? " again" : ""));
  }

  EdgeIndex                edges_;
  std::vector<std::string> notes_;
};

class OrderOfWindows : public ::testing::Test {
 protected:
  static std::vector<std::string> iteration(Async async) {
    constexpr EdgeIndex edges = 64, window = 16;
    RunOptions          options{.method = method_named("partitions")};
    options.supply = {.resident = 1000, .async = async, .window = window * sizeof(Vertex)};
    const WindowNeeds       needs{.local = true};
    const auto              budget = std::make_shared<MemoryBudget>(std::uint64_t{1} << 20);
    const WindowSizes       sizes  = WindowSizes::of(1u << 20, edges, edges, needs, options);
    std::vector<WindowSide> sides{{.host = {}, .arcs = edges, .part_edges = window, .resident = 1}};
    WindowSupply            supply{std::move(sides), sizes, needs, options, budget};
    Notes                   device{edges};
    supply.supply(device);
    return device.taken();
  }
};

/// A part is sent to one slot while the other is visited. What stays is one window, which has its turn while the
/// first part is on its way, and another when all were there.
TEST_F(OrderOfWindows, LeavesASlotToTheNextOne) {
  const std::vector<std::string> expected{"part 1 to 0",     "visit kept locally",      "visit 0 locally",
                                          "part 2 to 1",     "visit 1 locally",         "part 3 to 0",
                                          "visit 0 locally", "visit kept locally again"};
  EXPECT_EQ(iteration(Async::on), expected);
}

TEST_F(OrderOfWindows, HasThreeSlotsInStep) {
  const std::vector<std::string> expected{"part 1 to 0", "visit kept",  "visit 0", "part 2 to 1",
                                          "visit 1",     "part 3 to 2", "visit 2"};
  EXPECT_EQ(iteration(Async::off), expected);
}

/// One row is active, and has one edge.
class OneRow final : public WindowDevice {
 public:
  static constexpr EdgeIndex edges = 64, part_edges = 16;

  OneRow() { std::iota(offsets_.begin(), offsets_.end(), EdgeIndex{0}); }

  Rows host() const { return {offsets_.data(), targets_.data(), nullptr}; }

 private:
  static constexpr Vertex active = 20;

  LayoutSize lay_out(std::size_t, bool, std::vector<PartAt>& parts) override {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = {i * part_edges > active, i * part_edges > active};
    return {1, 1};
  }
  ChunkLayout  chunks(std::uint64_t, std::uint64_t) override { return {&entry_, starts_.data(), 1, 256}; }
  void         reuse(std::size_t) override {}
  EdgePointers stage(std::size_t, EdgeIndex) override { return {staged_.data(), nullptr}; }
  void         send_staged(std::size_t, EdgeIndex, EdgeIndex) override {}
  void         send(std::size_t, const WindowSide&, std::size_t) override {}
  void         visit(std::size_t, const WindowAt&) override {}

  std::array<EdgeIndex, edges + 1> offsets_{};
  std::array<Vertex, edges>        targets_{};
  ChunkDescriptor                  entry_{active, 0};
  std::array<EdgeIndex, 2>         starts_{0, 1};
  std::array<Vertex, part_edges>   staged_{};
};

/// Gathering 20 ms at a time against 84 ms for the part: whoever would gather for the fifth time has it sent.
TEST_F(OrderOfWindows, SendsWholePartsAfterMuchGathering) {
  RunOptions options{.method = method_named("subgraph")};
  options.supply = {.resident = 0, .async = Async::on, .window = OneRow::part_edges * sizeof(Vertex)};
  options.supply.rates =
      Rates{.sent = 1e3, .gathered = 1e9, .gathered_chunks = 1e9, .read = 1e9, .read_chunks = 1e9, .step = 20e-3};
  const WindowNeeds        needs{.local = true};
  OneRow                   device;
  std::vector<WindowSide>  sides{{.host = device.host(), .arcs = OneRow::edges, .part_edges = OneRow::part_edges}};
  const WindowSizes        sizes = WindowSizes::of(1u << 20, OneRow::edges, OneRow::edges, needs, options);
  WindowSupply             supply{std::move(sides), sizes, needs, options,
                      std::make_shared<MemoryBudget>(std::uint64_t{1} << 20)};
  std::vector<std::string> ways;
  for (int i = 0; i < 7; ++i) ways.emplace_back(supply.supply(device).how);
  EXPECT_EQ(ways,
            (std::vector<std::string>{"whole", "gathered", "gathered", "gathered", "gathered", "whole", "kept"}));
}

/// Asynchronously large windows get further, so half of the room is theirs; but none of it where all edges stay.
TEST(WindowSizes, ShareOutTheRoom) {
  constexpr EdgeIndex arcs = 100'000'000;
  const WindowNeeds   needs{.local = true};
  RunOptions          options{.method = method_named("subgraph")};
  options.supply.async         = Async::on;
  constexpr std::uint64_t room = 200'000'000;
  const WindowSizes       some = WindowSizes::of(room, arcs, 1000, needs, options);
  EXPECT_TRUE(some.local);
  EXPECT_EQ(some.slots, 2u);
  EXPECT_EQ(some.slot_edges * sizeof(Vertex), room / 4);
  EXPECT_EQ(some.left, room / 2);
  EXPECT_EQ(some.resident_edges(arcs, some.left, needs), 2 * some.slot_edges);
  const WindowSizes all = WindowSizes::of(3 * room, arcs, 1000, needs, options);
  EXPECT_EQ(all.resident_edges(arcs, all.left, needs), arcs);
}

}  // namespace
}  // namespace spillway
