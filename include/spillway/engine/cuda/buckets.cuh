// Buckets: vertices that wait for theirs, and those of finished ones.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

/// Who is in a finished bucket is noted: edges to them need no look at their values.
template <class P, class Rows>
__device__ void Machine<P, Rows>::note_settled(unsigned at) {
  if constexpr (settles) {
    begin_phase();
    for_words([&](std::uint64_t index) {
      const Word word = view_.settled[index];
      if (word == all_lanes) return;
      const Vertex v     = vertex_at(index);
      const bool   done  = v < view_.vertices && bucket_of(view_.values[v]) <= bucket_;
      const Word   mask  = __ballot_sync(all_lanes, done);
      const bool   fresh = ((mask & ~word) >> lane_index()) & 1;
      mine_.closed_vertices += fresh;
      mine_.closed_edges += fresh ? degree(v) : 0;
      if (lane_index() == 0 && mask != word) view_.settled[index] = mask;
    });
    end_phase(counters(at + 1), slot(2, at));
  }
}

/// Those of the bucket, and of any before it, leave the waiting ones and are the frontier. The lowest bucket of
/// the others is noted.
template <class P, class Rows>
__device__ void Machine<P, Rows>::take_bucket(unsigned at, IterationCounters::Taken& into) {
  if constexpr (prioritised) {
    begin_phase();
    if (threadIdx.x == 0) shared_.lowest = ~Count{0};
    __syncthreads();
    Count lowest = ~Count{0};
    for_word_batches([&](std::uint64_t base, bool mine) {
      const Word word = mine ? view_.waiting[base + lane_index()] : 0;
      if (!__any_sync(all_lanes, word != 0)) return;
      const unsigned waits = across(word);
      unsigned       taken = 0, gone = 0;
#pragma unroll
      for (unsigned k = 0; k < chunk; ++k) {
        const Vertex v      = (waits >> k) & 1 ? vertex_at(base + k) : 0;
        const Count  bucket = bucket_of(view_.values[v]);
        const bool   over = !is_open(v), takes = !over && bucket <= bucket_;
        if (!((waits >> k) & 1)) continue;
        taken |= takes << k;
        gone |= (takes || over) << k;
        if (!takes && !over && bucket < lowest) lowest = bucket;
      }
      if (!__any_sync(all_lanes, gone != 0)) return;
      const Word leave = along(gone), active = along(taken);
      if (mine && leave != 0) view_.waiting[base + lane_index()] = word & ~leave;
      if (mine && active != 0) view_.bits[at % 3][base + lane_index()] |= active;
      mine_.vertices += __popc(taken);
      mine_.edges += list_word_batch(base, taken, at, counters(at).balloted);
    });
    if (__any_sync(all_lanes, lowest != ~Count{0})) atomicMin(&shared_.lowest, lowest);
    Count* const to[] = {&into.vertices, &into.edges};
    add_up(to);
    if (threadIdx.x == 0 && shared_.lowest != ~Count{0}) atomicMin(&counters(at).lowest, shared_.lowest);
  }
}

template <class P, class Rows>
__device__ Count Machine<P, Rows>::bucket_of(const Value& value) const {
  return Operations<P>::bucket_of(view_.program, value, view_.bucket_width);
}

/// Of programs with a priority that work in rounds: true if the vertex is to come in a later bucket.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::waits_for_its_bucket(Vertex v) {
  if constexpr (prioritised) {
    if (bucket_of(view_.values[v]) <= bucket_) return false;
    if (!test(view_.waiting, v)) claim(view_.waiting, v);
    return true;
  }
  return false;
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::is_settled(Vertex v) const {
  if constexpr (settles) return test(view_.settled, v);
  return false;
}

/// Of programs that settle buckets in place: the vertex, improved to `value`, waits for a later bucket.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::comes_later(Vertex v, const Value& value) {
  if constexpr (in_buckets) {
    const bool later = bucket_of(value) > bucket_;
    if (fuses()) {  // an atomic whose result is unused costs less latency than a read before it
      if (later)
        claim(view_.waiting, v);
      else
        take(view_.waiting, v);
      return later;
    }
    const bool waits = test_now(view_.waiting, v);
    if (later && !waits) claim(view_.waiting, v);
    if (!later && waits) take(view_.waiting, v);
    return later;
  }
  return false;
}

}  // namespace spillway::cuda
