// Runs that are ended at any iteration and gone on with: the answer is that of a run that nothing happened to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "algorithms/trying.hpp"
#include "base/files.hpp"
#include "base/system_calls.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/checkpoint.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::filled;
using testing::TemporaryFolder;
using testing::with_weights_for;

/// Ends a run after some of its iterations.
class EndsAfter : public Progress {
 public:
  explicit EndsAfter(int iterations) : left_(iterations) {}

  void begin(std::string_view stage, std::uint64_t, ProgressUnit) override { iterating_ = stage == "iterating"; }
  void advance(std::uint64_t) override {
    if (iterating_) --left_;
  }
  bool cancelled() const override { return left_ <= 0; }

 private:
  std::atomic<int>  left_;
  std::atomic<bool> iterating_ = false;
};

/// Of the first column: which of several parents a vertex has depends on the order in which they came.
std::string bytes_of(const Result& result) {
  return std::visit(
      [](const auto& values) {
        return std::string{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
      },
      result.columns.front().values);
}

Graph in_pages(const Graph& graph, const std::string& path) {
  graph.in();
  OutputFile file{path};
  store::write(graph, {.page_bytes = 4096, .compressed = true}, file, Progress::none());
  file.commit();
  return open(path);
}

RunOptions options_with(Checkpoints& checkpoints, Progress& progress, int threads = 1) {
  RunOptions options{.threads = threads, .deterministic = threads == 1, .progress = &progress};
  options.device.kind = device_kind_named("cpu");
  options.checkpoints = &checkpoints;
  return options;
}

class Checkpointed : public ::testing::TestWithParam<std::string> {};

TEST_P(Checkpointed, RunsComeToTheSameAnswer) {
  const TemporaryFolder folder;
  const Algorithm&      algorithm = algorithm_named(GetParam());
  const Graph           kron      = generate("kron", {{"scale", "7"}}),
              grid                = generate("grid", {{"rows", "8"}, {"columns", "9"}});
  std::uint64_t gone_on           = 0;
  for (const Graph& given : {kron, grid})
    for (const bool paged : {false, true}) {
      if (paged && GetParam() == "kcore" && !given.symmetric()) continue;  // taken as undirected
      const Graph     weighted = with_weights_for(algorithm, given);
      const Graph     graph    = paged ? in_pages(weighted, folder / "g.spill") : weighted;
      ParameterValues values   = filled(algorithm, graph, {}).value();
      if (values.contains("sources")) values["source"] = "auto", values["sources"] = "3";
      if (values.contains("form")) values["form"] = GetParam() == "cc" ? "propagate" : values["form"];
      RunOptions plain{.threads = 1, .deterministic = true};
      plain.device.kind       = device_kind_named("cpu");
      const std::string right = bytes_of(algorithm.run(graph, values, plain));
      for (const int iterations : {1, 2, 3, 4, 6, 9, 14, 22, 35}) {
        SCOPED_TRACE(fmt::format("{} iterations, pages: {}", iterations, paged));
        const CheckpointOptions asked{.folder = folder / "", .question = "this", .seconds = 0};
        bool                    ended = false;
        {
          EndsAfter   progress{iterations};
          Checkpoints saved{asked};
          try {
            algorithm.run(graph, values, options_with(saved, progress));
            saved.finish();
          } catch (const Error& error) {
            ASSERT_EQ(error.code(), ExitCode::interrupted) << error.what();
            ended = true;
          }
        }
        if (!ended) break;
        CheckpointOptions again = asked;
        again.resume            = true;
        Checkpoints  saved{again};
        const Result result = algorithm.run(graph, values, options_with(saved, Progress::none()));
        EXPECT_TRUE(bytes_of(result) == right);
        EXPECT_EQ(algorithm.verify(weighted, values, result, {.by = CheckBy::oracle}).problem, "");
        gone_on += saved.resumed_at().value_or(0) > 0;
        saved.finish();
        EXPECT_FALSE(std::filesystem::exists(saved.path()));
      }
    }
  EXPECT_GT(gone_on, 1u);
}

INSTANTIATE_TEST_SUITE_P(Registry, Checkpointed,
                         ::testing::Values("bc", "bfs", "cc", "kcore", "pagerank", "ppr", "radius", "ssnsp",
                                           "sssp", "sswp"),
                         [](const auto& member) { return member.param; });

/// Whatever the number of threads was, and is.
class CheckpointedByThreads : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckpointedByThreads, RunsComeToTheSameAnswer) {
  const TemporaryFolder folder;
  const Algorithm&      algorithm = algorithm_named(GetParam());
  GenerateOptions       undirected;
  undirected.transform            = {.undirected = true};
  const Graph             graph   = with_weights_for(algorithm, generate("kron", {{"scale", "11"}}, undirected));
  const auto              values  = filled(algorithm, graph, {}).value();
  std::uint64_t           gone_on = 0;
  const CheckpointOptions asked{.folder = folder / "", .question = "this", .seconds = 0};
  for (const int iterations : {1, 2, 5})
    for (const auto& [before, after] : {std::pair{4, 1}, std::pair{1, 3}, std::pair{3, 4}}) {
      EndsAfter progress{iterations};
      try {
        Checkpoints saved{asked};
        algorithm.run(graph, values, options_with(saved, progress, before));
        saved.finish();
        continue;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ExitCode::interrupted) << error.what();
      }
      CheckpointOptions again = asked;
      again.resume            = true;
      Checkpoints  saved{again};
      const Result result = algorithm.run(graph, values, options_with(saved, Progress::none(), after));
      EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "") << iterations;
      gone_on += saved.resumed_at().value_or(0) > 0;
      saved.finish();
    }
  EXPECT_GT(gone_on, 1u);
}

