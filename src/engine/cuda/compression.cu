#include "engine/cuda/compression.hpp"

#include <algorithm>
#include <bit>

#include "base/fail.hpp"
#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/warp.cuh>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway::cuda {
namespace {

using RowSlice = CompressedRows::RowSlice;
using Group    = CompressedRows::Group;

constexpr unsigned group     = CompressedRows::group;
constexpr auto     what_code = "the compressed rows";
constexpr unsigned behind = CompressedBlock::words_behind;  // reading bits looks at two, even where none are read
static_assert(group == warp_lanes);

/// Rows of a batch, by the places of their vertices, and what compressing them needs.
struct CodingBatch {
  std::uint64_t        rows;
  const EdgeIndex*     offsets;  ///< of the rows, from the batch's first arc on: less offsets[0]
  const Vertex*        targets;
  const std::uint32_t* weights;
  unsigned             weight_bits, shift;
  const EdgeIndex*     groups;  ///< before each row, and all
  EdgeIndex*           words;   ///< of each group; later: before it, and all
  EdgeIndex*           starts;  ///< words of each row; later: before it, and all
  unsigned long long*  shares;  ///< words of groups by their place in the row
  std::uint32_t*       code;
  unsigned*            too_long;

  __device__ EdgeIndex degree(std::uint64_t row) const { return offsets[row + 1] - offsets[row]; }
};

/// A warp's group: lane i has the i-th target.
struct Loaded {
  std::uint64_t row;
  EdgeIndex     index;  ///< of the group in its row
  EdgeIndex     first;  ///< arc of the batch
  unsigned      count;
  Vertex        target, smallest;
  Group         how;

