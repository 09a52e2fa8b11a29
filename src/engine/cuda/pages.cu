// Edges that rest in pages on disk and stream past a GPU (GTS): state stays on the device, or a chunk of it at a
// time, pages come through pinned memory, and a cache on the device keeps what fits.
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.hpp"
#include "engine/cuda/event.hpp"
#include "engine/cuda/pages.hpp"
#include "engine/cuda/staging.hpp"
#include "engine/cuda/supplies.hpp"
#include "engine/cuda/window_parts.hpp"
#include "supply/methods.hpp"
#include "supply/page_stream.hpp"
#include "supply/residency.hpp"

#include <spillway/engine/cuda/device_trace.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>
#include <spillway/trace.hpp>

namespace spillway::cuda {
namespace {

constexpr auto what_pages = "pages of edges";
constexpr auto what_state = "the state of the vertices and pages of edges";

/// Host memory that the bus reads at its full speed, as long as this lives. Where that is refused, copies are
/// slower.
class PinnedRange {
 public:
  PinnedRange() = default;
  PinnedRange(std::span<std::byte> memory, Progress* progress) {
    if (memory.empty()) return;
    // By all threads, a part after the other; pinning would ask for one page after the other.
    constexpr std::uint64_t part = 256u << 20;
    for (std::uint64_t at = 0; at < memory.size(); at += part) {
      if (progress) check_cancelled(*progress);
      touch_pages(memory.subspan(at, std::min<std::uint64_t>(part, memory.size() - at)), thread_count(0));
    }
    constexpr unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (cudaHostRegister(memory.data(), memory.size(), flags) == cudaSuccess) {
      memory_     = memory.data();
      void* there = nullptr;
      if (cudaHostGetDevicePointer(&there, memory_, 0) == cudaSuccess) on_device_ = static_cast<std::byte*>(there);
    }
    cudaGetLastError();
  }
  PinnedRange(PinnedRange&& other) noexcept { swap(other); }
  PinnedRange& operator=(PinnedRange&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedRange() {
    if (memory_) cudaHostUnregister(memory_);
  }

  /// Where the device reads what the host has there; null: it cannot.
  const std::uint32_t* on_device(const std::byte* there) const {
    if (!there || !on_device_) return nullptr;
    return reinterpret_cast<const std::uint32_t*>(on_device_ + (there - memory_));
  }

 private:
  void swap(PinnedRange& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(on_device_, other.on_device_);
  }

  std::byte *memory_ = nullptr, *on_device_ = nullptr;
};

/// How device memory is shared out.
struct PageSizes {
  unsigned      streams     = 1;  ///< batches of pages under way
  std::uint64_t batch_pages = 1;  ///< that are sent…
  std::uint64_t batch_jobs  = 1;  ///< …and all that are decoded at once
  EdgeIndex     decoded     = 0;  ///< edges of a batch, at most
  std::uint64_t cached      = 0;  ///< pages that stay

  /// Host memory for what kernels are told of pages.
  std::uint64_t staged_bytes() const { return streams * batch_jobs * sizeof(PageJob); }
};

/// Pages on their way to the device, and there.
struct Batch {
  Batch(Device& device, const PageSizes& sizes, std::uint64_t page_bytes)
      : memory(device, sizes.batch_pages * page_bytes / sizeof(std::uint32_t), what_pages),
        jobs(device, sizes.batch_jobs, what_pages),
        staged_jobs(sizes.batch_jobs * sizeof(PageJob)) {}

  Stream                           stream;
  Event                            arrived, decoded;
  DeviceArray<std::uint32_t>       memory;
  DeviceArray<PageJob>             jobs;
  PinnedMemory                     staged_jobs;  ///< from where they are copied
  std::vector<PageStream::RawPage> held   = {};
  PageStream*                      source = nullptr;
};

/// Which pages lie on the device, and where. What is said of an iteration is said before any page of it moves.
class DevicePageCache {
 public:
  DevicePageCache() = default;
  DevicePageCache(Device& device, std::uint64_t slots, std::uint64_t page_words, std::uint64_t pages,
                  PageCache policy)
      : memory_(device, slots * page_words, what_pages),
        page_words_(page_words),
        policy_(policy),
        slot_of_(pages, none),
        page_in_(slots, none),
        used_(slots) {}

