#include "engine/cuda/compressed_windows.hpp"

#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/warp.cuh>

namespace spillway::cuda {
namespace {

constexpr auto what_parts = "windows of compressed edges";

/// The rows of a block, and where they begin.
struct RowWords {
  CodedRows        rows;
  const EdgeIndex* offsets;
  std::uint64_t    vertices, words;

  __device__ std::uint64_t word_at(std::uint64_t v) const {
    return v < vertices ? std::uint64_t{rows.pieces[v].first} << rows.shift : words;
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
    std::uint64_t       low = row + 1, high = all.vertices + 1;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      const bool          within = all.word_at(middle) <= words && all.offsets[middle] <= edges;
      (within ? low : high)      = middle;
    }
    row           = low;
    cuts[++parts] = {row, all.offsets[row], all.word_at(row)};
  }
  *count = parts;
}

/// A part of the rows.
struct PartRows {
  std::uint64_t first_row, last_row;
  EdgeIndex     first_edge, last_edge;
};

constexpr EdgeIndex edges_a_warp = 512;
constexpr unsigned  at_once      = 4;  ///< edges of a lane, read together

/// The last row that begins at `edge` or before.
__device__ std::uint64_t row_with(const EdgeIndex* offsets, const PartRows& part, EdgeIndex edge) {
  std::uint64_t low = part.first_row, high = part.last_row;
  while (high - low > 1) {
    const std::uint64_t middle             = low + (high - low) / 2;
    (offsets[middle] <= edge ? low : high) = middle;
  }
  return low;
}

/// 32 rows, one in each lane.
class RowsOfWarp {
 public:
  __device__ RowsOfWarp(const CodedRows& rows, const EdgeIndex* offsets, const PartRows& part, std::uint64_t first,
                        EdgeIndex from)
      : from_(from) {
    const std::uint64_t v = first + lane_index(), behind = first + warp_lanes;
    if (v < part.last_row) piece_ = rows.pieces[v], begin_ = offsets[v];
    // Row sizes are below 2^31, so that what begins before `from` does not matter here.
    start_ = v >= part.last_row ? ~0u : begin_ <= from ? 0 : static_cast<unsigned>(begin_ - from);
    end_   = offsets[behind < part.last_row ? behind : part.last_row];
  }

  /// Where the rows end.
  __device__ EdgeIndex end() const { return end_; }

  /// Where an edge of them is; all lanes must come.
  __device__ CodedRows::Place place(EdgeIndex edge) const {
    const auto at  = static_cast<unsigned>(edge - from_);
    unsigned   row = 0;
#pragma unroll
    for (unsigned step = warp_lanes / 2; step > 0; step /= 2)
      if (__shfl_sync(all_lanes, start_, static_cast<int>(row + step)) <= at) row += step;
    const auto lane = static_cast<int>(row);
    return {{__shfl_sync(all_lanes, piece_.first, lane), __shfl_sync(all_lanes, piece_.edges_and_header, lane)},
            static_cast<std::uint32_t>(edge - __shfl_sync(all_lanes, begin_, lane))};
  }

 private:
  EdgeIndex        from_, end_ = 0;
  CodedRows::Piece piece_{};
  EdgeIndex        begin_ = 0;
  unsigned         start_ = 0;
};

/// Every warp takes as many edges as any other, whatever rows they are of.
template <bool weighted>
__global__ void __launch_bounds__(block_threads, 4)
    decode_part(CodedRows rows, const EdgeIndex* offsets, PartRows part, Vertex* targets, std::uint32_t* weights) {
  const std::uint64_t warp = first_item() / warp_lanes, warps = item_stride() / warp_lanes;
  for (EdgeIndex from = part.first_edge + warp * edges_a_warp; from < part.last_edge;
       from += warps * edges_a_warp) {
    const EdgeIndex end = from + edges_a_warp < part.last_edge ? from + edges_a_warp : part.last_edge;
    std::uint64_t   row = row_with(offsets, part, from);
    for (EdgeIndex at = from; at < end; row += warp_lanes) {
      const RowsOfWarp here{rows, offsets, part, row, at};
      const EdgeIndex  last = here.end() < end ? here.end() : end;
      for (; at < last; at += at_once * warp_lanes) {
        Vertex        found[at_once];
        std::uint32_t weight[at_once];
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
          const EdgeIndex edge  = at + i * warp_lanes + lane_index();
          const auto      place = here.place(edge < last ? edge : last - 1);
          found[i]              = rows.target_ahead(place);
          if constexpr (weighted) weight[i] = rows.weight(place);
        }
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
          const EdgeIndex edge = at + i * warp_lanes + lane_index();
          if (edge >= last) continue;
          targets[edge - part.first_edge] = found[i];
          if constexpr (weighted) weights[edge - part.first_edge] = weight[i];
        }
      }
      at = last;
    }
  }
}

}  // namespace

CompressedWindows::CompressedWindows(Device& device, std::shared_ptr<CodedBlock> block, const EdgeIndex* offsets,
                                     std::uint64_t vertices)
    : device_(device), block_(std::move(block)), offsets_(offsets), vertices_(vertices) {
  DeviceArray<unsigned long long> most{device, 2, what_parts};
  most.clear();
  const RowWords all{block_->rows_at(nullptr), offsets_, vertices_, block_->words()};
  SPILLWAY_LAUNCH(find_longest, blocks_for(vertices_), block_threads, all, most.data(), most.data() + 1);
  unsigned long long found[2];
  most.download(found);
  longest_ = {found[0], found[1]};
}

std::vector<PartCut> CompressedWindows::cut(const PartBounds& bounds) {
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
  kept_ = {device_, words + CodedBlock::words_behind, what_parts};
  kept_.clear();
  device_.upload(kept_.data(), on_host(), words * sizeof(std::uint32_t));
}

void CompressedWindows::decode(std::size_t part, const std::uint32_t* code, const EdgePointers& to) const {
  const PartRows      rows{.first_row  = rows_at_cuts_[part],
                           .last_row   = rows_at_cuts_[part + 1],
                           .first_edge = cuts_[part].edge,
                           .last_edge  = cuts_[part + 1].edge};
  const std::uint64_t warps = (rows.last_edge - rows.first_edge + edges_a_warp - 1) / edges_a_warp;
  // Places of rows count from the block's first word on.
  const CodedRows from = block_->rows_at(code - cuts_[part].word);
  if (to.weights)
    SPILLWAY_LAUNCH(decode_part<true>, blocks_for(warps * warp_lanes), block_threads, from, offsets_, rows,
                    to.targets, to.weights);
  else
    SPILLWAY_LAUNCH(decode_part<false>, blocks_for(warps * warp_lanes), block_threads, from, offsets_, rows,
                    to.targets, to.weights);
}

}  // namespace spillway::cuda