  __device__ unsigned words(unsigned weight_bits) const {
    return how.unary + how.low_words(count) + (count * weight_bits + 31) / 32;
  }
};

/// The row that the group is of.
__device__ std::uint64_t owner_of(const CodingBatch& batch, EdgeIndex which) {
  const auto begun = [&](std::uint64_t row) { return batch.groups[row] <= which; };
  return partition_point(std::uint64_t{1}, batch.rows, begun) - 1;
}

/// The shortest code; without unary where that is as short, since it is read faster. Lanes try a number of low
/// bits each.
__device__ Group chosen(unsigned count, Vertex range) {
  const unsigned low   = lane_index();
  const unsigned unary = (count + (range >> low) + 31) / 32;
  const bool     fits = (range >> low) <= 32 * CompressedRows::most_unary && unary <= CompressedRows::most_unary &&
                    low + CompressedRows::most_unary <= group;  // a lane reads a word
  const unsigned words   = fits ? unary + (count * low + 31) / 32 : 0xFFFFu;
  const unsigned best    = __reduce_min_sync(all_lanes, words << 5 | low);
  const unsigned width   = 32 - static_cast<unsigned>(__clz(static_cast<int>(range)));
  const bool     plainly = width < 32 && (count * width + 31) / 32 <= best >> 5;
  if (plainly) return {width, 0};
  const unsigned chosen_low = best & 31;
  return {chosen_low, (count + (range >> chosen_low) + 31) / 32};
}

__device__ Loaded loaded(const CodingBatch& batch, EdgeIndex which) {
  Loaded at{};
  at.row                 = owner_of(batch, which);
  at.index               = which - batch.groups[at.row];
  const EdgeIndex degree = batch.degree(at.row), begin = at.index * group;
  at.first            = batch.offsets[at.row] - batch.offsets[0] + begin;
  at.count            = static_cast<unsigned>(degree - begin < group ? degree - begin : group);
  const unsigned lane = lane_index() < at.count ? lane_index() : at.count - 1;
  at.target           = batch.targets[at.first + lane];
  at.smallest         = __shfl_sync(all_lanes, at.target, 0);
  at.how              = chosen(at.count, __shfl_sync(all_lanes, at.target, warp_lanes - 1) - at.smallest);
  return at;
}

__global__ void count_groups(CodingBatch batch, EdgeIndex* groups) {
  for (std::uint64_t row = first_item(); row <= batch.rows; row += item_stride())
    groups[row] = row < batch.rows ? (batch.degree(row) + group - 1) / group : 0;
}

__global__ void measure(CodingBatch batch, EdgeIndex all) {
  if (first_item() == 0) batch.words[all] = 0;
  deal<WarpTeam>(all, [&](EdgeIndex which) {
    const Loaded   at    = loaded(batch, which);
    const unsigned words = at.words(batch.weight_bits);
    if (lane_index() != 0) return;
    batch.words[which]  = words;
    const EdgeIndex bin = at.index < prefix_bins ? at.index : prefix_bins - 1;
    atomicAdd(batch.shares + bin, static_cast<unsigned long long>(words + 2));
  });
}

__device__ unsigned header_words(const CodingBatch& batch, std::uint64_t row, EdgeIndex groups) {
  if (groups != 1) return static_cast<unsigned>(2 * groups);
  return batch.targets[batch.offsets[row] - batch.offsets[0]] > Group::most_near ? 2 : 1;
}

__device__ EdgeIndex aligned(EdgeIndex words, unsigned shift) { return (((words - 1) >> shift) + 1) << shift; }

/// `batch.words` are sums by now.
__global__ void measure_rows(CodingBatch batch) {
  for (std::uint64_t row = first_item(); row <= batch.rows; row += item_stride()) {
    EdgeIndex words = 0;
    if (row < batch.rows && batch.degree(row) > 0) {
      const EdgeIndex first = batch.groups[row], last = batch.groups[row + 1];
      words =
          aligned(header_words(batch, row, last - first) + batch.words[last] - batch.words[first], batch.shift);
    }
    batch.starts[row] = words;
  }
}

/// The lowest `count` bits of `value`, at bit `first`; the words are zero there.
__device__ void put_bits(std::uint32_t* words, unsigned first, std::uint32_t value, unsigned count) {
  if (count == 0) return;
  const std::uint64_t both = (std::uint64_t{value} & ((std::uint64_t{1} << count) - 1)) << (first % 32);
  atomicOr(words + first / 32, static_cast<std::uint32_t>(both));
  if (first % 32 + count > 32) atomicOr(words + first / 32 + 1, static_cast<std::uint32_t>(both >> 32));
}

__global__ void write_groups(CodingBatch batch, EdgeIndex all) {
  deal<WarpTeam>(all, [&](EdgeIndex which) {
    const Loaded         at    = loaded(batch, which);
    const EdgeIndex      first = batch.groups[at.row], groups = batch.groups[at.row + 1] - first;
    const unsigned       header = header_words(batch, at.row, groups);
    std::uint32_t* const row    = batch.code + batch.starts[at.row];
    std::uint32_t* const words  = row + header + (batch.words[which] - batch.words[first]);
    const bool           mine   = lane_index() < at.count;
    const Vertex         beyond = at.target - at.smallest;
    if (mine && at.how.unary > 0) {
      const unsigned one = (beyond >> at.how.low) + lane_index();
      atomicOr(words + one / 32, 1u << (one % 32));
    }
    if (mine) put_bits(words + at.how.unary, lane_index() * at.how.low, beyond, at.how.low);
    if (mine && batch.weight_bits > 0)
      put_bits(words + at.how.unary + at.how.low_words(at.count), lane_index() * batch.weight_bits,
               batch.weights[at.first + lane_index()], batch.weight_bits);
    if (lane_index() != 0) return;
    if (groups == 1) {
      row[0] = at.how.bits() | (header == 2 ? Group::far_bit : at.smallest << Group::target_at);
      if (header == 2) row[1] = at.smallest;
    } else {
      std::uint32_t* const entry = row + 2 * at.index;
      const EdgeIndex      where = static_cast<EdgeIndex>(words - entry);
      if (where > Group::most_where) *batch.too_long = 1;
      entry[0] = at.smallest;
      entry[1] = at.how.bits() | static_cast<std::uint32_t>(where) << Group::where_at;
    }
  });
}

/// Where the batch's rows are, which lie from word `before` on.
__global__ void place_rows(CodingBatch batch, std::uint64_t before, RowSlice* slices) {
  for (std::uint64_t row = first_item(); row < batch.rows; row += item_stride()) {
    const EdgeIndex degree = batch.degree(row), where = (before + batch.starts[row]) >> batch.shift;
    if (degree >= RowSlice::one_group || where > 0xFFFFFFFFu) *batch.too_long = 1;
    slices[row] = {static_cast<std::uint32_t>(where),
                   static_cast<std::uint32_t>(degree) | (degree > 0 && degree <= group ? RowSlice::one_group : 0)};
  }
}

/// The last place before which there are no more rows and arcs than multiples of `size`.
__global__ void chunk_starts(const EdgeIndex* offsets, std::uint64_t n, EdgeIndex size, std::uint64_t count,
                             EdgeIndex* starts) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) {
    const auto within = [&](std::uint64_t row) { return offsets[row] + row <= i * size; };
    starts[i]         = i == 0 ? 0 : partition_point(std::uint64_t{1}, n + 1, within) - 1;
  }
}