  std::uint64_t bytes() const { return memory_.size() * sizeof(std::uint32_t); }
  /// Pages that come to stay here, for good.
  std::uint64_t keeps() const { return policy_ == PageCache::first ? page_in_.size() : 0; }
  bool          has_room() const { return filled_ < page_in_.size(); }

  /// Where a page is, from now on among those that were used last; null: it is not there.
  std::uint32_t* find(std::uint64_t page) {
    if (page_in_.empty() || slot_of_[page] == none) return nullptr;
    touch(slot_of_[page]);
    return at(slot_of_[page]);
  }
  /// A place for one that is not there, perhaps another's; null: it does not stay.
  std::uint32_t* place(std::uint64_t page) {
    if (!has_room() && (policy_ == PageCache::first || page_in_.empty())) return nullptr;
    const std::uint64_t slot = has_room() ? filled_++ : order_.front();
    if (page_in_[slot] != none) slot_of_[page_in_[slot]] = none;
    page_in_[slot] = page, slot_of_[page] = slot;
    touch(slot);
    return at(slot);
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint32_t* at(std::uint64_t slot) const { return memory_.data() + slot * page_words_; }
  void           touch(std::uint64_t slot) {
              if (policy_ == PageCache::first) return;
    if (used_[slot]) order_.erase(*used_[slot]);
    used_[slot] = order_.insert(order_.end(), slot);
  }

  using Order = std::list<std::uint64_t>;

  DeviceArray<std::uint32_t>                  memory_;
  std::uint64_t                               page_words_ = 0, filled_ = 0;
  PageCache                                   policy_ = PageCache::first;
  std::vector<std::uint64_t>                  slot_of_, page_in_;
  Order                                       order_;  ///< of slots, the one that was used longest ago first
  std::vector<std::optional<Order::iterator>> used_;
};

/// One block of rows.
struct PagedSide {
  const store::PagedRows*     rows = nullptr;
  std::unique_ptr<PageStream> stream;
  PinnedRange                 ring, kept;
  PageCode                    code;
  const EdgeIndex*            offsets = nullptr;  ///< on the device
  DeviceArray<EdgeIndex>      cuts;               ///< the first edge of each page, and the end of the last
  DeviceArray<Vertex>         starts;
  DeviceArray<PartAt>         parts;  ///< of each page, among the chunks that are laid out
  std::vector<PartAt>         laid;   ///< the same, for the host
  DevicePageCache             cache;

  const store::PageTable& table() const { return rows->table(); }
  std::uint64_t           page_words() const { return table().format().page_bytes / sizeof(std::uint32_t); }

  /// What a page has of the active rows is so little that the device reads just that where the host keeps it,
  /// rather than having the page sent. A chunk is a header and its code, about three sectors of 32 bytes; what is
  /// read in place comes at two thirds of the rate (`Rates`), and shorter reads at less. Neither was measured by
  /// itself.
  bool reads_little(std::uint64_t page) const {
    constexpr double sectors = 96, sent_faster = 0.5;
    const EdgeRange  all    = table().edges(page);
    const double     bytes  = table().format().page_bytes;
    const auto       edges  = static_cast<double>(laid[page + 1].edges - laid[page].edges);
    const auto       chunks = static_cast<double>(laid[page + 1].chunks - laid[page].chunks + 1);
    return edges * bytes / static_cast<double>(all.last - all.first) + chunks * sectors < sent_faster * bytes;
  }
};

class GpuPages final : public EdgeSupply {
 public:
  GpuPages(Device& device, std::vector<PagedSide> sides, const PageSizes& sizes, const ProgramFacts& facts,
           bool pulls, const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
      : sides_(std::move(sides)),
        sizes_(sizes),
        everyone_(facts.all_active),
        pulls_(pulls),
        policy_(options.cuda.page_cache),
        decoded_(device, sizes.decoded, facts.weighted),
        damaged_(device, 1, what_pages),
        trace_(options.trace),
        staged_(budget, what_pages) {
    staged_.raise_to(sizes.staged_bytes());
    std::uint64_t page_bytes = 0;
    for (const PagedSide& side : sides_)
      page_bytes = std::max<std::uint64_t>(page_bytes, side.table().format().page_bytes);
    for (unsigned i = 0; i < sizes.streams && !sides_.empty(); ++i)
      batches_.push_back(std::make_unique<Batch>(device, sizes, page_bytes));
    damaged_.clear();
  }
  ~GpuPages() override { wait_for_streams(); }

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor& executor, Direction, IterationStatistics& made, RunStatistics& statistics) override {
    executor_               = &executor;
    kernels_                = &dynamic_cast<WindowKernels&>(executor);
    made.transfer           = "kept";
    statistics.state_chunks = kernels_->state_chunks();
    for (std::uint64_t chunk = 0; chunk < kernels_->state_chunks(); ++chunk) {
      if (kernels_->state_chunks() > 1) kernels_->receive(chunk);
      for (PagedSide& side : sides_) try {
          if (chunk == 0 || sides_.size() > 1) lay_out(side);
          bring(side, made, statistics);
        } catch (...) {
          wait_for_streams();  // they read what the run gives back
          side.stream->end();
          throw;
        }
      if (kernels_->state_chunks() > 1) kernels_->received();
    }
    refuse_damage();
    if (trace_) trace_.flush();
    return {};  // is counted on the device
  }

