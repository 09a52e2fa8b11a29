// Pages from disk: read unbuffered, several reads under way, while others are decoded and processed. What fits
// stays.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/paged_rows.hpp"
#include "supply/page_reader.hpp"

#include <spillway/engine/block.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/trace.hpp>

namespace spillway {

/// Memory for pages, all of a size, that unbuffered reads can use.
class PageMemory {
 public:
  PageMemory() = default;
  PageMemory(std::uint64_t pages, std::uint64_t page_bytes, const std::shared_ptr<MemoryBudget>& budget,
             std::string_view what);

  std::byte*    page(std::uint64_t i) const { return first_ + i * page_bytes_; }
  std::uint64_t size() const { return count_; }
  /// All of it, of which pages are a part.
  std::span<std::byte> all() const { return memory_.span(); }

 private:
  Buffer<std::byte> memory_;
  std::byte*        first_ = nullptr;
  std::uint64_t     count_ = 0, page_bytes_ = 0;
};

/// What a run holds beside its state to stream pages.
struct PageStreamSizes {
  std::uint64_t ring_pages = 0;  ///< that reads and processing share
  std::uint64_t kept_pages = 0;  ///< that stay once they have been read

  /// With what a budget has left, of which one of `shares` is for these; Error{does_not_fit} where that is not
  /// enough for a ring and decoded pages.
  static PageStreamSizes of(const store::PagedRows& rows, int threads, bool weighted,
                            const std::optional<std::uint64_t>& resident, unsigned shares,
                            const MemoryBudget& budget);
  static std::uint64_t   decoded_bytes(const store::PagedRows& rows, int threads, bool weighted);
  /// Pages that are read and processed at once.
  static std::uint64_t least_ring(int threads);
  /// Without which it is refused.
  static std::uint64_t least_bytes(const store::PagedRows& rows, int threads, bool weighted);
};

/// Pages that stay, as they are on disk.
struct KeptPages {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  PageMemory                 memory;
  std::vector<std::uint64_t> at;  ///< of each page, its place there; nowhere: it has none

  const std::byte* page(std::uint64_t i) const { return at[i] == nowhere ? nullptr : memory.page(at[i]); }
};

class PageStream final : public PageFeed {
  static constexpr std::uint64_t nowhere = KeptPages::nowhere;

 public:
  /// `threads` 0: pages are handed out as they are. Reads are noted in `trace`, if there is one.
  PageStream(const store::PagedRows& rows, int threads, bool weighted, const PageStreamSizes& sizes,
             const std::shared_ptr<MemoryBudget>& budget, Trace* trace = nullptr);
  PageStream(const PageStream&)            = delete;
  PageStream& operator=(const PageStream&) = delete;
  ~PageStream() override;

  /// From now on these come, in about this order; those before have all been taken. Of each, rows that are wanted;
  /// none said: all. Those that `leave` for where they are kept do not stay here; none said: none does.
  void begin(std::vector<std::uint64_t> pages, store::PageTable::Wanted row, std::vector<bool> leave = {});
  /// After an error, what is under way ends first.
  void end();

  std::uint64_t count() const override { return wanted_.size(); }
  bool          next(int thread, PageRows& page) override;

  /// A page as it is, for who decodes it elsewhere.
  struct RawPage {
    std::uint64_t    page;
    const std::byte* bytes;
    std::uint64_t    place;  ///< in the ring; nowhere: it stays

    bool stays() const { return place == nowhere; }
  };
  /// Instead of `next`, by one thread: the next of those that are wanted, in their order. It is held until
  /// `release`, and with it a place for those to come.
  RawPage next_raw();
  void    release(const RawPage& page);
  /// Between `end` and `begin`: where a page stays that has been read; null: it does not.
  const std::byte* kept_page(std::uint64_t page) const {
    return kept_at_[page] != nowhere ? kept_.page(kept_at_[page]) : nullptr;
  }
  /// Places that reads share with pages that are held.
  std::uint64_t ring_pages() const { return ring_.size(); }
  /// Where pages are: those that stay, and the others.
  const PageMemory& ring() const { return ring_; }
  const PageMemory& kept() const { return kept_; }

