// Which errors of a GPU the CPU makes good, and that the answer says so.
#include <gtest/gtest.h>

#include "algorithms/trying.hpp"
#include "devices/devices.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/fallback.hpp>
#include <spillway/generate.hpp>
#include <spillway/result.hpp>

namespace spillway {
namespace {

struct Answer {
  int           by = 0;
  RunStatistics statistics;
};

const auto on_cpu = [] { return Answer{.by = 1, .statistics = {}}; };

const auto too_small = []() -> Answer { throw DeviceError{ExitCode::does_not_fit, "too small"}; };

template <class OnGpu>
Answer with_fallback(const RunOptions& options, const OnGpu& on_gpu) {
  return gpu_or_cpu(options, on_gpu, on_cpu, note_on_cpu<Answer>);
}

TEST(Fallback, IsForGpusThatNobodyAskedFor) {
  const Answer answer = with_fallback(RunOptions{}, too_small);
  EXPECT_EQ(answer.by, 1);
  EXPECT_EQ(answer.statistics.device_note, "computed on the CPU: too small");
  EXPECT_GT(answer.statistics.prepare_ms, 0) << "the time that was lost";
  const RunOptions asked{.device = {.kind = cuda_kind()}};
  EXPECT_THROW(with_fallback(asked, too_small), DeviceError);
}

TEST(Fallback, IsNotForMistakesAndBugs) {
  for (const ExitCode code : {ExitCode::usage, ExitCode::internal_error, ExitCode::interrupted}) {
    const auto fails = [&]() -> Answer { throw Error{code, "no"}; };
    EXPECT_THROW(with_fallback(RunOptions{}, fails), Error);
  }
}

TEST(Fallback, IsSilentWhereItIsNotNeeded) {
  const Answer answer = with_fallback(RunOptions{}, [] { return Answer{.by = 2, .statistics = {}}; });
  EXPECT_EQ(answer.by, 2);
  EXPECT_EQ(answer.statistics.device_note, "");
}

void expect_refusal(const Algorithm& algorithm, const Graph& graph, const ParameterValues& values,
                    const RunOptions& options) {
  try {
    algorithm.run(graph, values, options);
    ADD_FAILURE() << algorithm.name << testing::as_text(values) << " ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    EXPECT_NE(std::string{error.what()}.find("GPU"), std::string::npos) << error.what();
  }
}

/// Whoever asks for a GPU by name is never given the CPU.
TEST(Fallback, IsNotForWhoeverAsksForAGpu) {
  if (!cuda_devices().devices.empty()) GTEST_SKIP() << "there is a GPU";
  const RunOptions options{.device = {.kind = cuda_kind()}};
  for (const Algorithm& algorithm : algorithms()) {
    const Graph graph = testing::with_weights_for(algorithm, generate("kron", {{"scale", "5"}}));
    for (const ParameterValues& variant : testing::variants_of(algorithm.name))
      expect_refusal(algorithm, graph, *testing::filled(algorithm, graph, variant), options);
  }
}

}  // namespace
}  // namespace spillway
