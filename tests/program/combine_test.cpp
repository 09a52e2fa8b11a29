// The combine operators by themselves: identities, what counts as a change, and two threads at one slot.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <spillway/combine.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr int rounds = 20'000;

/// A type of a program's own: the pair that is smaller by its first part.
struct alignas(8) Pair {
  std::uint32_t key, other;

  bool operator<(const Pair& right) const { return key < right.key; }

  static constexpr Pair highest() { return {0xFFFFFFFFu, 0}; }
  static constexpr Pair lowest() { return {0, 0}; }
};

TEST(Combine, IdentitiesChangeNothing) {
  EXPECT_EQ(Min<std::uint32_t>::identity(), 0xFFFFFFFFu);
  EXPECT_EQ(Min<float>::identity(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Min<std::int64_t>::identity(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Max<double>::identity(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Max<std::int32_t>::identity(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(Min<Pair>::identity().key, 0xFFFFFFFFu);
  EXPECT_EQ(Max<Pair>::identity().key, 0u);
  EXPECT_EQ(Sum<double>::identity(), 0);
  EXPECT_EQ(Or<std::uint64_t>::identity(), 0u);
  EXPECT_EQ((Sum<std::array<float, 2>>::identity()), (std::array<float, 2>{}));
  for (const std::uint32_t value : {0u, 1u, 77u, 0xFFFFFFFFu}) {
    EXPECT_EQ(Min<std::uint32_t>::combine(Min<std::uint32_t>::identity(), value), value);
    EXPECT_EQ(Max<std::uint32_t>::combine(Max<std::uint32_t>::identity(), value), value);
    EXPECT_EQ(Sum<std::uint32_t>::combine(Sum<std::uint32_t>::identity(), value), value);
    EXPECT_EQ(Or<std::uint32_t>::combine(Or<std::uint32_t>::identity(), value), value);
  }
}

TEST(Combine, MakesOneOfTwo) {
  EXPECT_EQ(Min<int>::combine(3, -2), -2);
  EXPECT_EQ(Max<int>::combine(3, -2), 3);
  EXPECT_EQ(Sum<int>::combine(3, -2), 1);
  EXPECT_EQ(Or<std::uint32_t>::combine(5, 6), 7u);
  EXPECT_EQ((Sum<std::array<int, 2>>::combine<std::array<int, 2>>({1, 2}, {10, 20})), (std::array{11, 22}));
  EXPECT_EQ((Or<std::array<std::uint32_t, 2>>::combine({1, 2}, {2, 2})), (std::array{3u, 2u}));
  EXPECT_EQ(Min<Pair>::combine({4, 1}, {4, 2}).other, 1u) << "of equal ones the first stays";
}

template <class C, class T>
void expect_improvements(T slot, const T& better, const T& worse) {
  T atomic = slot;
  EXPECT_TRUE(C::improve(slot, better));
  EXPECT_FALSE(C::improve(slot, better)) << "it is there already";
  EXPECT_FALSE(C::improve(slot, worse));
  EXPECT_TRUE(C::improve_atomically(atomic, better));
  EXPECT_FALSE(C::improve_atomically(atomic, better));
  EXPECT_FALSE(C::improve_atomically(atomic, worse));
  EXPECT_EQ(std::memcmp(&slot, &atomic, sizeof(T)), 0);
}

TEST(Combine, SaysWhetherItChangedAnything) {
  expect_improvements<Min<std::uint32_t>>(9u, 3u, 5u);
  expect_improvements<Min<float>>(1e9f, -1.5f, 0.0f);
  expect_improvements<Max<std::int64_t>>(std::int64_t{-9}, std::int64_t{3}, std::int64_t{1});
  expect_improvements<Max<double>>(0.5, 2.5, 1.0);
  expect_improvements<Min<Pair>>(Pair{9, 1}, Pair{3, 2}, Pair{3, 7});
  expect_improvements<Or<std::uint64_t>>(std::uint64_t{4}, std::uint64_t{3}, std::uint64_t{6});
  using Words = std::array<std::uint64_t, 2>;
  expect_improvements<Or<Words>>(Words{1, 0}, Words{1, 8}, Words{1, 8});
}

/// Both threads offer every number once, the better ones later; each can be taken by one of them at most.
template <class C>
void expect_each_taken_once(typename C::Type slot, auto&& offer) {
  std::atomic<int> taken{0};
  on_threads(2, [&](int) {
    for (int i = 1; i <= rounds; ++i) taken += C::improve_atomically(slot, offer(i));
  });
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, rounds);
  const auto last = offer(rounds);
  EXPECT_EQ(std::memcmp(&slot, &last, sizeof(slot)), 0);
}

TEST(Combine, TwoThreadsImproveOneSlot) {
  expect_each_taken_once<Min<std::uint32_t>>(~0u, [](int i) { return static_cast<std::uint32_t>(rounds - i); });
  expect_each_taken_once<Max<float>>(-1, [](int i) { return static_cast<float>(i); });
  expect_each_taken_once<Max<double>>(-1, [](int i) { return static_cast<double>(i) / 3; });
  expect_each_taken_once<Min<Pair>>(Pair{~0u, 0}, [](int i) {
    return Pair{static_cast<std::uint32_t>(rounds - i), static_cast<std::uint32_t>(i)};
  });
}

TEST(Combine, TwoThreadsAddToOneSlot) {
  std::uint32_t           number = 0;
  double                  real   = 0;
  std::array<double, 3>   reals{};
  std::array<unsigned, 2> numbers{};
  on_threads(2, [&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      Sum<std::uint32_t>::combine_atomically(number, 3);
      Sum<double>::combine_atomically(real, 0.5);
      Sum<std::array<float, 3>>::combine_atomically(reals, {1, 2, static_cast<float>(thread)});
      Sum<std::array<unsigned, 2>>::combine_atomically(numbers, {1, thread == 0 ? 7u : 0u});
    }
  });
  EXPECT_EQ(number, 6u * rounds);
  EXPECT_EQ(real, 1.0 * rounds);
  EXPECT_EQ(reals, (std::array<double, 3>{2.0 * rounds, 4.0 * rounds, 1.0 * rounds}));
  EXPECT_EQ(numbers, (std::array<unsigned, 2>{2u * rounds, 7u * rounds}));
}

TEST(Large, CountsBeyondEveryFloatingType) {
  Large count{1.0};
  for (int i = 0; i < 5000; ++i) count = count + count;
  EXPECT_EQ(static_cast<double>(count), std::numeric_limits<double>::infinity());
  Large three_times = count + count + count;
  EXPECT_EQ(static_cast<double>(three_times / count), 3.0);
  EXPECT_EQ(static_cast<double>(count / three_times * Large{3.0}), 1.0);
  EXPECT_EQ(static_cast<double>(Large{1.0} / count), 0.0);
  EXPECT_EQ(static_cast<double>(Large{1.0} / count * count), 1.0);
  EXPECT_EQ(count + Large{1.0}, count);
}

TEST(Large, AgreesWithDoublesToTwelveDigits) {
  constexpr double                       three_roundings = 3 * 0x1p-41;
  std::mt19937_64                        random{7};
  std::uniform_real_distribution<double> power{-40, 40};
  for (int i = 0; i < 20'000; ++i) {
    const double a = std::exp2(power(random)), b = std::exp2(power(random));
    EXPECT_NEAR(static_cast<double>(Large{a} + Large{b}) / (a + b), 1, three_roundings);
    EXPECT_NEAR(static_cast<double>(Large{a} * Large{b}) / (a * b), 1, three_roundings);
    EXPECT_NEAR(static_cast<double>(Large{a} / Large{b}) / (a / b), 1, three_roundings);
    EXPECT_EQ(Large{a} < Large{b}, a < b);
  }
  EXPECT_EQ(Large{0.75} + Large{0.25}, Large{1.0});
  EXPECT_EQ(Large{1.0} + Large{0x1p-41}, Large{1.0 + 0x1p-40}) << "half of the last digit rounds up";
  EXPECT_EQ(Large{1.0} + Large{0x1p-42}, Large{1.0});
  EXPECT_EQ(Large{2 - 0x1p-41}, Large{2.0});
}

TEST(Large, StopsAtItsEnds) {
  EXPECT_EQ(Large{0.0} + Large{0.0}, Large{});
  EXPECT_EQ(Large{0.0} * Large{5.0}, Large{});
  EXPECT_EQ(Large{5.0} / Large{0.0}, Large::highest());
  EXPECT_EQ(Large{std::numeric_limits<double>::infinity()}, Large::highest());
  Large up{2.0}, down{0.5};
  for (int i = 0; i < 40; ++i) up = up * up, down = down * down;
  EXPECT_EQ(up, Large::highest());
  EXPECT_EQ(up + up, Large::highest());
  EXPECT_EQ(down, Large{});
  for (const double none : {-0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) EXPECT_EQ(Large{none}, Large{});
}

TEST(Combine, TwoThreadsAddLargeNumbers) {
  Large slot = Sum<Large>::identity();
  on_threads(2, [&](int) {
    for (int i = 0; i < rounds; ++i) Sum<Large>::combine_atomically(slot, Large{3.0});
  });
  EXPECT_EQ(static_cast<double>(slot), 6.0 * rounds);
}

/// Both threads offer every bit; one of them is told that it set it.
TEST(Combine, TwoThreadsSetEveryBitOnce) {
  using Words = std::array<std::uint64_t, 4>;
  for (int round = 0; round < 50; ++round) {
    Words            words{};
    std::atomic<int> changes{0};
    on_threads(2, [&](int) {
      for (std::size_t i = 0; i < 256; ++i) {
        Words bit{};
        bit[i / 64] = std::uint64_t{1} << (i % 64);
        changes += Or<Words>::improve_atomically(words, bit);
      }
    });
    EXPECT_EQ(changes, 256);
    for (const std::uint64_t word : words) EXPECT_EQ(word, ~std::uint64_t{0});
  }
}

}  // namespace
}  // namespace spillway
