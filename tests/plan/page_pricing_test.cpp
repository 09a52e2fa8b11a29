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
  const PagedFacts pages{.bytes = 4e4, .gpu = {.host_kept = 4e4}, .cpu = {.host_kept = 4e4}};
  EXPECT_EQ(priced_pages(facts_of(options, 2'000, 20'000), Rates{}, pages, "cuda:0").front().device, "cpu");
}

TEST(PagePricing, LargeOnesAreForTheGpu) {
  const RunOptions options;
  const PagedFacts pages{.bytes = 1e9, .gpu = {.host_kept = 1e9}, .cpu = {.host_kept = 1e9}};
  const auto       all = priced_pages(facts_of(options, 1 << 24, 520'000'000), Rates{}, pages, "cuda:0");
  EXPECT_EQ(all.front().device, "cuda:0");
  EXPECT_EQ(all.front().method, pages_from_disk());
  EXPECT_LT(all.front().total_ms, all.back().total_ms);
}

double run_seconds(const PlanCandidate& candidate) { return candidate.run_ms / 1e3; }

TEST(PagePricing, WhatStaysIsNotSentAgain) {
  const RunOptions options;
  const RunFacts   run = facts_of(options, 1 << 24, 520'000'000);
  PagedFacts       pages{.bytes = 1e9, .gpu = {.host_kept = 1e9}, .cpu = {.host_kept = 1e9}};
  const auto       sent = priced(run, pages, false);
  pages.device_kept     = 0.5e9;
  const auto half       = priced(run, pages, false);
  EXPECT_NEAR(static_cast<double>(half.bus_bytes), static_cast<double>(sent.bus_bytes) / 2, 1e6);
  EXPECT_LT(half.run_ms, sent.run_ms);
}

/// What neither keeps comes from disk in every pass, at 2.5 GB/s, and the two keep different pages.
TEST(PagePricing, WhatStaysIsNotReadAgain) {
  const RunOptions options;
  const RunFacts   run = facts_of(options, 1 << 24, 520'000'000);
  PagedFacts       pages{.bytes = 10e9};
  EXPECT_NEAR(run_seconds(priced(run, pages, false)), 10 * 4, 0.1);
  EXPECT_NEAR(run_seconds(priced(run, pages, true)), 10 * 4, 0.1);
  pages.device_kept = 5e9;
  EXPECT_NEAR(run_seconds(priced(run, pages, false)), 4 + 9 * 2, 0.1);
  EXPECT_NEAR(run_seconds(priced(run, pages, true)), 10 * 4, 0.1) << "which the CPU has nothing of";
  pages.gpu.host_kept = 2.5e9;
  EXPECT_NEAR(run_seconds(priced(run, pages, false)), 4 + 9 * 1, 0.1);
  pages.gpu.host_kept = 5e9;
  EXPECT_LT(run_seconds(priced(run, pages, false)), 4 + 9 * 0.2);
  pages.cpu.host_kept = 5e9;
  EXPECT_NEAR(run_seconds(priced(run, pages, true)), 4 + 9 * 2, 0.1);
}

/// Each chunk of the state is a pass: pages that stay are fresh in the first alone.
TEST(PagePricing, ChunksOfTheStateArePasses) {
  const RunOptions options;
  const RunFacts   run = facts_of(options, 1 << 24, 520'000'000);
  const PagedWay   four{.host_kept = 5e9, .passes = 4};
  const PagedFacts pages{.bytes = 10e9, .gpu = four, .cpu = four};
  for (const bool on_cpu : {false, true})
    EXPECT_NEAR(run_seconds(priced(run, pages, on_cpu)), 4 + 39 * 2, 0.1) << on_cpu;
  PagedFacts state     = pages;
  state.cpu.state_each = 2.5e9;
  EXPECT_NEAR(run_seconds(priced(run, state, true)), 4 + 39 * 2 + 40, 0.1) << "of its state, from disk";
}

/// Preparing is shared by all runs that are to come.
TEST(PagePricing, RunsToComeAreCounted) {
  RunOptions options;
  RunFacts   run = facts_of(options, 1 << 24, 520'000'000);
  run.voting = true, run.all_active = false;
  const PagedFacts pages{.bytes = 1e9, .in_place = true};
  const auto       once = priced(run, pages, false);
  EXPECT_NEAR(once.total_ms, once.prepare_ms + once.run_ms, 1e-6);
  options.runs     = 5;
  const auto often = priced(run, pages, false);
  EXPECT_EQ(often.prepare_ms, once.prepare_ms);
  EXPECT_NEAR(often.total_ms, once.prepare_ms + 5 * once.run_ms, 1e-6);
}

/// Reading in place needs all pages before, and then moves what is active.
TEST(PagePricing, InPlaceIsPreparedFor) {
  const RunOptions options;
  RunFacts         run = facts_of(options, 1 << 24, 520'000'000);
  run.all_active = false, run.voting = true;
  PagedFacts pages{.bytes = 1e9, .gpu = {.host_kept = 1e9}};
  const auto sent = priced(run, pages, false);
  pages.in_place  = true;
  const auto read = priced(run, pages, false);
  EXPECT_GT(read.prepare_ms, 300);
  EXPECT_LT(read.run_ms, sent.run_ms);
}

}  // namespace
}  // namespace spillway
