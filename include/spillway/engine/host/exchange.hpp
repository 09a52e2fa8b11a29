// What a push has accumulated, handed from one executor to another that pushes along other edges of the same run.
#pragma once

#include <cstring>

#include <spillway/engine/host/executor.hpp>
#include <spillway/error.hpp>

namespace spillway::host {

/// visit(v, entry, local) for what another executor has accumulated.
template <class P, bool bucketed>
template <class Visit>
void HostExecutor<P, bucketed>::for_each_accumulated(const Accumulated& other, Visit&& visit) {
  const std::uint64_t count = other.entries.size() / sizeof(Accumulating);
  for_each_share(threads_for(count), count, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    for (std::uint64_t i = begin; i < end; ++i) {
      Accumulating entry;
      std::memcpy(static_cast<void*>(&entry), other.entries.data() + i * sizeof entry, sizeof entry);
      visit(T::all_active ? static_cast<Vertex>(i) : other.vertices[i], entry, local_of(thread));
    }
  });
  if constexpr (has_frontier)
    for (Local& local : locals_) local.next.flush(back_);
}

template <class P, bool bucketed>
Accumulated HostExecutor<P, bucketed>::accumulated() const {
  if constexpr (T::voting) {
    std::uint64_t closed = 0;
    for (const Local& local : locals_) closed += local.closed_vertices;
    if (closed != back_.size())
      throw Error{
          ExitCode::usage,
          "votes that end with a vertex, which `apply` does not make active, cannot be merged; use --device "
          "cpu"};
  }
  static constexpr auto what = "what executors exchange";
  Accumulated           all;
  const auto            listed = back_.span();
  const std::uint64_t   count  = T::all_active ? n_ : listed.size();
  all.vertices                 = {listed.size(), budget_, what};
  all.entries                  = {count * sizeof(Accumulating), budget_, what};
  std::ranges::copy(listed, all.vertices.data());
  for_each_share(threads_for(count), count, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const Accumulating& entry = accumulating(T::all_active ? static_cast<Vertex>(i) : listed[i]);
      std::memcpy(all.entries.data() + i * sizeof entry, static_cast<const void*>(&entry), sizeof entry);
    }
  });
  return all;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::merge(const Accumulated& other) {
  for_each_accumulated(other, [&](Vertex v, const Accumulating& entry, Local& local) {
    if constexpr (T::voting) {
      if (open_.take(v)) accept(v, entry, local);
    } else if constexpr (T::in_place) {
      if (Combine::improve(values_[v], entry) && next_.claim(v)) accept(v, values_[v], local);
    } else {
      accumulators_[v] = Combine::combine(accumulators_[v], entry);
      if constexpr (!T::all_active)
        if (next_.claim(v)) local.next.put(back_, v);
    }
  });
}

/// Whatever this executor had reached is among it.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::adopt(const Accumulated& merged) {
  if constexpr (has_frontier && !T::voting) clear_bits(next_, back_.span());
  back_.clear();
  if constexpr (!T::gathers)
    for (Local& local : locals_) {
      local.vertices = local.edges = 0;
      if constexpr (T::voting) local.closed_vertices = local.closed_edges = 0;
    }
  for_each_accumulated(merged, [&](Vertex v, const Accumulating& entry, Local& local) {
    if constexpr (T::gathers) {
      accumulators_[v] = entry;
      if constexpr (!T::all_active) next_.claim(v), local.next.put(back_, v);
    } else {
      if constexpr (T::voting) open_.take(v);
      if constexpr (T::in_place) next_.claim(v);
      accept(v, entry, local);
    }
  });
}

/// A vertex that another executor has reached, in a program that applies updates as they come.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::accept(Vertex v, const Value& value, Local& local) {
  const EdgeIndex edges = degree(v);
  values_[v]            = value;
  if constexpr (T::voting) ++local.closed_vertices, local.closed_edges += edges;
  ++local.vertices;
  local.edges += edges;
  local.next.put(back_, v);
}

}  // namespace spillway::host
