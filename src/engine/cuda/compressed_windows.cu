#include "engine/cuda/compressed_windows.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/warp.cuh>

namespace spillway::cuda {
namespace {

constexpr auto what_parts = "windows of compressed edges";

/// The rows of a block, and where they begin.
struct RowWords {
  CompressedRows   rows;
  const EdgeIndex* offsets;
  std::uint64_t    vertices, words;

  __device__ std::uint64_t word_at(std::uint64_t v) const {
    return v < vertices ? std::uint64_t{rows.slices[v].first} << rows.shift : words;
  }
};

__global__ void find_longest(RowWords all, unsigned long long* words, unsigned long long* edges) {
  unsigned long long most_words = 0, most_edges = 0;
  for (std::uint64_t v = first_item(); v < all.vertices; v += item_stride()) {
    const unsigned long long words_here = all.word_at(v + 1) - all.word_at(v);
    const unsigned long long edges_here = all.offsets[v + 1] - all.offsets[v];
    if (words_here > most_words) most_words = words_here;
    if (edges_here > most_edges) most_edges = edges_here;
  }
  atomicMax(words, most_words);
  atomicMax(edges, most_edges);
}

struct CutAt {
  std::uint64_t row, edge, word;
};

/// One thread: where a part ends depends on where it begins.
__global__ void cut_parts(RowWords all, PartBounds bounds, std::uint64_t most, CutAt* cuts,
                          unsigned long long* count) {
  std::uint64_t parts = 0, row = 0;
  cuts[0] = {0, 0, 0};
  while (row < all.vertices && parts + 1 < most) {
    const std::uint64_t words = all.word_at(row) + bounds.words, edges = all.offsets[row] + bounds.edges;
    const auto within = [&](std::uint64_t end) { return all.word_at(end) <= words && all.offsets[end] <= edges; };
    row               = partition_point(row + 2, all.vertices + 1, within) - 1;
    cuts[++parts]     = {row, all.offsets[row], all.word_at(row)};
  }
  *count = parts;
}

/// A part of the rows. Its edges are counted from its first one on, in 32 bits.
struct PartRows {
  std::uint64_t first_row, last_row;
  EdgeIndex     first_edge;
  unsigned      edges;
};

constexpr EdgeIndex most_edges_of_part = EdgeIndex{1} << 31;

constexpr unsigned edges_a_warp = 512;
constexpr unsigned at_once      = 4;  ///< edges of a lane, read together
constexpr unsigned batch        = at_once * warp_lanes;

/// The last row that begins at `edge` or before.
__device__ std::uint64_t row_with(const EdgeIndex* offsets, const PartRows& part, unsigned edge) {
  const EdgeIndex at = part.first_edge + edge;
  return partition_point(part.first_row + 1, part.last_row, [&](std::uint64_t v) { return offsets[v] <= at; }) - 1;
}

/// 32 rows, one in each lane. All lanes must come wherever they are asked.
class RowsOfWarp {
 public:
  __device__ RowsOfWarp(const CompressedRows& rows, const EdgeIndex* offsets, const PartRows& part,
                        std::uint64_t first) {
    const std::uint64_t v  = first + lane_index();
    const bool          is = v < part.last_row;
    if (is) slice_ = rows.slices[v];
    begin_ = is ? static_cast<unsigned>(offsets[v] - part.first_edge) : part.edges;
    end_   = is ? static_cast<unsigned>(offsets[v + 1] - part.first_edge) : part.edges;
  }

  /// Where the rows end.
  __device__ unsigned end() const { return of(end_, warp_lanes - 1); }

  /// Which of them has an edge.
  __device__ unsigned row_of(unsigned edge) const {
    unsigned row = 0;
#pragma unroll
    for (unsigned step = warp_lanes / 2; step > 0; step /= 2)
      if (of(begin_, row + step) <= edge) row += step;
    return row;
  }
  __device__ unsigned begin_of(unsigned row) const { return of(begin_, row); }
  __device__ unsigned end_of(unsigned row) const { return of(end_, row); }
  __device__ CompressedRows::RowSlice slice_of(unsigned row) const {
    return {of(slice_.first, row), of(slice_.edges_and_header, row)};
  }

 private:
  __device__ static unsigned of(unsigned value, unsigned lane) {
    return __shfl_sync(all_lanes, value, static_cast<int>(lane));
  }

  CompressedRows::RowSlice slice_{};
  unsigned                 begin_ = 0, end_ = 0;
};

/// What a lane has decoded of a batch.
template <bool weighted>
struct Decoded {
  Vertex        targets[at_once];
  std::uint32_t weights[weighted ? at_once : 1];