__global__ void largest_of(const std::uint32_t* values, EdgeIndex count, unsigned* largest) {
  unsigned most = 0;
  for (EdgeIndex i = first_item(); i < count; i += item_stride()) most = values[i] > most ? values[i] : most;
  most = __reduce_max_sync(all_lanes, most);
  if (lane_index() == 0) atomicMax(largest, most);
}

// --- prefixes ---

struct Prefixes {
  CompressedRows rows;  ///< on the host
  std::uint64_t  vertices, words;
  std::uint64_t  groups;  ///< that are prefixes
  Vertex         more_before;

  __device__ std::uint64_t prefix_groups(Vertex v) const { return groups + (v < more_before ? 1 : 0); }
  __device__ std::uint64_t start(Vertex v) const { return std::uint64_t{rows.slices[v].first} << rows.shift; }
  __device__ std::uint64_t end(Vertex v) const { return v + std::uint64_t{1} < vertices ? start(v + 1) : words; }
  __device__ std::uint64_t groups_of(Vertex v) const { return (rows.slices[v].length() + group - 1) / group; }
  /// Words of the head, unaligned; the row is longer.
  __device__ std::uint64_t prefix_words(Vertex v) const {
    const std::uint64_t        prefixes = prefix_groups(v);
    const std::uint32_t* const entry    = rows.code + start(v) + 2 * prefixes;
    return 2 * prefixes + (2 * prefixes + (entry[1] >> Group::where_at) - 2 * groups_of(v));
  }
};

__global__ void measure_prefixes(Prefixes prefixes, EdgeIndex* words) {
  for (std::uint64_t i = first_item(); i <= prefixes.vertices; i += item_stride()) {
    EdgeIndex all = 0;
    if (i < prefixes.vertices) {
      const auto v = static_cast<Vertex>(i);
      if (prefixes.groups_of(v) <= prefixes.prefix_groups(v))
        all = prefixes.end(v) - prefixes.start(v);
      else if (prefixes.prefix_groups(v) > 0)
        all = aligned(prefixes.prefix_words(v), prefixes.rows.shift);
    }
    words[i] = all;
  }
}