INSTANTIATE_TEST_SUITE_P(Registry, CheckpointedByThreads, ::testing::Values("bfs", "kcore", "sssp"),
                         [](const auto& member) { return member.param; });

class CheckpointFiles : public ::testing::Test {
 protected:
  /// A run that was ended after two iterations.
  void leave_one(const std::string& question = "this") {
    EndsAfter   progress{2};
    Checkpoints saved{{.folder = folder_ / "", .question = question, .seconds = 0}};
    EXPECT_THROW(ranks(saved, progress), Error);
    EXPECT_GT(saved.saved(), 0u);
  }
  Result ranks(Checkpoints& saved, Progress& progress) {
    const Algorithm& algorithm = algorithm_named("pagerank");
    return algorithm.run(graph_, filled(algorithm, graph_, {}).value(), options_with(saved, progress));
  }
  CheckpointOptions asked(bool resume, const std::string& question = "this") {
    return {.folder = folder_ / "", .question = question, .resume = resume, .seconds = 0};
  }

  TemporaryFolder folder_;
  Graph           graph_ = generate("kron", {{"scale", "6"}});
};

TEST_F(CheckpointFiles, OfOtherQuestionsAreRefused) {
  leave_one();
  EXPECT_NE(failure_of([&] { Checkpoints{asked(false)}; }).second.find("--resume goes on"), std::string::npos);
  const auto other = failure_of([&] { Checkpoints{asked(true, "that")}; });
  EXPECT_EQ(other.first, ExitCode::usage);
  EXPECT_NE(other.second.find("of another question (this)"), std::string::npos) << other.second;
  EXPECT_NE(failure_of([&] {
              Checkpoints{{.folder = folder_ / "nowhere", .question = "this"}};
            }).second.find("no such folder"),
            std::string::npos);
}

TEST_F(CheckpointFiles, OfOtherGraphsAreRefused) {
  leave_one();
  graph_ = generate("kron", {{"scale", "7"}});  // though the question is called the same
  Checkpoints saved{asked(true)};
  EXPECT_EQ(failure_of([&] { ranks(saved, Progress::none()); }).first, ExitCode::bad_input);
}

TEST_F(CheckpointFiles, OfALaterRunAreNotReplacedByThoseBefore) {
  const auto two = [&](Checkpoints& saved, Progress& second) {
    ranks(saved, Progress::none());
    return bytes_of(ranks(saved, second));
  };
  std::string right;
  {
    Checkpoints none{{.folder = folder_ / "", .question = "this", .seconds = 1e9}};
    right = two(none, Progress::none());
  }
  {
    EndsAfter   progress{3};
    Checkpoints saved{asked(false)};
    EXPECT_THROW(two(saved, progress), Error);
  }
  const std::string left = testing::read_file(folder_ / "run.checkpoint");
  Checkpoints       saved{asked(true)};
  ranks(saved, Progress::none());  // made again, and not saved
  EXPECT_TRUE(testing::read_file(folder_ / "run.checkpoint") == left);
  EXPECT_TRUE(bytes_of(ranks(saved, Progress::none())) == right);
  EXPECT_GT(saved.resumed_at().value_or(0), 0u);
}

TEST_F(CheckpointFiles, ThatAreDamagedAreRefused) {
  leave_one();
  const std::string path = folder_ / "run.checkpoint", whole = testing::read_file(path);
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 97) {
    std::string damaged = whole;
    damaged[at]         = static_cast<char>(damaged[at] ^ 0x55);
    std::ofstream{path, std::ios::binary} << damaged;
    const auto failure = failure_of([&] {
      Checkpoints saved{asked(true)};
      ranks(saved, Progress::none());
    });
    EXPECT_TRUE(failure.first == ExitCode::bad_input || failure.first == ExitCode::usage) << at;
  }
  for (const std::size_t size : {0u, 7u, 60u, 100u}) {
    std::ofstream{path, std::ios::binary} << whole.substr(0, size);
    EXPECT_EQ(failure_of([&] { Checkpoints{asked(true)}; }).first, ExitCode::bad_input) << size;
  }
}

TEST_F(CheckpointFiles, ThatCannotBeWrittenDoNotEndTheRun) {
  const std::string right = [&] {
    Checkpoints none{{.folder = folder_ / "", .question = "this", .seconds = 1e9}};
    return bytes_of(ranks(none, Progress::none()));
  }();
  static const auto real = system_calls();
  system_calls().pwrite  = [](int, const void*, std::size_t, off_t) -> ssize_t {
    errno = ENOSPC;
    return -1;
  };
  Checkpoints       saved{asked(false)};
  const std::string ranked = bytes_of(ranks(saved, Progress::none()));
  system_calls()           = real;
  EXPECT_TRUE(ranked == right);
  EXPECT_EQ(saved.saved(), 0u);
  EXPECT_NE(saved.trouble().find("run.checkpoint"), std::string::npos) << saved.trouble();
  EXPECT_FALSE(std::filesystem::exists(saved.path()));
}

}  // namespace
}  // namespace spillway