  void complete(RunStatistics& statistics) const override {
    for (const PagedSide& side : sides_) {
      statistics.compressed |= side.table().format().compressed;
      statistics.page_io = side.stream->reader();
    }
  }

 private:
  struct Wanted {
    std::uint64_t        page;
    const std::uint32_t* words;         ///< where the device has it or reads it; null: it is to be sent
    std::uint32_t*       to = nullptr;  ///< where it is to stay then; null: it does not
  };

  void bring(PagedSide& side, IterationStatistics& made, RunStatistics& statistics) {
    std::vector<Wanted>        wanted;
    std::vector<std::uint64_t> missing;
    std::vector<bool>          stay_there;  // of those missing: the host need not keep what the device does
    std::uint64_t              in_place = 0;
    for (std::uint64_t i = 0; i < side.table().size(); ++i) {
      if (side.laid[i].edges == side.laid[i + 1].edges) continue;
      Wanted& page = wanted.emplace_back(i, side.cache.find(i));
      if (page.words) continue;
      if (!side.cache.has_room() && side.reads_little(i))
        page.words = side.kept.on_device(side.stream->kept_page(i));
      if (page.words) {
        ++in_place;
        continue;
      }
      missing.push_back(i);
      page.to = side.cache.place(i);
      stay_there.push_back(page.to != nullptr && side.cache.keeps() > 0);
    }
    const std::uint64_t read = side.stream->pages_read(), bytes = side.table().format().page_bytes;
    side.stream->begin(missing, {}, std::move(stay_there));
    for (std::uint64_t first = 0; first < wanted.size();) {
      const std::uint64_t last = batch_end(side, wanted, first);
      bring_batch(side, std::span<const Wanted>{wanted}.subspan(first, last - first));
      first = last;
    }
    for (const auto& batch : batches_) release(*batch);
    side.stream->end();
    const std::uint64_t from_disk = (side.stream->pages_read() - read) * bytes;
    made.windows += wanted.size();
    made.pages_hit += wanted.size() - missing.size() - in_place;
    made.bytes_sent += missing.size() * bytes;
    made.bytes_read += from_disk;
    statistics.bytes_sent += missing.size() * bytes;
    statistics.bytes_read += from_disk;
    statistics.pages_wanted += wanted.size();
    statistics.pages_sent += missing.size();
    statistics.pages_in_place += in_place;
    statistics.pages_read += from_disk / bytes;
    if (in_place > 0) made.transfer = "in place";
    if (!missing.empty()) made.transfer = from_disk > 0 ? "pages" : "sent";
  }

  /// Which chunks and edges of active rows each page has. Where all are active it is the same in every iteration.
  void lay_out(PagedSide& side) {
    if (everyone_ && laid_side_ == &side) return;
    kernels_->lay_out({.offsets    = side.offsets,
                       .everyone   = everyone_,
                       .part_edges = 0,
                       .parts      = side.parts.data(),
                       .part_count = side.table().size(),
                       .cuts       = side.cuts.data()});
    side.laid.resize(side.table().size() + 1);
    side.parts.download(side.laid.data());
    layout_       = kernels_->laid();
    layout_.count = side.laid.back().chunks;
    laid_side_    = &side;
  }

