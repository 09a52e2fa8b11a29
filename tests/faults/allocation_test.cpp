// The n-th allocation fails, n = 1, 2, … to the end: those of operator new and the large ones behind Pages, by
// functions of this executable that the library is linked to instead of the system's; and budgets of every size.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "faults/cases.hpp"

namespace {

constinit std::atomic<bool>          counting = false;
constinit std::atomic<std::uint64_t> made = 0, failing = 0;
constinit std::atomic<std::int64_t>  live = 0;  ///< of operator new, made less given back, while counting

bool has_to_fail() noexcept { return counting.load(std::memory_order_relaxed) && ++made == failing; }

void* system_memory(std::size_t bytes, std::size_t alignment) noexcept {
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(bytes > 0 ? bytes : 1);
  void* data = nullptr;
  return posix_memalign(&data, alignment, bytes) == 0 ? data : nullptr;
}

void* taken(std::size_t bytes, std::size_t alignment = 1) noexcept {
  void* const data = has_to_fail() ? nullptr : system_memory(bytes, alignment);
  if (data && counting.load(std::memory_order_relaxed)) ++live;
  return data;
}

void* taken_or_thrown(std::size_t bytes, std::size_t alignment = 1) {
  void* const data = taken(bytes, alignment);
  if (!data) throw std::bad_alloc{};
  return data;
}

void give(void* data) noexcept {
  if (data && counting.load(std::memory_order_relaxed)) --live;
  std::free(data);
}

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// clang-format off
void* operator new(std::size_t bytes) { return taken_or_thrown(bytes); }
void* operator new[](std::size_t bytes) { return taken_or_thrown(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) { return taken_or_thrown(bytes, number(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return taken_or_thrown(bytes, number(a)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return taken(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return taken(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept { return taken(bytes, number(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept { return taken(bytes, number(a)); }
void operator delete(void* data) noexcept { give(data); }
void operator delete[](void* data) noexcept { give(data); }
void operator delete(void* data, std::size_t) noexcept { give(data); }
void operator delete[](void* data, std::size_t) noexcept { give(data); }
void operator delete(void* data, std::align_val_t) noexcept { give(data); }
void operator delete[](void* data, std::align_val_t) noexcept { give(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { give(data); }
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { give(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { give(data); }
void operator delete[](void* data, const std::nothrow_t&) noexcept { give(data); }
void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept { give(data); }
void operator delete[](void* data, std::align_val_t, const std::nothrow_t&) noexcept { give(data); }
// clang-format on

/// What Pages are made of where they are small; larger ones than the small graph's come from mmap.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (!has_to_fail()) return system_memory(bytes, alignment);
  errno = ENOMEM;
  return nullptr;
}

namespace spillway {
namespace {

/// Until its end, allocations are counted, and the n-th fails.
class Fault {
 public:
  explicit Fault(std::uint64_t n) {
    made = 0, failing = n, live = 0;
    counting = true;
  }
  Fault(const Fault&)            = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { counting = false; }
};

class FailingAllocation : public ::testing::TestWithParam<std::string> {};

TEST_P(FailingAllocation, EndsTheRunAndNothingElse) {
  constexpr std::uint64_t each = 50;
  for (const testing::Case& one : testing::cases_of(GetParam(), testing::methods_on_cpu)) {
    const std::uint64_t left   = testing::left_on_graph(one);
    std::uint64_t       errors = 0;
    testing::Numbers    numbers{each, one.name};
    for (bool failed = true; failed && !HasFailure();) {
      const std::uint64_t n      = numbers.next();
      const std::string   when   = ", allocation " + std::to_string(n) + " failed";
      Graph               graph  = testing::unused_copy(testing::small_graph());
      testing::Ending     ending = testing::ending_of([&] {
        const Fault fault{n};
        return one.run(graph);
      });
      failed                     = made >= n;
      EXPECT_TRUE(ending.result || ending.code == ExitCode::does_not_fit)
          << one.name << when << ": " << ending.error;
      errors += ending.result ? 0 : 1;
      testing::expect_recovery(one, std::move(graph), std::move(ending), left, when);
    }
    EXPECT_GT(errors, 0u) << one.name << ": the library allocates elsewhere";
  }
}

/// Runs that fail while everything of theirs, and of the graph, is counted.
TEST_P(FailingAllocation, LeaksNothing) {
  constexpr std::uint64_t each = 10;
  for (const testing::Case& one : testing::cases_of(GetParam(), testing::methods_on_cpu)) {
    testing::Numbers numbers{each, one.name};
    testing::left_on_graph(one);  // what a process makes once is there
    for (bool failed = true; failed && !HasFailure();) {
      const std::uint64_t n = numbers.next();
      std::int64_t        kept;
      {
        const Fault fault{n};
        try {
          one.run(testing::unused_copy(testing::small_graph()));
        } catch (const std::exception&) {
        }
        kept = live;
      }
      failed = made >= n;
      EXPECT_EQ(kept, 0) << one.name << ", allocation " << n << " failed";
    }
  }
}

TEST_P(FailingAllocation, OfABudgetOfAnySizeEndsTheRun) {
  constexpr std::uint64_t page = 4096, each = 100;
  for (const testing::Case& one : testing::cases_of(GetParam(), testing::methods_on_cpu)) {
    testing::Numbers pages{each, one.name};
    for (bool fits = false; !fits && !HasFailure();) {
      const std::uint64_t                 limit  = pages.next() * page;
      const std::string                   when   = " in " + std::to_string(limit) + " bytes";
      std::optional<Graph>                graph  = testing::unused_copy(testing::small_graph(), limit);
      const std::shared_ptr<MemoryBudget> budget = graph->budget();
      testing::Ending                     ending = testing::ending_of([&] { return one.run(*graph); });
      fits                                       = ending.result.has_value();
      EXPECT_EQ(ending.code, fits ? ExitCode::done : ExitCode::does_not_fit) << one.name << when;
      EXPECT_EQ(ending.error.empty(), fits) << one.name << when;
      if (fits) testing::expect_right(one, *ending.result, when);
      ending = {}, graph.reset();
      EXPECT_LE(budget->peak(), limit) << one.name << when;
      EXPECT_EQ(budget->used(), 0u) << one.name << when;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, FailingAllocation, ::testing::ValuesIn(testing::algorithm_names()),
                         [](const auto& test) { return test.param; });

TEST(FailingMap, IsAnErrorAndCostsNothing) {
  const std::uint64_t bytes  = std::uint64_t{1} << 50;  // more addresses than there are
  const auto          budget = std::make_shared<MemoryBudget>(2 * bytes);
  try {
    const Pages pages{bytes, budget, "a trial"};
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::does_not_fit);
    EXPECT_NE(std::string{error.what()}.find("a trial"), std::string::npos) << error.what();
  }
  EXPECT_EQ(budget->used(), 0u);
}

}  // namespace
}  // namespace spillway