/// A warp for every row. `starts` are sums by now.
__global__ void copy_prefixes(Prefixes prefixes, const EdgeIndex* starts, std::uint32_t* code,
                              RowSlice* prefix_slices, RowSlice* tail_slices) {
  deal<WarpTeam>(prefixes.vertices, [&](std::uint64_t i) {
    const auto                 v    = static_cast<Vertex>(i);
    const RowSlice             row  = prefixes.rows.slices[v];
    const std::uint64_t        kept = prefixes.prefix_groups(v), groups = prefixes.groups_of(v);
    const std::uint32_t* const from  = prefixes.rows.code + prefixes.start(v);
    std::uint32_t* const       to    = code + starts[i];
    const auto                 place = static_cast<std::uint32_t>(starts[i] >> prefixes.rows.shift);
    if (groups <= kept) {
      const std::uint64_t words = prefixes.end(v) - prefixes.start(v);
      for (std::uint64_t k = lane_index(); k < words; k += warp_lanes) to[k] = from[k];
      if (lane_index() == 0) prefix_slices[v] = {place, row.edges_and_header}, tail_slices[v] = {row.first, 0};
      return;
    }
    const std::uint64_t words = kept > 0 ? prefixes.prefix_words(v) : 0, nearer = 2 * (groups - kept);
    for (std::uint64_t k = lane_index(); k < words; k += warp_lanes) {
      std::uint32_t word = from[k < 2 * kept ? k : k + nearer];
      if (k < 2 * kept && k % 2 == 1) word -= static_cast<std::uint32_t>(nearer << Group::where_at);
      to[k] = word;
    }
    if (lane_index() != 0) return;
    const auto edges = static_cast<std::uint32_t>(kept * group);
    prefix_slices[v] = {place, edges};
    // A row of one group that stays outside keeps its short header.
    tail_slices[v] = {static_cast<std::uint32_t>(row.first + (2 * kept >> prefixes.rows.shift)),
                      row.edges_and_header - edges};
  });
}

template <class T>
T last_of(Device& device, const DeviceArray<T>& values) {
  T last{};
  device.download(&last, values.data() + values.size() - 1, sizeof(T));
  return last;
}

unsigned weight_bits_of(Device& device, const std::uint32_t* weights, EdgeIndex arcs) {
  DeviceArray<unsigned> largest{device, 1, what_code};
  largest.clear();
  SPILLWAY_LAUNCH(largest_of, blocks_for(arcs), block_threads, weights, arcs, largest.data());
  unsigned most = 0;
  largest.download(&most);
  return std::max(1u, static_cast<unsigned>(std::bit_width(most)));
}

}  // namespace

/// Codes a batch at a time.
class CompressedBlock::Encoder {
 public:
  Encoder(CompressedBlock& block, Device& device, const Rows& from, std::shared_ptr<MemoryBudget> budget)
      : block_(block), device_(device), from_(from), budget_(std::move(budget)), too_long_(device, 1, what_code) {
    too_long_.clear();
    offsets_ = ordered_offsets(device, from.offsets, block.vertices_, *block.order_);
  }

