// Pages are decoded by the warps that their chunks are shared out to, from bytes that lie on the device. Whoever
// wrote a page may have meant harm: nothing outside of it is read, and no edge leads to a vertex that is not
// there.
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

  __device__ Vertex target(const Found& found, std::uint32_t k) const {
    unsigned            n   = k % CompressedRows::group;
    const std::uint32_t low = page.bits(found.words + found.how.unary, n * found.how.low, found.how.low);
    if (found.how.unary == 0) return found.smallest + low;
    const unsigned which = n;
    unsigned       i     = 0;
    std::uint32_t  word  = page.word(found.words);
    for (; i + 1 < found.how.unary; word = page.word(found.words + ++i)) {
      const auto ones = static_cast<unsigned>(__popc(word));
      if (n < ones) break;
      n -= ones;
    }
    return found.smallest + low + ((i * 32 + nth_one(word, n) - which) << found.how.low);
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

  __device__ static unsigned nth_one(unsigned word, unsigned n) {
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

/// What a page has of a chunk, one in each lane.
struct ChunkInPage {
  Record        record = {};
  std::uint32_t first  = 0;  ///< of the record's edges
  std::uint32_t length = 0;
  std::uint32_t to     = 0;
};

template <class Records>
__device__ ChunkInPage chunk_in(const Records& records, const PageBatch& batch, const PageJob& job,
                                std::uint64_t k) {
  if (k >= job.last_chunk) return {};
  const ChunkDescriptor entry = batch.layout.entries[k];
  const EdgeIndex       row = batch.offsets[entry.vertex], row_end = batch.offsets[entry.vertex + 1];
  const EdgeIndex       start = batch.layout.starts[k];
  const EdgeIndex       at    = row + EdgeIndex{entry.chunk} * batch.layout.chunk_edges;
  const EdgeIndex       end   = at + (batch.layout.starts[k + 1] - start);
  const EdgeIndex       first = at < job.first_edge ? job.first_edge : at;
  const EdgeIndex       last  = end < job.last_edge ? end : job.last_edge;
  if (first >= last) return {};
  const EdgeIndex begins = row < job.first_edge ? job.first_edge : row;
  const EdgeIndex ends   = row_end < job.last_edge ? row_end : job.last_edge;
  return {records.record(entry.vertex - job.first_vertex, ends - begins),
          static_cast<std::uint32_t>(first - begins), static_cast<std::uint32_t>(last - first),
          static_cast<std::uint32_t>(start + (first - at) - batch.from)};
}

__device__ std::uint32_t of_lane(std::uint32_t value, unsigned lane) {
  return __shfl_sync(all_lanes, value, static_cast<int>(lane));
}

/// Which lane's chunk has an edge of all.
__device__ unsigned owner(std::uint32_t begin, std::uint32_t edge) {
  unsigned lane = 0;
#pragma unroll
  for (unsigned step = warp_lanes / 2; step > 0; step /= 2)
    if (of_lane(begin, lane + step) <= edge) lane += step;
  return lane;
}

/// A warp has 32 chunks of a page, and walks their edges as one row.
template <class Records, bool weighted>
__global__ void __launch_bounds__(block_threads, 4)
    decode_batch(PageCode code, PageBatch batch, Vertex* targets, std::uint32_t* weights, unsigned* damaged) {
  bool wrong = false;
  for (std::uint64_t team = first_item() / warp_lanes; team < batch.teams; team += item_stride() / warp_lanes) {
    const PageJob job =
        batch.jobs[partition_point(0u, batch.count, [&](unsigned i) { return batch.jobs[i].first_team <= team; }) -
                   1];
    const Records       records{{job.words, code.page_bytes}, code};
    const std::uint64_t k     = job.first_chunk + (team - job.first_team) * warp_lanes + lane_index();
    const ChunkInPage   mine  = chunk_in(records, batch, job, k);
    const std::uint32_t begin = warp_exclusive_sum(mine.length);
    const std::uint32_t total = of_lane(begin + mine.length, warp_lanes - 1);
    for (std::uint32_t at = 0; at < total; at += at_once * warp_lanes) {
      Vertex        to[at_once];
      std::uint32_t by[at_once], place[at_once];
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) {
        const std::uint32_t edge = at + i * warp_lanes + lane_index(), there = edge < total ? edge : total - 1;
        const unsigned      lane  = owner(begin, there);
        const std::uint32_t inner = there - of_lane(begin, lane);
        const Record        record{of_lane(mine.record.at, lane), of_lane(mine.record.edges, lane)};
        place[i] = of_lane(mine.to, lane) + inner;
        by[i]    = 0;
        to[i]    = records.read(record, of_lane(mine.first, lane) + inner, by[i]);
      }
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) {
        if (at + i * warp_lanes + lane_index() >= total) continue;
        const bool is_vertex = to[i] < code.vertices;
        wrong |= !is_vertex;
        targets[place[i]] = is_vertex ? to[i] : 0;
        if constexpr (weighted) weights[place[i]] = by[i];
      }
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
