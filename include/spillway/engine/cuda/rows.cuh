// How rows lie where kernels read them: in device memory, or in host memory that the device reads in place.
// Kernels are compiled for each form.
#pragma once

#include <cstdint>

#include <spillway/program.hpp>

namespace spillway::cuda {

/// Rows are shorter than this: edges are counted in 32 bits within one, with room to step beyond its end.
inline constexpr EdgeIndex longest_row = EdgeIndex{1} << 31;

/// What will be read soon starts on its way to the cache that all multiprocessors share, where a device has a
/// request for that (sm_90).
__device__ inline void prefetch(const void* address, std::uint64_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(SPILLWAY_EMULATED)
  constexpr std::uintptr_t unit  = 16;
  const auto               at    = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t     first = at / unit * unit;
  const auto               all   = static_cast<unsigned>((at + bytes - first + unit - 1) / unit * unit);
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(first), "r"(all));
#elif defined(SPILLWAY_EMULATED)  // both ends are looked at, so that a wrong address is found
  const auto* const all = static_cast<const volatile unsigned char*>(address);
  static_cast<void>(all[0] + all[bytes - 1]);
#else
  static_cast<void>(address), static_cast<void>(bytes);
#endif
}

/// Targets and weights as they are.
struct PlainRows {
  const EdgeIndex*     begins  = nullptr;
  const EdgeIndex*     ends    = nullptr;
  const Vertex*        targets = nullptr;
  const std::uint32_t* weights = nullptr;
  bool                 on_host = false;  ///< in host memory

  static constexpr bool always_ordered = false;  ///< by degree
  static constexpr bool coded          = false;
  static constexpr bool in_windows     = false;  ///< they come while a run lasts
  static constexpr bool meets_hubs     = false;
  /// Over the bus come lines of so many edges: warps that ask for whole ones, once, get most out of it.
  static constexpr unsigned line_edges = 32;

  /// A vertex's row, or the part of it that is here.
  struct RowSlice {
    EdgeIndex           first;
    unsigned            edges;
    __device__ unsigned length() const { return edges; }
  };
  /// Where an edge is.
  using Place = EdgeIndex;
  /// Edges of a row that lie side by side, 32 after 32 of them, one for each lane.
  using Span                             = EdgeIndex;
  static constexpr unsigned staged_words = 0;

  __device__ RowSlice slice(Vertex v) const {
    const EdgeIndex first = begins[v];
    return {first, static_cast<unsigned>(ends[v] - first)};
  }
  __device__ static Place place(const RowSlice& slice, unsigned k) { return slice.first + k; }

  /// Some edges of a row, from the k-th on.
  __device__ void prefetch(const RowSlice& slice, unsigned k, unsigned edges, bool weighted) const {
    const unsigned rest = slice.length() > k ? slice.length() - k : 0, some = edges < rest ? edges : rest;
    if (on_host || some == 0) return;
    cuda::prefetch(targets + slice.first + k, some * sizeof(Vertex));
    if (weighted) cuda::prefetch(weights + slice.first + k, some * sizeof(std::uint32_t));
  }

  /// Edges of others that lie before a slice in its first line.
  __device__ unsigned lead(const RowSlice& slice) const {
    return on_host ? static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(targets + slice.first) /
                                           sizeof(Vertex) % line_edges)
                   : 0;
  }
  __device__ static RowSlice with_lead(const RowSlice& slice, unsigned lead) {
    return {slice.first - lead, slice.edges + lead};
  }

  __device__ Vertex target(Place place) const { return targets[place]; }
  __device__ std::uint32_t weight(Place place) const { return weights[place]; }

  /// The edges from `k` on, a multiple of 32 below the row's length; the others use `staged` to read them
  /// together. All lanes come, here and when they ask; those that do not want to know get anything.
  template <unsigned>
  __device__ Span span(const RowSlice& slice, unsigned k, std::uint32_t*) const {
    return slice.first + k + threadIdx.x % 32;
  }
  template <bool passing>
  __device__ Vertex target_in(Span span, unsigned group, bool wants) const {
    if (!wants) return 0;
    // What is read once and not soon again is not to push anything else out of the caches.
    return passing ? __ldcs(targets + span + group * 32) : targets[span + group * 32];
  }
  __device__ std::uint32_t weight_in(Span span, unsigned group, bool wants) const {
    return wants ? weights[span + group * 32] : 0;
  }
};

/// Likewise, of vertices that may be in another order than the program knows them in.
struct OrderedRows : PlainRows {
  static constexpr bool always_ordered = true;
  static constexpr bool in_windows     = true;

  OrderedRows() = default;
  __host__ __device__ OrderedRows(const PlainRows& rows) : PlainRows(rows) {}
};

/// Rows in ascending order, hubs first, that are out- and in-edges at once: what hubs get is added up while others
/// are pulled (hub_sums.cuh).
struct RowsWithHubs : PlainRows {
  static constexpr bool always_ordered = true;
  static constexpr bool meets_hubs     = true;
};