  std::uint64_t batch_end(const PagedSide& side, const std::vector<Wanted>& wanted, std::uint64_t first) const {
    const EdgeIndex                          from = side.laid[wanted[first].page].edges;
    std::uint64_t                            last = first, sent = 0;
    std::unordered_set<const std::uint32_t*> used;  // places of those that were used last, which others take
    do {
      const Wanted& page = wanted[last];
      if (!page.words && ++sent > sizes_.batch_pages) break;
      if (policy_ == PageCache::lru && (page.words || page.to) &&
          !used.insert(page.words ? page.words : page.to).second)
        break;
      ++last;
    } while (last < wanted.size() && last - first < sizes_.batch_jobs &&
             side.laid[wanted[last].page + 1].edges - from <= sizes_.decoded);
    return last;
  }

  void bring_batch(PagedSide& side, std::span<const Wanted> pages) {
    Batch& batch = *batches_[turn_++ % batches_.size()];
    release(batch);
    batch.arrived.wait();  // its jobs before have been copied
    batch.source = side.stream.get();
    batch.decoded.make_wait(batch.stream);  // what was there before
    if (policy_ == PageCache::lru) wait_for_places(batch, pages);
    auto* const   jobs  = batch.staged_jobs.as<PageJob>();
    std::uint64_t teams = 0, place = 0;
    Copies        copies{*this, batch};
    for (std::uint64_t i = 0; i < pages.size(); ++i) {
      const auto [page, there, to] = pages[i];
      jobs[i] = job(side, page, there ? there : sent(side, page, to, batch, place, copies), teams);
      teams += jobs[i].teams();
    }
    copies.flush();
    check(cudaMemcpyAsync(batch.jobs.data(), jobs, pages.size() * sizeof(PageJob), cudaMemcpyHostToDevice,
                          batch.stream),
          "sending pages");
    batch.arrived.record(batch.stream);
    batch.arrived.make_wait(nullptr);
    visit(side, batch, pages, teams);
  }

  /// Pages that were used last take the places of others, which must have been decoded.
  void wait_for_places(Batch& batch, std::span<const Wanted> pages) {
    std::unordered_set<Batch*> users;
    for (const Wanted& page : pages) {
      const std::uint32_t* const place = page.to ? page.to : page.words;
      Batch*&                    user  = users_[place];
      if (page.to && user && user != &batch) users.insert(user);
      user = &batch;
    }
    for (Batch* const user : users) user->decoded.make_wait(batch.stream);
  }

  /// Copies of pages that lie side by side here and there, as one.
  class Copies {
   public:
    Copies(GpuPages& pages, Batch& batch) : pages_(pages), batch_(batch) {}

    void add(std::uint32_t* to, const std::byte* from, std::uint64_t bytes) {
      if (bytes_ > 0 && from_ + bytes_ == from &&
          reinterpret_cast<std::byte*>(to_) + bytes_ == reinterpret_cast<std::byte*>(to)) {
        bytes_ += bytes;
        return;
      }
      flush();
      to_ = to, from_ = from, bytes_ = bytes;
    }

    void flush() {
      if (bytes_ == 0) return;
      pages_.trace_.around(Track::to_device, "pages", batch_.stream, bytes_, [&] {
        check(cudaMemcpyAsync(to_, from_, bytes_, cudaMemcpyHostToDevice, batch_.stream), "sending pages");
      });
      bytes_ = 0;
    }

   private:
    GpuPages&        pages_;
    Batch&           batch_;
    std::uint32_t*   to_    = nullptr;
    const std::byte* from_  = nullptr;
    std::uint64_t    bytes_ = 0;
  };

  /// To where it stays, or to the batch's next place.
  const std::uint32_t* sent(PagedSide& side, std::uint64_t page, std::uint32_t* stays, Batch& batch,
                            std::uint64_t& place, Copies& copies) {
    make_ring_room(side, copies);
    const PageStream::RawPage raw = [&] {
      const TraceSpan span{trace_.trace(), Track::host, "wait for page"};
      return side.stream->next_raw();
    }();
    if (raw.page != page) throw internal_error("page {} came instead of {}", raw.page, page);
    if (!raw.stays()) batch.held.push_back(raw), ++held_;
    std::uint32_t* const to = stays ? stays : batch.memory.data() + place++ * side.page_words();
    copies.add(to, raw.bytes, side.table().format().page_bytes);
    return to;
  }