  /// Where batches begin, and the last ends.
  std::vector<EdgeIndex> batches(EdgeIndex arcs, EdgeIndex coding_batch_arcs) {
    const std::uint64_t    count = (arcs + block_.vertices_) / coding_batch_arcs + 1;
    DeviceArray<EdgeIndex> starts{device_, count, what_code};
    SPILLWAY_LAUNCH(chunk_starts, blocks_for(count), block_threads, offsets_.data(), block_.vertices_,
                    coding_batch_arcs, count, starts.data());
    std::vector<EdgeIndex> all(count);
    starts.download(all.data());
    all.push_back(block_.vertices_);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void code(Vertex first, Vertex last) {
    EdgeIndex ends[2];
    device_.download(&ends[0], offsets_.data() + first, sizeof(EdgeIndex));
    device_.download(&ends[1], offsets_.data() + last, sizeof(EdgeIndex));
    const EdgeIndex     arcs = ends[1] - ends[0];
    const std::uint64_t rows = last - first;
    SortedRows          sorted{{device_, arcs, what_code}, {device_, block_.weighted ? arcs : 0, what_code}};
    move_rows(device_, from_, *block_.order_, first, last, offsets_.data(), sorted);

    DeviceArray<EdgeIndex> groups{device_, rows + 1, what_code}, starts{device_, rows + 1, what_code};
    CodingBatch            batch{.rows        = rows,
                                 .offsets     = offsets_.data() + first,
                                 .targets     = sorted.targets.data(),
                                 .weights     = sorted.weights.data(),
                                 .weight_bits = block_.weight_bits_,
                                 .shift       = block_.shift_,
                                 .groups      = groups.data(),
                                 .words       = nullptr,
                                 .starts      = starts.data(),
                                 .shares      = nullptr,
                                 .code        = nullptr,
                                 .too_long    = too_long_.data()};
    SPILLWAY_LAUNCH(count_groups, blocks_for(rows + 1), block_threads, batch, groups.data());
    exclusive_scan(device_, groups);
    const EdgeIndex                 all = last_of(device_, groups);
    DeviceArray<EdgeIndex>          words{device_, all + 1, what_code};
    DeviceArray<unsigned long long> shares{device_, prefix_bins, what_code};
    shares.clear();
    batch.words = words.data(), batch.shares = shares.data();
    SPILLWAY_LAUNCH(measure, blocks_for((all + 1) * warp_lanes), block_threads, batch, all);
    exclusive_scan(device_, words);
    SPILLWAY_LAUNCH(measure_rows, blocks_for(rows + 1), block_threads, batch);
    exclusive_scan(device_, starts);
    const EdgeIndex size = last_of(device_, starts);

    DeviceArray<std::uint32_t> code{device_, size + behind, what_code};
    code.clear();
    batch.code = code.data();
    SPILLWAY_LAUNCH(write_groups, blocks_for(all * warp_lanes), block_threads, batch, all);
    SPILLWAY_LAUNCH(place_rows, blocks_for(rows), block_threads, batch, block_.words_,
                    block_.slices_.data() + first);
    Buffer<std::uint32_t> part{size, budget_, what_code};
    if (size > 0) device_.download(part.data(), code.data(), size * sizeof(std::uint32_t));
    Share share{.last = last, .words = {}};
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    device_.download(share.words, shares.data(), sizeof(share.words));
    block_.shares_.push_back(share);
    block_.words_ += size;
    parts_.push_back(std::move(part));
    unsigned too_long = 0;
    too_long_.download(&too_long);
    if (too_long)
      throw DeviceError{ExitCode::does_not_fit,
                        "a row is too long to be compressed, or there are too many rows; use --compress off"};
  }

  /// All parts as one, for the device to read.
  void finish() {
    block_.code_     = {block_.words_ + behind, budget_, what_code};
    std::uint64_t at = 0;
    for (Buffer<std::uint32_t>& part : parts_) {
      std::uint32_t* const to = block_.code_.data() + at;
      for_each_share(thread_count(0), part.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
        std::copy(part.data() + begin, part.data() + end, to + begin);
      });
      at += part.size();
      part = {};
    }
    block_.readable_ = {block_.code_.data(), block_.code_.size() * sizeof(std::uint32_t), budget_, what_code};
  }

 private:
  CompressedBlock&                   block_;
  Device&                            device_;
  Rows                               from_;
  std::shared_ptr<MemoryBudget>      budget_;
  DeviceArray<unsigned>              too_long_;
  DeviceArray<EdgeIndex>             offsets_;
  std::vector<Buffer<std::uint32_t>> parts_;
};

CompressedBlock::CompressedBlock(Device& device, const Rows& from, std::uint64_t vertices, EdgeIndex arcs,
                                 bool has_weights, std::shared_ptr<const VertexMap> order,
                                 const std::shared_ptr<MemoryBudget>& budget, std::uint64_t coding_batch_arcs)
    : weighted(has_weights), order_(std::move(order)), vertices_(vertices), slices_(device, vertices, what_code) {
  constexpr std::uint64_t bytes_an_arc = 64;  // that compressing a batch holds, about
  if (weighted) weight_bits_ = weight_bits_of(device, from.weights, arcs);
  // Places are counted in units of one word or two; where two are not enough, they are found to be too large.
  if (arcs * (weighted ? 2 : 1) > 0xF0000000u) shift_ = 1;
  Encoder coder{*this, device, from, budget};
  // Prefixes end where a batch does: there are to be some.
  constexpr std::uint64_t usual_chunks = 64, small_chunk = 1u << 22;
  if (coding_batch_arcs == 0)
    coding_batch_arcs = std::max<std::uint64_t>(
        std::min(device.room() / bytes_an_arc, std::max(arcs / usual_chunks, small_chunk)), 1024);
  const std::vector<EdgeIndex> batches = coder.batches(arcs, coding_batch_arcs);
  for (std::size_t i = 0; i + 1 < batches.size(); ++i)
    coder.code(static_cast<Vertex>(batches[i]), static_cast<Vertex>(batches[i + 1]));
  coder.finish();
}

