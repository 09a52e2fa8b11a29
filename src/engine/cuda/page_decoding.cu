// Pages are decoded by warps that share out their edges, from bytes that the device reads. Whoever wrote a page
// may have meant harm: nothing outside of it is read, and no edge leads to a vertex that is not there.
#include <algorithm>

#include "engine/cuda/grid.cuh"
#include "engine/cuda/pages.hpp"

#include <spillway/engine/cuda/rows.cuh>
#include <spillway/engine/cuda/warp.cuh>

namespace spillway::cuda {

PageCode PageCode::of(const store::PageFormat& format) {
  PageCode code{.page_bytes  = format.page_bytes,
                .slot_bytes  = static_cast<std::uint32_t>(format.slot_bytes()),
                .weight_bits = format.weight_bits};
  if (!format.compressed) code.id_page = format.ids.page, code.id_slot = format.ids.slot;
  return code;
}

namespace {

constexpr unsigned at_once = 4;  ///< edges of a lane, read together

/// A page's words; what lies behind them reads as zeros.
class PageWords {
 public:
  __device__ PageWords(const std::uint32_t* words, std::uint32_t bytes) : words_(words), count_(bytes / 4) {}

  __device__ std::uint32_t word(std::uint32_t i) const { return i < count_ ? words_[i] : 0; }

  /// Up to 32 bits from bit `first` behind word `from` on.
  __device__ std::uint32_t bits(std::uint32_t from, std::uint32_t first, unsigned count) const {
    const std::uint32_t at   = from + first / 32;
    const std::uint64_t both = std::uint64_t{word(at)} | std::uint64_t{word(at + 1)} << 32;
    return static_cast<std::uint32_t>((both >> (first % 32)) & ((std::uint64_t{1} << count) - 1));
  }

  /// Up to eight bytes.
  __device__ std::uint64_t bytes(std::uint32_t from, unsigned count) const {
    const std::uint32_t at    = from / 4;
    const unsigned      shift = from % 4 * 8;
    std::uint64_t       value = (std::uint64_t{word(at)} | std::uint64_t{word(at + 1)} << 32) >> shift;
    if (shift > 0) value |= std::uint64_t{word(at + 2)} << (64 - shift);
    return count == 8 ? value : value & ((std::uint64_t{1} << (8 * count)) - 1);
  }

 private:
  const std::uint32_t* words_;
  std::uint32_t        count_;
};

/// The edges that a page has of a row: where its record begins, in words if it is compressed, else in bytes.
struct Record {
  std::uint32_t at = 0, edges = 0;
};

/// Rows as encode_row (store/row_code.hpp) has them.
template <bool weighted>
struct CodedRecords {
  PageWords page;
  PageCode  code;

  using Group = CompressedRows::Group;

  struct Found {
    Group         how;
    Vertex        smallest;
    std::uint32_t words;
  };

  __device__ Record record(std::uint32_t slot, EdgeIndex edges) const {
    const std::uint32_t place =
        static_cast<std::uint32_t>(page.bytes(code.page_bytes - (slot + 1) * code.slot_bytes, code.slot_bytes));
    return {place + 1, static_cast<std::uint32_t>(edges)};  // behind the degree
  }

  __device__ Found find(const Record& record, std::uint32_t k) const {
    const bool          single = record.edges <= CompressedRows::group;
    const std::uint32_t entry  = record.at + (single ? 0 : k / CompressedRows::group * 2);
    const std::uint32_t first = page.word(entry), second = page.word(entry + 1);
    const bool          far = single && (first & Group::far_bit) != 0;
    return {Group::of(single ? first : second),
            single && !far ? first >> Group::target_at
            : far          ? second
                           : first,
            entry + (single ? (far ? 2 : 1) : second >> Group::where_at)};
  }

  /// All words that it may depend on are read at once.
  __device__ Vertex target(const Found& found, std::uint32_t k) const {
    std::uint32_t unary[CompressedRows::most_unary];
    for (unsigned i = 0; i < CompressedRows::most_unary; ++i)
      unary[i] = i < found.how.unary ? page.word(found.words + i) : 0;
    const unsigned      which = k % CompressedRows::group;
    const std::uint32_t low   = page.bits(found.words + found.how.unary, which * found.how.low, found.how.low);
    if (found.how.unary == 0) return found.smallest + low;
    return found.smallest + low + ((CompressedRows::nth_one_of(unary, which) - which) << found.how.low);
  }