  __device__ void read(const CompressedRows& rows, unsigned i, const CompressedRows::Place& place) {
    targets[i] = rows.target_ahead(place);
    if constexpr (weighted) weights[i] = rows.weight(place);
  }
};

/// The edges from `at` to before `last`, at most a batch, of rows that a warp has.
template <bool weighted>
__device__ Decoded<weighted> decoded_batch(const CompressedRows& rows, const RowsOfWarp& here, unsigned at,
                                           unsigned last) {
  Decoded<weighted> decoded;
  const unsigned    row   = here.row_of(at);
  const unsigned    begin = here.begin_of(row);
  const auto        edge  = [&](unsigned i) {
    const unsigned mine = at + i * warp_lanes + lane_index();
    return mine < last ? mine : last - 1;
  };
  if (here.end_of(row) >= last) {  // of hubs, nearly always
    const CompressedRows::RowSlice slice = here.slice_of(row);
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) decoded.read(rows, i, {slice, edge(i) - begin});
    return decoded;
  }
#pragma unroll
  for (unsigned i = 0; i < at_once; ++i) {
    const unsigned mine = edge(i), its = here.row_of(mine), first = here.begin_of(its);
    decoded.read(rows, i, {here.slice_of(its), mine - first});
  }
  return decoded;
}

/// Every warp takes as many edges as any other, whatever rows they are of.
template <bool weighted>
__global__ void __launch_bounds__(block_threads, 4)
    decode_part(CompressedRows rows, const EdgeIndex* offsets, PartRows part, Vertex* targets,
                std::uint32_t* weights) {
  const std::uint64_t warp = first_item() / warp_lanes, warps = item_stride() / warp_lanes;
  for (std::uint64_t chunk = warp; chunk * edges_a_warp < part.edges; chunk += warps) {
    const auto     from = static_cast<unsigned>(chunk * edges_a_warp);
    const unsigned end  = part.edges - from < edges_a_warp ? part.edges : from + edges_a_warp;
    std::uint64_t  row  = row_with(offsets, part, from);
    for (unsigned at = from; at < end; row += warp_lanes) {
      const RowsOfWarp here{rows, offsets, part, row};
      const unsigned   rows_end = here.end(), last = rows_end < end ? rows_end : end;
      for (; at < last; at += batch) {
        const unsigned stop    = last - at < batch ? last : at + batch;
        const auto     decoded = decoded_batch<weighted>(rows, here, at, stop);
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
          const unsigned edge = at + i * warp_lanes + lane_index();
          if (edge >= stop) continue;
          targets[edge] = decoded.targets[i];
          if constexpr (weighted) weights[edge] = decoded.weights[i];
        }
      }
      at = last;
    }
  }
}

}  // namespace

CompressedWindows::CompressedWindows(Device& device, std::shared_ptr<CompressedBlock> block,
                                     const EdgeIndex* offsets, std::uint64_t vertices)
    : device_(device), block_(std::move(block)), offsets_(offsets), vertices_(vertices) {
  DeviceArray<unsigned long long> most{device, 2, what_parts};
  most.clear();
  const RowWords all{block_->rows_at(nullptr), offsets_, vertices_, block_->words()};
  SPILLWAY_LAUNCH(find_longest, blocks_for(vertices_), block_threads, all, most.data(), most.data() + 1);
  unsigned long long found[2];
  most.download(found);
  longest_ = {found[0], found[1]};
}

std::vector<PartCut> CompressedWindows::cut(PartBounds bounds) {
  bounds.edges    = std::min(bounds.edges, most_edges_of_part);
  EdgeIndex edges = 0;
  device_.download(&edges, offsets_ + vertices_, sizeof(edges));
  // Any two that follow one another are beyond the bounds together.
  const std::uint64_t             most = 2 * (block_->words() / bounds.words + edges / bounds.edges) + 4;
  DeviceArray<CutAt>              cuts{device_, most, what_parts};
  DeviceArray<unsigned long long> counted{device_, 1, what_parts};
  const RowWords                  all{block_->rows_at(nullptr), offsets_, vertices_, block_->words()};
  SPILLWAY_LAUNCH(cut_parts, 1, 1, all, bounds, most, cuts.data(), counted.data());
  unsigned long long count = 0;
  counted.download(&count);
  std::vector<CutAt> found(count + 1);
  device_.download(found.data(), cuts.data(), found.size() * sizeof(CutAt));
  if (found.back().row != vertices_) throw internal_error("not all rows are in a part");
  cuts_.clear(), rows_at_cuts_.clear();
  std::vector<EdgeIndex> at_cuts;
  for (const CutAt& cut : found) {
    cuts_.push_back({cut.edge, cut.word});
    rows_at_cuts_.push_back(static_cast<Vertex>(cut.row));
    at_cuts.push_back(cut.edge);
  }
  edges_at_cuts_ = {device_, at_cuts.size(), what_parts};
  edges_at_cuts_.upload(at_cuts.data());
  device_.wait();
  return cuts_;
}

void CompressedWindows::keep(std::uint64_t words) {
  if (words == 0) return;
  kept_ = {device_, words + CompressedBlock::words_behind, what_parts};
  kept_.clear();
  device_.upload(kept_.data(), on_host(), words * sizeof(std::uint32_t));
}

void CompressedWindows::decode(std::size_t part, const std::uint32_t* code, const EdgePointers& to) const {
  const PartRows      rows{.first_row  = rows_at_cuts_[part],
                           .last_row   = rows_at_cuts_[part + 1],
                           .first_edge = cuts_[part].edge,
                           .edges      = static_cast<unsigned>(cuts_[part + 1].edge - cuts_[part].edge)};
  const std::uint64_t warps = (rows.edges + edges_a_warp - 1) / edges_a_warp;
  // Places of rows count from the block's first word on.
  const CompressedRows from = block_->rows_at(code - cuts_[part].word);
  if (to.weights)
    SPILLWAY_LAUNCH(decode_part<true>, blocks_for(warps * warp_lanes), block_threads, from, offsets_, rows,
                    to.targets, to.weights);
  else
    SPILLWAY_LAUNCH(decode_part<false>, blocks_for(warps * warp_lanes), block_threads, from, offsets_, rows,
                    to.targets, to.weights);
}

}  // namespace spillway::cuda