  /// After `end`: what stays, for who needs nothing else of it any more.
  KeptPages take_kept() { return {std::move(kept_), std::move(kept_at_)}; }

  /// From disk, since it was made.
  std::uint64_t pages_read() const { return pages_read_; }
  /// How they come: a PageReader's name.
  std::string_view reader() const { return reader_->name(); }

 private:
  /// A file with pages; each is on a disk of its own.
  struct Disk {
    PageFile                   file;
    std::vector<std::uint64_t> wanted    = {};  ///< pages that it has, as places among all that are wanted
    std::uint64_t              next      = 0;   ///< of them, to be read
    unsigned                   under_way = 0;
  };
  /// Pages that lie together, read at once.
  struct Read {
    Disk*         disk;
    std::uint64_t first, count;  ///< among those wanted of the disk
    bool          stays;
    std::uint64_t place;      ///< in the ring, or among those that stay
    double        began = 0;  ///< if reads are noted
  };
  /// A page that is at hand.
  struct Ready {
    std::uint64_t    number = 0;  ///< among the wanted ones
    const std::byte* bytes  = nullptr;
    std::uint64_t    place  = nowhere;  ///< in the ring; nowhere: it stays
    bool             fresh  = false;    ///< from disk, and not checked
  };

  struct Places {
    std::uint64_t first = 0, count = 0;
  };

  void open_disks();
  void work();
  bool take_read(std::uint64_t tag);
  void complete(const PageReader::Done& done);
  void check(const Ready& page);
  void give_back(std::uint64_t place);
  void discard(const Ready& page);
  /// Pages are handed out as they are, in order.
  bool raw() const { return decoded_.empty(); }
  /// Of a disk's pages, the i-th that is wanted.
  bool leaves(const Disk& disk, std::uint64_t i) const { return !leave_.empty() && leave_[disk.wanted[i]]; }
  std::uint64_t adjoining(const Disk& disk) const;
  std::uint64_t ahead(const Disk& disk) const;
  Places        free_places(std::uint64_t count) const;
  PageRead      bytes_of(const Read& read) const;
  std::byte*    memory_of(const Read& read) const;
  std::uint64_t page_of(const Read& read, std::uint64_t i) const {
    return wanted_[read.disk->wanted[read.first + i]];
  }
  static std::uint64_t read_bytes() { return 4u << 20; }
  std::uint64_t        places_for_a_read() const { return std::max<std::uint64_t>(ring_used_.size() / 8, 1); }

  const store::PagedRows&    rows_;
  Trace*                     trace_;
  PageMemory                 ring_, kept_;
  std::vector<std::uint64_t> kept_at_;  ///< of each page, where it stays; nowhere: it does not
  std::uint64_t              kept_count_ = 0;

  struct Decoded {
    Buffer<Vertex>        targets;
    Buffer<std::uint32_t> weights;
    std::uint64_t         held = nowhere;  ///< place in the ring that is being looked at
  };
  std::vector<Decoded> decoded_;  ///< of each thread

  std::mutex                  mutex_;
  std::condition_variable     ready_changed_, ring_changed_;
  std::vector<std::uint64_t>  wanted_;
  std::vector<bool>           leave_;  ///< of those wanted; empty: none does
  store::PageTable::Wanted    wanted_row_;
  std::vector<Disk>           disks_;
  std::vector<Read>           reads_;      ///< by tag
  std::vector<std::uint64_t>  free_tags_;  ///< of reads that are not under way
  std::uint64_t               handed_out_ = 0;
  std::deque<Ready>           ready_;
  std::vector<Ready>          in_order_;  ///< of `next_raw`: those wanted that have come, each in its place
  std::vector<bool>           ring_used_;
  std::uint64_t               given_back_     = 0;  ///< places, since the reading thread was told
  std::uint64_t               ring_under_way_ = 0;  ///< pages that are being read to it
  std::exception_ptr          failure_;
  bool                        ends_       = false;
  std::uint64_t               pages_read_ = 0;
  std::unique_ptr<PageReader> reader_;  ///< writes to memory above, so it goes first
  std::thread                 thread_;  ///< says what is read when
};

}  // namespace spillway