  /// Reads need places in the ring: pages that have been sent leave theirs.
  void make_ring_room(PagedSide& side, Copies& copies) {
    if (2 * held_ < side.stream->ring_pages()) return;
    copies.flush();
    // The oldest first; of the batch that is being made, what has been sent so far.
    for (std::uint64_t i = 0; i < batches_.size() && 2 * held_ >= side.stream->ring_pages(); ++i) {
      Batch& batch = *batches_[(turn_ + i) % batches_.size()];
      if (i + 1 == batches_.size()) batch.arrived.record(batch.stream);
      release(batch);
    }
  }

  void release(Batch& batch) {
    if (batch.held.empty()) return;
    batch.arrived.wait();
    for (const PageStream::RawPage& page : batch.held) batch.source->release(page);
    held_ -= batch.held.size();
    batch.held.clear();
  }

  PageJob job(const PagedSide& side, std::uint64_t page, const std::uint32_t* words, std::uint64_t teams) const {
    const EdgeRange     edges = side.table().edges(page);
    const std::uint64_t begun = side.laid[page].chunks;
    return {.words        = words,
            .first_edge   = edges.first,
            .last_edge    = edges.last,
            .first_chunk  = begun - std::min<std::uint64_t>(begun, 1),  // the one before may reach into it
            .last_chunk   = side.laid[page + 1].chunks,
            .first_place  = side.laid[page].edges,
            .last_place   = side.laid[page + 1].edges,
            .first_team   = teams,
            .first_vertex = static_cast<Vertex>(side.table().vertices(page).first)};
  }

  void visit(PagedSide& side, Batch& batch, std::span<const Wanted> pages, std::uint64_t teams) {
    const PartAt &first = side.laid[pages.front().page], &last = side.laid[pages.back().page + 1];
    trace_.around(Track::kernels, "decode", nullptr, 0, [&] {
      decode_pages(side.code,
                   {.jobs    = batch.jobs.data(),
                    .count   = static_cast<unsigned>(pages.size()),
                    .teams   = teams,
                    .from    = first.edges,
                    .layout  = layout_,
                    .offsets = side.offsets},
                   decoded_.targets.data(), decoded_.weights.data(), damaged_.data());
    });
    batch.decoded.record(nullptr);
    executor_->process(
        WindowBlock{.rows       = {side.offsets, decoded_.targets.data(), decoded_.weights.data()},
                    .layout     = layout_,
                    .edges      = {first.edges, last.edges, /*compact=*/true},
                    .candidates = {first.chunks - std::min<std::uint64_t>(first.chunks, 1), last.chunks},
                    .pull       = pulls_,
                    .memory     = BlockMemory::staging});
  }

  void refuse_damage() {
    unsigned damaged = 0;
    damaged_.download(&damaged);
    if (damaged)
      throw bad_input(
          "{}: a page has edges to vertices that there are not; the file is damaged, `spillway verify` says where",
          sides_.front().rows->path());
  }

  void wait_for_streams() const {
    for (const auto& batch : batches_) cudaStreamSynchronize(batch->stream);
    cudaStreamSynchronize(nullptr);
  }

  std::vector<PagedSide> sides_;
  PageSizes              sizes_;
  bool                   everyone_, pulls_;
  PageCache              policy_;
  Slot                   decoded_;
  DeviceArray<unsigned>  damaged_;
  DeviceTrace            trace_;
  Charge                 staged_;  ///< pinned

  Executor*        executor_  = nullptr;
  WindowKernels*   kernels_   = nullptr;  ///< the same
  const PagedSide* laid_side_ = nullptr;  ///< whose layout is on the device
  ChunkLayout      layout_;
  std::uint64_t    turn_ = 0, held_ = 0;