  __device__ std::uint32_t weight(const Found& found, const Record& record, std::uint32_t k) const {
    const std::uint32_t left  = record.edges - k / CompressedRows::group * CompressedRows::group;
    const unsigned      count = left < CompressedRows::group ? left : CompressedRows::group;
    return page.bits(found.words + found.how.unary + found.how.low_words(count),
                     k % CompressedRows::group * code.weight_bits, code.weight_bits);
  }

  __device__ Vertex read(const Record& record, std::uint32_t k, std::uint32_t& by) const {
    const Found found = find(record, k);
    if constexpr (weighted) by = weight(found, record, k);
    return target(found, k);
  }
};

/// Record ids, which the table of pages turns into vertices (appendix A of the paper).
template <bool weighted>
struct PlainRecords {
  PageWords page;
  PageCode  code;

  static constexpr std::uint32_t degree_bytes = 4, place_bytes = 4;

  __device__ std::uint32_t id_bytes() const { return code.id_page + code.id_slot; }

  __device__ Record record(std::uint32_t slot, EdgeIndex edges) const {
    const std::uint32_t at = code.page_bytes - (slot + 1) * code.slot_bytes;
    return {static_cast<std::uint32_t>(page.bytes(at + id_bytes(), place_bytes)) + degree_bytes,
            static_cast<std::uint32_t>(edges)};
  }

  __device__ Vertex read(const Record& record, std::uint32_t k, std::uint32_t& by) const {
    const std::uint64_t id   = page.bytes(record.at + k * id_bytes(), id_bytes());
    const std::uint64_t to   = id & ((std::uint64_t{1} << (8 * code.id_page)) - 1);
    const std::uint64_t slot = id >> (8 * code.id_page);
    if constexpr (weighted)
      by = static_cast<std::uint32_t>(page.bytes(record.at + record.edges * id_bytes() + k * 4, 4));
    const std::uint64_t target = to < code.pages ? code.starts[to] + slot : code.vertices;
    return target < code.vertices ? static_cast<Vertex>(target) : ~Vertex{0};
  }
};

/// What a page has of 32 chunks, one in each lane; places count from the page's first edge on. All lanes must come
/// wherever they are asked.
template <class Records>
class ChunksOfWarp {
 public:
  __device__ ChunksOfWarp(const Records& records, const PageBatch& batch, const PageJob& job,
                          std::uint64_t first) {
    const std::uint64_t k = first + lane_index();
    begin_ = end_ = job.places();
    if (k >= job.last_chunk) return;
    const EdgeIndex start = batch.layout.starts[k], end = batch.layout.starts[k + 1];
    begin_ = job.place_of(start);
    end_   = job.place_of(end);
    if (begin_ == end_) return;
    const ChunkDescriptor entry = batch.layout.entries[k];
    const EdgeIndex       row = batch.offsets[entry.vertex], row_end = batch.offsets[entry.vertex + 1];
    const EdgeIndex       begins = row < job.first_edge ? job.first_edge : row;
    const EdgeIndex       ends   = row_end < job.last_edge ? row_end : job.last_edge;
    record_                      = records.record(entry.vertex - job.first_vertex, ends - begins);
    skip_ = static_cast<std::uint32_t>(row + EdgeIndex{entry.chunk} * batch.layout.chunk_edges - begins -
                                       (start - job.first_place));
  }

  /// Where the chunks end.
  __device__ unsigned end() const { return of(end_, warp_lanes - 1); }

  /// Whose chunk has the edge at a place.
  __device__ unsigned lane_of(unsigned place) const {
    unsigned lane = 0;
#pragma unroll
    for (unsigned step = warp_lanes / 2; step > 0; step /= 2)
      if (of(begin_, lane + step) <= place) lane += step;
    return lane;
  }
  __device__ Record record_of(unsigned lane) const { return {of(record_.at, lane), of(record_.edges, lane)}; }
  /// What to add to a place for that of the edge in its record.
  __device__ std::uint32_t skip_of(unsigned lane) const { return of(skip_, lane); }

 private:
  __device__ static std::uint32_t of(std::uint32_t value, unsigned lane) {
    return __shfl_sync(all_lanes, value, static_cast<int>(lane));
  }

