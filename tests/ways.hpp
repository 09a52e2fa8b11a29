// The ways through a run: threads, directions, methods, encodings, filters and sizes, in combinations that have
// every pair of two options. Sizes are as they are, or so small that graphs of the zoo need many tasks, bins and
// windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pairwise.hpp"

#include <spillway/options.hpp>
#include <spillway/result.hpp>

namespace spillway::testing {

/// Of all that tests draw: SPILLWAY_SEED, or 1. Printed once.
std::uint64_t seed();

/// Everything that takes turns otherwise: `make test-deep`, `make gpu-test-full`.
bool full_matrix();

HostTuning tiny();
/// Sizes so small that every row class, bin and filter of the GPU engine is needed by graphs of the zoo.
CudaTuning on_gpu(Filter filter, Fusion fusion, bool tiny);
/// A machine on which every way to bring edges is the best one for some parts of a graph of the zoo: pieces of
/// three edges and more are read, shorter ones gathered, and a part of which most is wanted is sent whole.
Rates balanced();

/// Options that ways are made of, and how many levels each has; the method comes first.
std::vector<int> level_counts();
/// Whether the levels that are chosen so far mean something together.
bool fits(const Levels& row);

/// All ways on the device that this executable tests.
const std::vector<RunOptions>& all_ways();
/// Without asynchrony where it is insisted on: programs that cannot do it refuse.
RunOptions for_any_program(RunOptions way);
/// Some of them, for any program; others in another test.
std::vector<RunOptions> some_ways();

std::string as_text(const RunOptions& way);

/// Members of a list by turns, so that none is forgotten, and a proof of it.
class Turns {
 public:
  /// `at_once` of `members` each time; `salt` decides the order.
  Turns(std::size_t members, std::size_t at_once, const std::string& salt);

  std::vector<std::size_t> next();
  /// That a member's turn was used.
  void used(std::size_t member) { ++uses_[member]; }
  /// Members that had no use.
  std::vector<std::size_t> unused() const;
  std::string              as_text() const;

 private:
  std::vector<std::size_t>   order_;
  std::vector<std::uint64_t> uses_;
  std::size_t                at_once_, at_ = 0;
};

/// What of a way a run of a program did not do; empty: it did what it was asked.
std::string deviation(const RunOptions& way, const RunStatistics& statistics, const std::string& algorithm);

}  // namespace spillway::testing