  std::unordered_map<const std::uint32_t*, Batch*> users_;  ///< the last of each place, of those used last
  std::vector<std::unique_ptr<Batch>>              batches_;
};

/// Gathers what streaming pages needs, on the host and on the device.
class PagesBuilder {
 public:
  explicit PagesBuilder(SupplyJob& job)
      : job_(job),
        device_(job.device()),
        options_(job.supplied.options),
        facts_(job.needs.facts),
        chunks_(paged_chunks(job.needs, job.topology, options_, device_.room())),
        pulls_(chunks_ == 1 && facts_.pulls_windows(job.topology, options_.direction)) {
    if (chunks_ > 1 && options_.direction == Direction::pull)
      throw DeviceError{ExitCode::usage, "state in chunks is pushed to; leave out --direction pull"};
    if (!pulls_ && options_.direction == Direction::pull) throw DeviceError{ExitCode::usage, why_not_pulled};
    job.supplied.options.supply.state_chunks = chunks_;
  }

  Supply<PlainRows> build() {
    const auto [state, on_host] = job_.needs.state_bytes_in_chunks(chunks_);
    device_.require(least_paged_bytes(job_.needs, job_.topology, chunks_), what_state);
    if (job_.topology.push.empty() && !pulls_)
      throw DeviceError{ExitCode::does_not_fit,
                        "a GPU pushes along pages, which needs those of in-edges for this; convert the graph with "
                        "--in-edges, or use --device cpu"};
    add(job_.topology.push, supply_.push, !pulls_);
    add(job_.topology.pull, supply_.pull, pulls_);
    const PageSizes sizes = sizes_within(device_.room() - std::min(device_.room(), state), state);
    make_caches(sizes.cached);
    // Pages that stay leave room for it, for staged jobs, and for state that the device does not hold.
    Charge to_come{job_.graph.budget(), "the result"};
    to_come.raise_to(job_.needs.answer_bytes * (chunks_ > 1 ? 2 : 1) + answer_rounding + sizes.staged_bytes() +
                     on_host);
    for (std::size_t i = 0; i < sides_.size(); ++i) open(sides_[i], static_cast<unsigned>(sides_.size() - i));
    to_come.lower_by(sizes.staged_bytes());
    supply_.windows = std::make_shared<GpuPages>(device_, std::move(sides_), sizes, facts_, pulls_, options_,
                                                 job_.graph.budget());
    return std::move(supply_);
  }

 private:
  void add(const std::vector<RowBlock>& blocks, std::vector<PlainRows>& to, bool streamed) {
    for (const RowBlock& block : blocks) {
      if (!block.pages) throw internal_error("rows in memory were to be streamed");
      if (block.pages->leaves_out())
        throw DeviceError{ExitCode::usage,
                          "loops and parallel arcs are left out of pages on the CPU only; use --device cpu"};
      const EdgeIndex* const offsets = offsets_of(block);
      to.push_back({offsets, offsets + 1, nullptr, nullptr});
      if (streamed) add_side(block, offsets);
    }
  }

  /// Each side has a share by its pages; all of them together have so many places, at most one a page.
  void make_caches(std::uint64_t places) {
    std::uint64_t all = 0, before = 0, given = 0;
    for (const PagedSide& side : sides_) all += side.table().size();
    for (PagedSide& side : sides_) {
      before += side.table().size();
      const std::uint64_t share = all > 0 ? places * before / all - given : 0;
      given += share;
      side.cache = {device_, share, side.page_words(), side.table().size(), options_.cuda.page_cache};
      supply_.resident += side.cache.bytes();
    }
  }

  const EdgeIndex* offsets_of(const RowBlock& block) {
    const auto found = std::ranges::find(offsets_, block.pages, &Offsets::of);
    if (found != offsets_.end()) return found->there->data();
    const std::uint64_t count = job_.topology.vertices + 1;
    auto                there = std::make_shared<DeviceArray<EdgeIndex>>(device_, count, "the offsets of the rows",
                                                          chunks_ > 1 ? ArrayMemory::host : ArrayMemory::device);
    // They may be on disk: a part at a time is in memory.
    for (std::uint64_t first = 0; first < count; first += store::evicted_offsets) {
      const std::uint64_t last = std::min(count, first + store::evicted_offsets);
      if (options_.progress) check_cancelled(*options_.progress);
      device_.upload(there->data() + first, block.rows.offsets + first, (last - first) * sizeof(EdgeIndex));
      for (std::uint64_t v = first; v < last && v + 1 < count; ++v)
        if (block.rows.degree(static_cast<Vertex>(v)) >= longest_row) refuse_long_rows(block);
      device_.wait();
      evict_offsets(block, {first, last});
    }
    supply_.uploaded += count * sizeof(EdgeIndex);
    supply_.held.push_back(there);
    return offsets_.emplace_back(block.pages, std::move(there)).there->data();
  }

