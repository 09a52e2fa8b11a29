// spillway::run: a program, a graph, an answer.
#pragma once

#include <limits>
#include <utility>

#include <spillway/algorithms.hpp>
#include <spillway/engine/device_program.hpp>
#include <spillway/engine/fallback.hpp>
#include <spillway/engine/host/device.hpp>
#include <spillway/engine/transfer.hpp>

#if defined(__CUDACC__)
#include <spillway/engine/cuda/run.cuh>
#endif

namespace spillway {

namespace detail {

/// Refuses a graph whose weights are not what the program reads.
void check_weights_for(const Graph& graph, WeightType wanted);

template <class P>
constexpr WeightType weight_type_of() {
  if constexpr (std::is_same_v<WeightOf<P>, std::uint32_t>) return WeightType::u32;
  if constexpr (std::is_same_v<WeightOf<P>, float>) return WeightType::f32;
  return WeightType::none;
}

template <class P>
std::uint64_t max_iterations_of(const P& program) {
  if constexpr (requires { program.max_iterations; }) return static_cast<std::uint64_t>(program.max_iterations);
  return std::numeric_limits<std::uint64_t>::max();
}

template <class P>
double delta_of(const P& program, const Graph& graph, bool on_gpu) {
  if constexpr (requires { program.delta; })
    if (program.delta > 0) return static_cast<double>(program.delta);
  return Prioritises<P> && Traits<P>::weighted ? choose_delta(graph, on_gpu) : 1;
}

/// Refuses values that are not one a vertex.
void check_given_values(std::uint64_t given, const Graph& graph, bool whole);
/// Refuses an input that does not have so many entries for each vertex.
void check_input(std::uint64_t entries, std::uint32_t per_vertex, const Graph& graph);
/// Refuses a GPU: this program was compiled without one in mind.
void refuse_other_devices(const RunOptions& options);
/// Refuses to record or replay where there are no frontiers as such.
void refuse_frontiers(bool all_active, bool prioritised);
/// Refuses to go on from what only a GPU has.
void refuse_resident();
/// Refuses frontiers of a larger graph.
void check_replay(const Schedule* replay, const Graph& graph);

/// What decides whether a program gives on split rows the answer that it gives without.
struct SplitNeeds {
  bool  survives;      ///< Traits::survives_split
  bool  relays;        ///< Traits::relays
  bool  reads_degree;  ///< of the rows that push
  bool  counts_paths;  ///< updates that come twice count twice
  Along along;
};
/// Refuses a graph whose vertices are split in a way that changes the answer.
void check_split(const Graph& graph, const SplitNeeds& needs);

/// Runs the program, or asks what would be done.
enum class Asked { run, plan };

/// act(device, request, milliseconds of preparing) on the device that is to run this; where a GPU cannot,
/// tell(answer, why, milliseconds lost) of what the CPU gave.
template <Asked asked, class P, class Act, class Tell>
auto on_its_device(const P& program, const Graph& graph, const RunOptions& given,
                   Continuation<ValueOf<P>> continuation, Act&& act, Tell&& tell) {
  using T                  = Traits<P>;
  const RunOptions options = options_for(graph, given);
  if constexpr (T::weighted) check_weights_for(graph, weight_type_of<P>());
  if (graph.split())
    check_split(graph, {T::survives_split, T::relays, T::reads_degree, !T::Combine::idempotent, T::along});
  check_given_values(continuation.values.size(), graph, continuation.whole);
  for_each_input(program, [&](const auto& input) { check_input(input.size(), input.per_vertex(), graph); });
  check_replay(continuation.replay, graph);
  if (continuation.replay || continuation.record) refuse_frontiers(T::all_active, Prioritises<P>);

  const bool       windows = options.method->transfers;
  Stopwatch        clock;
  const NeededRows needed{
      // Without rows to push along, a frontier of one vertex would cost a pass over all.
      .push = windows || T::reads_degree || !T::all_active || options.direction == Direction::push ||
              options.device.kind->of_cpu_executors,
      .pull =
          T::all_active || options.direction == Direction::pull || (options.deterministic && T::order_sensitive),
      .degrees        = T::reads_degree || InitsFromDegree<P>,
      .without_others = options.direction == (T::along == Along::in ? Direction::push : Direction::pull) ||
                        (T::along == Along::in ? T::reads_degree : options.deterministic && T::order_sensitive),
      .to_plan = asked == Asked::plan};
  bool                         on_a_gpu = false;
  [[maybe_unused]] const Work  work{graph.vertex_count(), graph.arc_count(), T::all_active,
                                   max_iterations_of(program)};
  [[maybe_unused]] std::string not_started;
  if constexpr (has_device_code<P>) {
    if (!continuation.resident && !continuation.replay) not_started = why_gpu_is_not_started(work, options);
    if (asked == Asked::plan && !cuda::wanted<P>(options, continuation)) not_started.clear();  // says why itself
    on_a_gpu = not_started.empty() && cuda::wanted<P>(options, continuation);
  }
  Topology topology = resident_topology(graph, T::along, needed, options, on_a_gpu);
  if (continuation.whole) topology.answers.reset();
  const bool of_lists       = options.method->of_edge_lists;
  const bool supports_async = T::supports_async && (!of_lists || (T::in_place && T::live_messages)) &&
                              topology.push.size() == 1 && !continuation.record && !continuation.replay;
  check_method_options(options);
  check_balance(options, T::order_sensitive, on_a_gpu);
  if (windows || of_lists || (options.method->streams_pages && on_a_gpu))
    refuse_in_windows(options, T::order_sensitive, supports_async);
  const double       prepare = clock.milliseconds();
  const ProgramFacts facts{.voting          = T::voting,
                           .gathers         = T::gathers,
                           .all_active      = T::all_active,
                           .push_only       = Prioritises<P> && T::in_place,
                           .order_sensitive = T::order_sensitive,
                           .weighted        = T::weighted,
                           .supports_async  = supports_async,
                           .local_bytes     = T::local_bytes};

  Schedule            frontiers;  // outlives a device that fails
  const RunRequest<P> request{program,      graph,     topology, options, facts, max_iterations_of(program),
                              continuation, &frontiers};
  const auto          on_cpu = [&] {
    count_degrees(topology, graph, options);  // which were left to the GPU
    host::HostDevice<P> device{request, delta_of(program, graph, false)};
    return act(device, request, prepare);
  };
  if constexpr (has_device_code<P>) {
    const auto on_cpu_after_all = [&] {
      cuda::copy_to_host(continuation, frontiers, graph);
      return on_cpu();
    };
    const auto on_gpu = [&]() -> decltype(on_cpu()) {
      const auto device = cuda::device_for(request, delta_of(program, graph, true));
      if constexpr (asked == Asked::run)
        if (auto better = device->better_device()) try {
            if (continuation.instead) {
              *continuation.instead = std::move(*better);
              return {};
            }
            auto answer = on_cpu();
            note_better_device(answer.statistics, *better);
            return answer;
          } catch (const Error& error) {  // there may be no room for it on the host
            if (!device->falls_back(error)) throw;
          }
      return act(*device, request, prepare);
    };
    if (on_a_gpu) return gpu_or_cpu(options, on_gpu, on_cpu_after_all, tell);
    auto answer = on_cpu_after_all();
    if (not_started.empty()) return answer;
    if constexpr (asked == Asked::plan)
      tell(answer, not_started, 0);
    else
      note_left_to_cpu(work, options);
    return answer;
  } else {
    refuse_other_devices(options);
    if (continuation.resident || (continuation.replay && continuation.replay->resident())) refuse_resident();
    return on_cpu();
  }
}

}  // namespace detail

template <class P>
Outcome<P> run(const P& program, const Graph& graph, const RunOptions& options = {},
               Continuation<ValueOf<P>> continuation = {}) {
  // A program with a mistake gets its own message and none from deeper down.
  if constexpr (check_program<P>())
    return detail::on_its_device<detail::Asked::run>(
        program, graph, options, std::move(continuation),
        [](RunDevice<P>& device, const RunRequest<P>& request, double prepare) {
          Outcome<P> outcome = run_on(device, request);
          outcome.statistics.prepare_ms += prepare;
          return outcome;
        },
        note_on_cpu<Outcome<P>>);
  else
    return {};
}

/// What `run` would do with these, and why.
template <class P>
Plan plan_run(const P& program, const Graph& graph, const RunOptions& options = {},
              Continuation<ValueOf<P>> continuation = {}) {
  if constexpr (check_program<P>())
    return detail::on_its_device<detail::Asked::plan>(
        program, graph, options, std::move(continuation),
        [](RunDevice<P>& device, const RunRequest<P>&, double) { return device.plan(); }, tell_in_plan);
  else
    return {};
}

}  // namespace spillway
