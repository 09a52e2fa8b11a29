#include "plan/page_pricing.hpp"

#include <gtest/gtest.h>

namespace spillway {
namespace {

PlanCandidate priced(const RunFacts& run, const PagedFacts& pages, bool on_cpu) {
  for (const PlanCandidate& each : priced_pages(run, Rates{}, pages, "cuda:0"))
    if (each.on_cpu() == on_cpu) return each;
  return {};
}

RunFacts facts_of(const RunOptions& options, std::uint64_t vertices, std::uint64_t arcs) {
  return {.options = options, .vertices = vertices, .arcs = arcs, .all_active = true, .max_iterations = 10};
}

TEST(PagePricing, SmallGraphsAreForTheCpu) {
  const RunOptions options;
  const PagedFacts pages{.bytes = 2e6, .host_kept = 2e6, .starts_gpu = true};
  EXPECT_EQ(priced_pages(facts_of(options, 100'000, 1'000'000), Rates{}, pages, "cuda:0").front().device, "cpu");
}

TEST(PagePricing, LargeOnesAreForTheGpu) {
  const RunOptions options;
  const PagedFacts pages{.bytes = 1e9, .host_kept = 1e9, .starts_gpu = true};
  const auto       all = priced_pages(facts_of(options, 1 << 24, 520'000'000), Rates{}, pages, "cuda:0");
  EXPECT_EQ(all.front().device, "cuda:0");
  EXPECT_EQ(all.front().method, pages_from_disk());
  EXPECT_LT(all.front().total_ms, all.back().total_ms);
}

TEST(PagePricing, WhatStaysIsNotSentAgain) {
  const RunOptions options;
  const RunFacts   run = facts_of(options, 1 << 24, 520'000'000);
  PagedFacts       pages{.bytes = 1e9, .host_kept = 1e9};
  const auto       sent = priced(run, pages, false);
  pages.device_kept     = 0.5e9;
  const auto half       = priced(run, pages, false);
  EXPECT_NEAR(static_cast<double>(half.bus_bytes), static_cast<double>(sent.bus_bytes) / 2, 1e6);
  EXPECT_LT(half.run_ms, sent.run_ms);
  pages.host_kept = 0;  // every pass waits for the disk, and so does the CPU's
  EXPECT_GT(priced(run, pages, false).run_ms, 10 * 1e3 * 1e9 / 3e9);
  EXPECT_GT(priced(run, pages, true).run_ms, 10 * 1e3 * 1e9 / 3e9);
}

/// Reading in place needs all pages before, and then moves what is active.
TEST(PagePricing, InPlaceIsPreparedFor) {
  const RunOptions options;
  RunFacts         run = facts_of(options, 1 << 24, 520'000'000);
  run.all_active = false, run.voting = true;
  PagedFacts pages{.bytes = 1e9, .host_kept = 1e9};
  const auto sent = priced(run, pages, false);
  pages.in_place  = true;
  const auto read = priced(run, pages, false);
  EXPECT_GT(read.prepare_ms, 300);
  EXPECT_LT(read.run_ms, sent.run_ms);
}

}  // namespace
}  // namespace spillway