  void add_side(const RowBlock& block, const EdgeIndex* offsets) {
    const store::PageTable& table = block.pages->table();
    PagedSide&              side  = sides_.emplace_back();
    side.rows = block.pages, side.offsets = offsets;
    side.code          = PageCode::of(table.format());
    side.code.vertices = job_.topology.vertices, side.code.pages = table.size();
    std::vector<EdgeIndex> cuts;
    std::vector<Vertex>    starts;
    for (std::uint64_t i = 0; i < table.size(); ++i) {
      cuts.push_back(table.edges(i).first);
      starts.push_back(static_cast<Vertex>(table.vertices(i).first));
    }
    cuts.push_back(block.pages->arcs());
    side.cuts = {device_, cuts.size(), what_pages};
    side.cuts.upload(cuts.data());
    side.parts = {device_, cuts.size(), what_pages};
    if (!table.format().compressed) {
      side.starts = {device_, starts.size(), what_pages};
      side.starts.upload(starts.data());
      side.code.starts = side.starts.data();
    }
    device_.wait();  // the host's copies go
    supply_.on_host += block.pages->bytes();
  }

  void open(PagedSide& side, unsigned shares) {
    const auto& budget = job_.graph.budget();
    auto        sizes  = PageStreamSizes::of(*side.rows, 0, facts_.weighted, std::nullopt, shares, *budget);
    sizes.kept_pages   = std::min(sizes.kept_pages, side.table().size() - side.cache.keeps());
    side.stream = std::make_unique<PageStream>(*side.rows, 0, facts_.weighted, sizes, budget, options_.trace);
    side.ring   = PinnedRange{side.stream->ring().all(), options_.progress};
    side.kept   = PinnedRange{side.stream->kept().all(), options_.progress};
  }

  /// As many streams and as large batches as are asked for or usual, or as fit; what is left keeps pages.
  PageSizes sizes_within(std::uint64_t room, std::uint64_t state) const {
    if (sides_.empty()) return {};
    constexpr std::uint64_t usual_batch = 8u << 20, usual_edges = 1u << 23;
    std::uint64_t           page = 0, all = 0;
    EdgeIndex               most_edges = 1;
    for (const PagedSide& side : sides_) {
      page       = std::max<std::uint64_t>(page, side.table().format().page_bytes);
      most_edges = std::max(most_edges, side.table().most_edges());
      all += side.table().size();
    }
    PageSizes sizes{
        .streams     = std::clamp(options_.cuda.streams, 1u, 32u),
        .batch_pages = std::clamp<std::uint64_t>(usual_batch / page, 1, std::max<std::uint64_t>(all, 1))};
    const auto taken = [&] {
      sizes.decoded    = std::max(most_edges, std::min<EdgeIndex>(usual_edges, sizes.batch_pages * most_edges));
      sizes.batch_jobs = std::min<std::uint64_t>(std::max<std::uint64_t>(all, 1), 32 * sizes.batch_pages);
      return sizes.streams * (sizes.batch_pages * page + sizes.batch_jobs * sizeof(PageJob)) +
             sizes.decoded * edge_bytes(facts_.weighted) + sizeof(unsigned) + rounding * (2 * sizes.streams + 4);
    };
    while (taken() > room && sizes.batch_pages > 1) sizes.batch_pages /= 2;
    while (taken() > room && sizes.streams > 1) --sizes.streams;
    device_.require(state + taken(), what_state);
    const std::uint64_t left = resident_bytes(device_.room(), state + taken(), options_.supply.resident);
    sizes.cached             = std::min<std::uint64_t>(all, left / page);
    return sizes;
  }

  static constexpr std::uint64_t rounding = 512;  // of what is allocated on the device

  struct Offsets {
    const store::PagedRows*                 of;
    std::shared_ptr<DeviceArray<EdgeIndex>> there;
  };