/// Rows in ascending order, coded in groups of 32: some 14 bits an arc of a Kronecker graph whose hubs come first.
///
/// A row begins with an entry of two words for every group: its smallest target, and how and where the others are.
/// A row of one group has a header of one word instead (two, if that target is large), and its slice says so.
/// A group is coded as Elias and Fano do it: of every target, less the smallest, the `low` lowest bits lie one
/// behind the other; the rest of all of them is in up to three words of unary, as many zeros as it grows by and a
/// one for each. Without such words the low bits are all. Weights come behind, each of as many bits as the largest
/// needs. So any edge can be read without those before it.
struct CompressedRows {
  static constexpr bool     always_ordered = true;
  static constexpr bool     coded          = true;
  static constexpr bool     in_windows     = false;
  static constexpr bool     meets_hubs     = false;
  static constexpr unsigned line_edges     = 0;  ///< groups are read together as they are
  static constexpr unsigned group          = 32;
  static constexpr unsigned most_unary     = 3;

  struct RowSlice {
    std::uint32_t                  first;             ///< in units of 2^shift words
    std::uint32_t                  edges_and_header;  ///< highest bit: the header is the short one
    static constexpr std::uint32_t one_group = 1u << 31;

    __device__ unsigned length() const { return edges_and_header & ~one_group; }
  };
  struct Place {
    RowSlice      slice;
    std::uint32_t k;
  };

  const RowSlice*      slices      = nullptr;
  const std::uint32_t* code        = nullptr;
  unsigned             shift       = 0;
  unsigned             weight_bits = 0;

  /// How a group is coded: five bits, two, and 25; in the header of a single group one says that its smallest
  /// target is in a word of its own, and 24 are that target.
  struct Group {
    unsigned low, unary;

    static constexpr unsigned where_at = 7, far_bit = 1u << 7, target_at = 8;
    static constexpr unsigned most_where = (1u << 25) - 1, most_near = (1u << 24) - 1;

    __device__ static Group of(std::uint32_t bits) { return {bits & 31, (bits >> 5) & 3}; }
    __device__ std::uint32_t bits() const { return low | unary << 5; }
    __device__ unsigned      low_words(unsigned count) const { return (count * low + 31) / 32; }
  };

  __device__ RowSlice     slice(Vertex v) const { return slices[v]; }
  __device__ static Place place(const RowSlice& slice, unsigned k) { return {slice, k}; }

  __device__ void prefetch(const RowSlice&, unsigned, unsigned, bool) const {}  // where words lie is read first

  __device__ Vertex target(const Place& place) const {
    const Found at = find(place);
    return place.k % group == 0 ? at.smallest : target_at(at, place.k % group);  // nothing more is read for it
  }
  /// The same with fewer waits: all words that it may depend on are read at once.
  __device__ Vertex target_ahead(const Place& place) const {
    const bool                 single = (place.slice.edges_and_header & RowSlice::one_group) != 0;
    const std::uint32_t* const entry =
        code + (std::uint64_t{place.slice.first} << shift) + (single ? 0 : 2 * (place.k / group));
    const std::uint32_t        first = entry[0], second = entry[1];
    const bool                 far   = single && (first & Group::far_bit) != 0;
    const Group                how   = Group::of(single ? first : second);
    const Vertex               least = single && !far ? first >> Group::target_at : far ? second : first;
    const std::uint32_t* const words = entry + (single ? (far ? 2 : 1) : second >> Group::where_at);
    std::uint32_t              unary[most_unary];
    for (unsigned i = 0; i < most_unary; ++i) unary[i] = i < how.unary ? words[i] : 0;
    const unsigned      n   = place.k % group;
    const std::uint32_t low = bits_at(words + how.unary, n * how.low, how.low);
    return least + low + (how.unary == 0 ? 0 : (nth_one_of(unary, n) - n) << how.low);
  }
  /// Where the n-th one is in all words of unary that a group may have, those it has not being zero; within them
  /// even if there is none.
  __device__ static unsigned nth_one_of(const std::uint32_t (&unary)[most_unary], unsigned n) {
    unsigned which = 0;
    for (; which + 1 < most_unary; ++which) {
      const auto ones = static_cast<unsigned>(__popc(unary[which]));
      if (n < ones) break;
      n -= ones;
    }
    return which * 32 + nth_one_in(which == 0 ? unary[0] : which == 1 ? unary[1] : unary[2], n);
  }
  __device__ std::uint32_t weight(const Place& place) const {
    const unsigned rest = place.slice.length() - place.k / group * group;
    return weight_at(find(place), rest < group ? rest : group, place.k % group);
  }

  /// Groups that lie side by side, read once and in as few requests as there can be: lines of 32 words.
  /// Lanes have what there is to know of a group each.
  struct Span {
    std::uint32_t        how;
    Vertex               smallest;
    unsigned             first, count;  ///< word, edges
    const std::uint32_t* staged;
  };
  static constexpr unsigned most_groups  = 4;
  static constexpr unsigned staged_words = most_groups * 2 * group + group + 1;  ///< of a warp

