// A program on a GPU as its caller sees it: whether it is to run there, and what it goes on from. Needs no nvcc.
#pragma once

#include <algorithm>
#include <span>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/outcome.hpp>
#include <spillway/error.hpp>

namespace spillway::cuda {

/// Whether this run is to be made on a GPU. Only programs whose updates meet in accumulators record and replay
/// frontiers there.
template <class P>
bool wanted(const RunOptions& options, const Continuation<ValueOf<P>>& continuation) {
  const DeviceKind asked = options.device.kind;
  if ((continuation.replay != nullptr || continuation.record != nullptr) && !Traits<P>::gathers) {
    if (asked == cuda_kind())
      throw Error{ExitCode::usage, "only programs that gather record and replay frontiers on a GPU; use the CPU"};
    return false;
  }
  if (options.method->requires_cpu) {
    if (asked == cuda_kind())
      throw Error{ExitCode::usage, "--method " + std::string{options.method->name} + " requires the CPU"};
    return false;
  }
  if (!asked.automatic()) return asked == cuda_kind();
  return !options.deterministic && device_count() > 0;
}

/// Those of another program's run must be of the same type, one a vertex.
template <class Value>
KeptValues<Value>& kept_values(Resident& resident, std::uint64_t vertices) {
  auto* kept = dynamic_cast<KeptValues<Value>*>(&resident);
  if (kept == nullptr || kept->values.size() != vertices)
    throw Error{ExitCode::usage, "a run cannot go on from values of another type or another graph"};
  return *kept;
}

/// What a run has left on its device because it was asked to (Continuation::keep): the value of every vertex, in
/// the order of the graph, for kernels of the caller's own. It lies there as long as somebody holds
/// `outcome.resident`. Empty if the values are on the host.
template <class P>
std::span<const ValueOf<P>> values_on_device(const Outcome<P>& outcome) {
  const auto* kept = dynamic_cast<const KeptValues<ValueOf<P>>*>(outcome.resident.get());
  return kept ? std::span{kept->values.data(), kept->values.size()} : std::span<const ValueOf<P>>{};
}

/// On another device than the one at hand, or under another budget.
template <class Value>
bool lies_elsewhere(const Continuation<Value>& continuation, const Device& here) {
  const auto* values = dynamic_cast<const KeptValues<Value>*>(continuation.resident.get());
  const auto* frontiers =
      continuation.replay ? dynamic_cast<const KeptFrontiers*>(continuation.replay->resident().get()) : nullptr;
  return (values && values->device.get() != &here) || (frontiers && frontiers->device.get() != &here);
}

/// What a device holds for a run that is made elsewhere after all is copied to the host; frontiers go to
/// `on_host`.
template <class Value>
void copy_to_host(Continuation<Value>& continuation, Schedule& on_host, const Graph& graph) {
  if (continuation.resident) {
    const auto& kept = kept_values<Value>(*continuation.resident, graph.vertex_count());
    kept.device->enter();
    continuation.values = {graph.vertex_count(), graph.budget(), "the values of the vertices"};
    kept.values.download(continuation.values.data());
    continuation.resident.reset();
  }
  if (continuation.replay == nullptr || !continuation.replay->resident()) return;
  const auto&    kept = dynamic_cast<const KeptFrontiers&>(*continuation.replay->resident());
  Buffer<Vertex> vertices{kept.vertices.size(), graph.budget(), "the recorded frontiers"};
  kept.device->enter();
  kept.vertices.download(vertices.data());
  if (kept.order) {
    Buffer<Vertex> original{kept.order->original.size(), graph.budget(), "the order of the vertices"};
    kept.order->original.download(original.data());
    // Frontiers that were never filled to the end have rubbish behind it.
    const std::uint64_t used = continuation.replay->starts().back();
    for (std::uint64_t i = 0; i < used; ++i) vertices[i] = original[vertices[i]];
  }
  on_host             = continuation.replay->on_host(std::move(vertices));
  continuation.replay = &on_host;
}

}  // namespace spillway::cuda