CompressedBlock::Cut CompressedBlock::cut_for(std::uint64_t room) const {
  const std::uint64_t most = room / sizeof(std::uint32_t);
  std::uint64_t       used = 0;
  for (std::uint64_t at = 0; at < prefix_bins; ++at) {
    std::uint64_t all = 0;
    for (const Share& share : shares_) all += share.words[at];
    if (used + all > most || at == prefix_bins - 1) {
      Cut cut{.groups = at};
      for (const Share& share : shares_) {
        if (used + share.words[at] > most || at == prefix_bins - 1) break;
        used += share.words[at];
        cut.more_before = share.last;
      }
      return cut;
    }
    used += all;
  }
  return {};
}

bool CompressedBlock::keep_prefixes(Device& device, std::uint64_t room) {
  if (serve(room_, room)) return false;
  drop_prefixes();
  const std::uint64_t all = (words_ + behind) * sizeof(std::uint32_t);
  if (room >= all) {
    prefixes_ = {device, words_ + behind, what_code};
    prefixes_.upload(code_.data());
    room_ = room;
    return true;
  }
  Cut cut = cut_for(room);
  while ((cut.groups > 0 || cut.more_before > 0) && !take_prefixes(device, cut, room)) {
    if (cut.more_before > 0)
      cut.more_before = 0;
    else
      --cut.groups;
  }
  room_ = room;
  return true;
}

/// False if they are larger than they were thought to be.
bool CompressedBlock::take_prefixes(Device& device, const Cut& cut, std::uint64_t room) {
  const Prefixes         prefixes{.rows = {slices_.data(), readable_.as<std::uint32_t>(), shift_, weight_bits_},
                                  .vertices    = vertices_,
                                  .words       = words_,
                                  .groups      = cut.groups,
                                  .more_before = cut.more_before};
  DeviceArray<EdgeIndex> starts{device, vertices_ + 1, what_code};
  SPILLWAY_LAUNCH(measure_prefixes, blocks_for(vertices_ + 1), block_threads, prefixes, starts.data());
  exclusive_scan(device, starts);
  const EdgeIndex size = last_of(device, starts);
  if ((size + behind) * sizeof(std::uint32_t) > room) return false;
  DeviceArray<std::uint32_t> code{device, size + behind, what_code};
  DeviceArray<RowSlice>      kept{device, vertices_, what_code}, left{device, vertices_, what_code};
  SPILLWAY_LAUNCH(copy_prefixes, blocks_for(vertices_ * warp_lanes), block_threads, prefixes, starts.data(),
                  code.data(), kept.data(), left.data());
  device.wait();
  prefixes_ = std::move(code), prefix_slices_ = std::move(kept), tail_slices_ = std::move(left);
  return true;
}

void CompressedBlock::drop_prefixes() {
  prefixes_ = {}, prefix_slices_ = {}, tail_slices_ = {};
  room_ = no_prefixes;
}

std::vector<CompressedRows> CompressedBlock::parts() const {
  const auto* const host = readable_.as<std::uint32_t>();
  if (prefixes_.size() == 0) return {{slices_.data(), host, shift_, weight_bits_}};
  if (tail_slices_.size() == 0) return {{slices_.data(), prefixes_.data(), shift_, weight_bits_}};
  return {{prefix_slices_.data(), prefixes_.data(), shift_, weight_bits_},
          {tail_slices_.data(), host, shift_, weight_bits_}};
}

}  // namespace spillway::cuda