  template <unsigned groups>
  __device__ Span span(const RowSlice& slice, unsigned k, std::uint32_t* staged) const {
    static_assert(groups <= most_groups);
    constexpr unsigned   all  = 0xFFFFFFFFu;
    const unsigned       lane = threadIdx.x % 32, rest = slice.length() - k;
    const unsigned       there = rest < groups * group ? (rest + group - 1) / group : groups;
    const unsigned       mine  = lane < there ? lane : there - 1;
    const Found          at    = find({slice, k + mine * group});
    const unsigned       count = rest - mine * group < group ? rest - mine * group : group;
    const unsigned       words = at.how.unary + at.how.low_words(count) + (count * weight_bits + 31) / 32;
    const std::uint64_t  own   = static_cast<std::uint64_t>(at.words - code);
    const std::uint64_t  line  = __shfl_sync(all, own, 0) / 32 * 32;
    const auto           first = static_cast<unsigned>(own - line);
    const unsigned       begin = __shfl_sync(all, first, 0);  // what lies before it is not sent
    const unsigned       end   = __shfl_sync(all, first + words, static_cast<int>(there - 1));
    const std::uint32_t* from  = code + line;
    constexpr unsigned   usual = groups + 1;  // lines, without weights
    std::uint32_t        read[usual];
    __syncwarp();  // whoever still reads what was there before
#pragma unroll
    for (unsigned i = 0; i < usual; ++i)
      read[i] = lane + i * 32 >= begin && lane + i * 32 < end ? from[lane + i * 32] : 0;
#pragma unroll
    for (unsigned i = 0; i < usual; ++i) staged[lane + i * 32] = read[i];
    for (unsigned i = lane + usual * 32; i < end; i += 32) staged[i] = from[i];
    __syncwarp();
    return {at.how.bits(), at.smallest, first, count, staged};
  }
  template <bool passing>
  __device__ Vertex target_in(const Span& span, unsigned which, bool wants) const {
    const Found at = found_in(span, which);
    return wants ? target_at(at, threadIdx.x % 32) : 0;
  }
  __device__ std::uint32_t weight_in(const Span& span, unsigned which, bool wants) const {
    const Found    at    = found_in(span, which);
    const unsigned count = __shfl_sync(0xFFFFFFFFu, span.count, static_cast<int>(which));
    return wants ? weight_at(at, count, threadIdx.x % 32) : 0;
  }

 private:
  struct Found {
    Group                how;
    Vertex               smallest;
    const std::uint32_t* words;
  };

  __device__ Found find(const Place& place) const {
    const std::uint32_t* const row = code + (std::uint64_t{place.slice.first} << shift);
    if (place.slice.edges_and_header & RowSlice::one_group) {
      const std::uint32_t header = row[0];
      const bool          far    = (header & Group::far_bit) != 0;
      return {Group::of(header), far ? row[1] : header >> Group::target_at, row + (far ? 2 : 1)};
    }
    const std::uint32_t* const entry = row + 2 * (place.k / group);
    return {Group::of(entry[1]), entry[0], entry + (entry[1] >> Group::where_at)};
  }

  __device__ static Found found_in(const Span& span, unsigned which) {
    constexpr unsigned all  = 0xFFFFFFFFu;
    const auto         lane = static_cast<int>(which);
    return {Group::of(__shfl_sync(all, span.how, lane)), __shfl_sync(all, span.smallest, lane),
            span.staged + __shfl_sync(all, span.first, lane)};
  }

  __device__ static Vertex target_at(const Found& at, unsigned i) {
    const std::uint32_t low = bits_at(at.words + at.how.unary, i * at.how.low, at.how.low);
    return at.smallest + low + (at.how.unary == 0 ? 0 : (nth_one(at.words, i) - i) << at.how.low);
  }
  __device__ std::uint32_t weight_at(const Found& at, unsigned count, unsigned i) const {
    return bits_at(at.words + at.how.unary + at.how.low_words(count), i * weight_bits, weight_bits);
  }

  /// `count` bits (at most 32) from bit `first` on. There is always a word behind the last one.
  __device__ static std::uint32_t bits_at(const std::uint32_t* words, unsigned first, unsigned count) {
    const std::uint32_t* const at   = words + first / 32;
    const std::uint64_t        both = std::uint64_t{at[0]} | std::uint64_t{at[1]} << 32;
    return static_cast<std::uint32_t>((both >> (first % 32)) & ((std::uint64_t{1} << count) - 1));
  }

  /// Where the n-th one is, from zero on. There is one.
  __device__ static unsigned nth_one(const std::uint32_t* words, unsigned n) {
    unsigned place = 0, word = *words;
    for (unsigned ones = static_cast<unsigned>(__popc(word)); n >= ones;
         ones          = static_cast<unsigned>(__popc(word))) {
      n -= ones;
      word = *++words;
      place += 32;
    }
    return place + nth_one_in(word, n);
  }

  __device__ static unsigned nth_one_in(unsigned word, unsigned n) {
    unsigned place = 0;
#pragma unroll
    for (unsigned half = 16; half > 0; half /= 2) {
      const auto ones = static_cast<unsigned>(__popc(word & ((1u << half) - 1)));
      if (n < ones) continue;
      n -= ones;
      word >>= half;
      place += half;
    }
    return place;
  }
};

}  // namespace spillway::cuda