  SupplyJob&             job_;
  Device&                device_;
  const RunOptions&      options_;
  ProgramFacts           facts_;
  std::uint64_t          chunks_;
  bool                   pulls_;
  Supply<PlainRows>      supply_;
  std::vector<PagedSide> sides_;
  std::vector<Offsets>   offsets_;
};

}  // namespace

const char* const why_not_pulled =
    "a GPU pulls along pages of in-edges for programs that have all vertices active, and pushes for others; leave "
    "out --direction pull, or use --device cpu";

std::vector<const store::PagedRows*> pages_of(const Topology& topology) {
  std::vector<const store::PagedRows*> all;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks)
      if (std::ranges::find(all, block.pages) == all.end()) all.push_back(block.pages);
  return all;
}

Device::Bytes paged_offset_bytes(const Topology& topology, std::uint64_t chunks) {
  const std::uint64_t bytes = pages_of(topology).size() * (topology.vertices + 1) * sizeof(EdgeIndex);
  return chunks > 1 ? Device::Bytes{.host = bytes} : Device::Bytes{.device = bytes};
}

std::uint64_t least_paged_bytes(const ProgramNeeds& needs, const Topology& topology, std::uint64_t chunks) {
  constexpr std::uint64_t slack = 32u << 10, a_page = sizeof(EdgeIndex) + sizeof(PartAt) + sizeof(Vertex);
  std::uint64_t           pages = 0, tables = 0;
  for (const store::PagedRows* rows : pages_of(topology)) {
    const store::PageTable& table = rows->table();
    const std::uint64_t     two   = 2 * std::uint64_t{table.format().page_bytes};
    pages                         = std::max(pages, two + table.most_edges() * edge_bytes(needs.facts.weighted));
    tables += table.size() * a_page;
  }
  return needs.state_bytes_in_chunks(chunks).device + paged_offset_bytes(topology, chunks).device + pages +
         tables + slack;
}

std::uint64_t paged_chunks(const ProgramNeeds& needs, const Topology& topology, const RunOptions& options,
                           std::uint64_t room) {
  constexpr std::uint64_t smallest = 1u << 12;  // vertices: with fewer, all time goes into pages
  if (options.supply.state_chunks > 0) return options.supply.state_chunks;
  const auto fit = [&](std::uint64_t chunks) { return least_paged_bytes(needs, topology, chunks) <= room; };
  if (fit(1) || options.direction == Direction::pull) return 1;  // chunks are pushed to
  const std::uint64_t most = std::max<std::uint64_t>(topology.vertices / smallest, 1);
  std::uint64_t       few = 1, enough = std::min<std::uint64_t>(2, most);
  while (enough < most && !fit(enough)) few = enough, enough = std::min(2 * enough, most);
  while (few + 1 < enough) {
    const std::uint64_t middle   = few + (enough - few) / 2;
    (fit(middle) ? enough : few) = middle;
  }
  return enough;
}

namespace {

void make_of_pages(SupplyJob& job) {
  const Stopwatch clock;
  job.lock = job.device_graph.exclusive_host_rows();
  job.device_graph.drop_idle_prefixes();
  const InPlace in_place = job.supplied.options.supply.pages_in_place;
  // Votes are found among the first edges of rows; all others look at most of what they are sent.
  if (in_place == InPlace::on || (in_place == InPlace::automatic && job.needs.facts.voting)) {
    const auto refusal = supply_pages_in_place(job);
    if (!refusal) {
      job.supplied.so_far.prepare_ms = clock.milliseconds();
      return;
    }
    if (in_place == InPlace::on)
      throw Error{refusal->code(), fmt::format("{}; use --method {}", refusal->what(), pages_from_disk()->name)};
  }
  job.device_graph.make_room();  // pages that other runs have left in host memory, too
  try {
    job.supplied.rows = PagesBuilder{job}.build();
  } catch (const Error& error) {  // with little host memory the CPU may do: it cuts state into chunks
    if (error.code() != ExitCode::does_not_fit || job.supplied.options.device.kind == cuda_kind()) throw;
    throw DeviceError{error.code(), error.what()};
  }
  job.device().wait();
  job.supplied.so_far.prepare_ms = clock.milliseconds();
}

}  // namespace

MakeSupply* const supply_pages = make_of_pages;

}  // namespace spillway::cuda
