// The GPU or the CPU, for algorithms that are no vertex programs: what the planner says of them.
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/session.cuh"

namespace spillway::gpu {
namespace {

/// A session that is asked, and brings nothing.
class Question {
 public:
  Question(const Graph& graph, const RunOptions& options, const AlgorithmWork& work)
      : options_(Session::in_place(options)),
        session_(graph, work.topology, options_,
                 Session::needs_of(work, /*weighted=*/false, leaves_device_open(options))) {
    session_.device().enter();
  }

  cuda::Session& session() { return session_; }

 private:
  RunOptions    options_;
  cuda::Session session_;
};

}  // namespace

DeviceChosen chosen_device(const Graph& graph, const RunOptions& options, const AlgorithmWork& work) {
  Question       question{graph, options, work};
  cuda::Session& session = question.session();
  DeviceChosen   chosen{session.prefers_cpu(), {session.candidates(), session.choosing_ms()}};
  // Where nothing was left to choose, the others say why.
  if (chosen.on_cpu && chosen.predicted.candidates.empty())
    chosen.predicted.candidates = session.plan().candidates;
  return chosen;
}

Plan planned(const Graph& graph, const RunOptions& options, const std::function<AlgorithmWork()>& work) {
  if (!wanted(options, graph) || graph.pages()) return plan_without_program(options);
  const auto on_gpu = [&] {
    const AlgorithmWork asked = work();
    Plan                plan  = Question{graph, options, asked}.session().plan();
    plan.why.emplace_back("it is not a vertex program: edges are resident or read in place, uncompressed");
    return plan;
  };
  return gpu_or_cpu(
      options, on_gpu, [&] { return plan_without_program(options, /*may_use_gpu=*/false); }, tell_in_plan);
}

}  // namespace spillway::gpu