  Record        record_ = {};
  std::uint32_t begin_ = 0, end_ = 0;
  std::uint32_t skip_ = 0;  ///< modulo 2^32
};

/// What a lane has decoded.
template <bool weighted>
struct Decoded {
  Vertex        targets[at_once];
  std::uint32_t weights[weighted ? at_once : 1];

  template <class Records>
  __device__ void read(const Records& records, unsigned i, const Record& record, std::uint32_t k) {
    std::uint32_t by = 0;
    targets[i]       = records.read(record, k, by);
    if constexpr (weighted) weights[i] = by;
  }
};

constexpr unsigned edges_at_once = at_once * warp_lanes;

/// The edges from `at` to before `stop`.
template <bool weighted, class Records>
__device__ Decoded<weighted> decoded_at(const Records& records, const ChunksOfWarp<Records>& chunks, unsigned at,
                                        unsigned stop) {
  Decoded<weighted> decoded;
  const auto        place = [&](unsigned i) {
    const unsigned mine = at + i * warp_lanes + lane_index();
    return mine < stop ? mine : stop - 1;
  };
  const unsigned      lane   = chunks.lane_of(at);
  const Record        record = chunks.record_of(lane);
  const std::uint32_t skip   = chunks.skip_of(lane);
  if (chunks.record_of(chunks.lane_of(stop - 1)).at == record.at) {  // of hubs, nearly always
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) decoded.read(records, i, record, place(i) + skip);
    return decoded;
  }
#pragma unroll
  for (unsigned i = 0; i < at_once; ++i) {
    const unsigned its = chunks.lane_of(place(i));
    decoded.read(records, i, chunks.record_of(its), place(i) + chunks.skip_of(its));
  }
  return decoded;
}

/// Warps have as many edges as one another, whatever rows they are of.
template <class Records, bool weighted>
__global__ void __launch_bounds__(block_threads, 4)
    decode_batch(PageCode code, PageBatch batch, Vertex* targets, std::uint32_t* weights, unsigned* damaged) {
  bool wrong = false;
  for (std::uint64_t team = first_item() / warp_lanes; team < batch.teams; team += item_stride() / warp_lanes) {
    const PageJob job =
        batch.jobs[partition_point(0u, batch.count, [&](unsigned i) { return batch.jobs[i].first_team <= team; }) -
                   1];
    const Records   records{{job.words, code.page_bytes}, code};
    const unsigned  from = static_cast<unsigned>(team - job.first_team) * PageJob::edges_a_team;
    const unsigned  end  = std::min(from + PageJob::edges_a_team, job.places());
    const EdgeIndex to   = job.first_place - batch.from;
    std::uint64_t   k    = partition_point(job.first_chunk + 1, job.last_chunk,
                                           [&](std::uint64_t chunk) {
                                        return batch.layout.starts[chunk] <= job.first_place + from;
                                      }) -
                      1;
    for (unsigned at = from; at < end; k += warp_lanes) {
      const ChunksOfWarp<Records> chunks{records, batch, job, k};
      const unsigned              last = std::min(chunks.end(), end);
      for (; at < last; at += edges_at_once) {
        const unsigned stop    = std::min(at + edges_at_once, last);
        const auto     decoded = decoded_at<weighted>(records, chunks, at, stop);
#pragma unroll
        for (unsigned i = 0; i < at_once; ++i) {
          const unsigned place = at + i * warp_lanes + lane_index();
          if (place >= stop) continue;
          const bool is_vertex = decoded.targets[i] < code.vertices;
          wrong |= !is_vertex;
          targets[to + place] = is_vertex ? decoded.targets[i] : 0;
          if constexpr (weighted) weights[to + place] = decoded.weights[i];
        }
      }
      at = last;
    }
  }
  if (wrong) *damaged = 1;
}

}  // namespace

void decode_pages(const PageCode& code, const PageBatch& batch, Vertex* targets, std::uint32_t* weights,
                  unsigned* damaged) {
  const unsigned blocks = blocks_for(batch.teams * warp_lanes);
  const auto     launch = [&](auto kernel) {
    SPILLWAY_LAUNCH(kernel, blocks, block_threads, code, batch, targets, weights, damaged);
  };
  if (code.id_page == 0)
    weights ? launch(decode_batch<CodedRecords<true>, true>) : launch(decode_batch<CodedRecords<false>, false>);
  else
    weights ? launch(decode_batch<PlainRecords<true>, true>) : launch(decode_batch<PlainRecords<false>, false>);
}

}  // namespace spillway::cuda
