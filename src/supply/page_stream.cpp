#include "supply/page_stream.hpp"

#include <algorithm>
#include <system_error>

#include "base/fail.hpp"
#include "store/row_code.hpp"

#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

constexpr auto          what_pages      = "pages of edges";
constexpr std::uint64_t least_under_way = 4;  // pages, whatever the budget
constexpr std::uint64_t least_slack     = 64u << 10;
constexpr std::uint64_t slack_share     = 256;  // of the budget, for what is noted of many iterations

}  // namespace

PageMemory::PageMemory(std::uint64_t pages, std::uint64_t page_bytes, const std::shared_ptr<MemoryBudget>& budget,
                       std::string_view what)
    : memory_(pages * page_bytes + disk_block + RowCode::bytes_behind, budget, what),
      count_(pages),
      page_bytes_(page_bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
  first_        = memory_.data() + (disk_block - at % disk_block) % disk_block;
}

std::uint64_t PageStreamSizes::decoded_bytes(const store::PagedRows& rows, int threads, bool weighted) {
  return static_cast<std::uint64_t>(threads) * rows.table().most_edges() * edge_bytes(weighted);
}

std::uint64_t PageStreamSizes::least_ring(int threads) {
  return static_cast<std::uint64_t>(threads) + least_under_way;
}

std::uint64_t PageStreamSizes::least_bytes(const store::PagedRows& rows, int threads, bool weighted) {
  // What is noted of each page; of those that a GPU decodes also what is wanted, laid out, cached and in order.
  const std::uint64_t a_page = threads > 0 ? 24 : 128;
  return decoded_bytes(rows, threads, weighted) + a_page * rows.table().size() + least_slack +
         least_ring(threads) * rows.table().format().page_bytes;
}

PageStreamSizes PageStreamSizes::of(const store::PagedRows& rows, int threads, bool weighted,
                                    const std::optional<std::uint64_t>& resident, unsigned shares,
                                    const MemoryBudget& budget) {
  constexpr std::uint64_t ring_per_disk = 16u << 20;
  const std::uint64_t     ring_bytes    = ring_per_disk * std::max<std::uint64_t>(rows.files().size(), 2);
  const std::uint64_t     page = rows.table().format().page_bytes, all = rows.table().size();
  const auto              least   = least_ring(threads);
  const std::uint64_t     decoded = least_bytes(rows, threads, weighted) - least * page;
  budget.expect(decoded + least * page, what_pages);
  const std::uint64_t free = (budget.limit() - std::min(budget.limit(), budget.used())) / shares;
  const std::uint64_t left = free - std::min(free, decoded);
  PageStreamSizes     sizes;
  sizes.ring_pages          = std::clamp(ring_bytes / page, least, std::max(least, left / 2 / page));
  sizes.ring_pages          = std::min(sizes.ring_pages, std::max(least, all));
  const std::uint64_t slack = least_slack + budget.limit() / slack_share;
  const std::uint64_t rest  = left - std::min(left, sizes.ring_pages * page + slack);
  sizes.kept_pages          = std::min(all, std::min(rest, resident.value_or(rest)) / page);
  return sizes;
}

PageStream::PageStream(const store::PagedRows& rows, int threads, bool weighted, const PageStreamSizes& sizes,
                       const std::shared_ptr<MemoryBudget>& budget, Trace* trace)
    : rows_(rows),
      trace_(trace),
      ring_(sizes.ring_pages, rows.table().format().page_bytes, budget, what_pages),
      kept_(sizes.kept_pages, rows.table().format().page_bytes, budget, what_pages),
      kept_at_(rows.table().size(), nowhere),
      ring_used_(sizes.ring_pages, false) {
  for (int i = 0; i < threads; ++i)
    decoded_.push_back({{rows.table().most_edges(), budget, what_pages},
                        {weighted ? rows.table().most_edges() : 0, budget, what_pages}});
  open_disks();
  try {
    thread_ = std::thread{[this] { work(); }};
  } catch (const std::system_error& error) {
    throw does_not_fit("no thread could be started to read pages: {}", error.what());
  }
}

void PageStream::open_disks() {
  std::vector<PageRead> tries;
  disks_.reserve(rows_.files().size());
  for (const store::PagedRows::File& file : rows_.files()) {
    std::byte* const block = file.pages > 0 ? ring_.page(0) : nullptr;
    disks_.push_back({.file = {file.path, file.at, block}});
    if (block) tries.push_back({&disks_.back().file, file.at, disk_block, block});
  }
  reads_.resize(reads_per_disk * disks_.size());
  for (std::uint64_t tag = 0; tag < reads_.size(); ++tag) free_tags_.push_back(tag);
  reader_ = page_reader(tries, static_cast<unsigned>(disks_.size()));
}

PageStream::~PageStream() {
  {
    const std::scoped_lock lock{mutex_};
    ends_ = true;
  }
  ring_changed_.notify_all();
  thread_.join();
}

void PageStream::begin(std::vector<std::uint64_t> pages, store::PageTable::Wanted row, std::vector<bool> leave) {
  {
    const std::scoped_lock lock{mutex_};
    wanted_row_ = std::move(row);
    wanted_     = std::move(pages);
    leave_      = std::move(leave);
    handed_out_ = 0;
    failure_    = nullptr;
    for (Disk& disk : disks_) disk.wanted.clear(), disk.next = 0;
    for (std::uint64_t i = 0; i < wanted_.size(); ++i)
      if (const std::uint64_t at = kept_at_[wanted_[i]]; at != nowhere)
        ready_.push_back({i, kept_.page(at), nowhere, false});
      else
        disks_[rows_.place_of(wanted_[i]).file].wanted.push_back(i);
  }
  ring_changed_.notify_all();
}

void PageStream::end() {
  std::unique_lock lock{mutex_};
  for (Disk& disk : disks_) disk.next = disk.wanted.size();
  ready_changed_.wait(lock, [&] { return free_tags_.size() == reads_.size(); });
  for (const Ready& each : ready_) discard(each);
  for (const Ready& each : in_order_)
    if (each.bytes) discard(each);
  ready_.clear(), in_order_.clear();
  if (raw()) std::fill(ring_used_.begin(), ring_used_.end(), false);  // nobody holds one any more
  for (Decoded& each : decoded_)
    if (each.held != nowhere) ring_used_[std::exchange(each.held, nowhere)] = false;
}

/// One that nobody has taken.
void PageStream::discard(const Ready& page) {
  if (page.place != nowhere)
    ring_used_[page.place] = false;
  else if (page.fresh)
    kept_at_[wanted_[page.number]] = nowhere;  // nobody has checked it; its place is lost to this run
}

/// Pages of a disk, from the next on, that lie together, and all stay or all leave.
std::uint64_t PageStream::adjoining(const Disk& disk) const {
  const std::uint64_t size   = rows_.table().format().page_bytes;
  const std::uint64_t most   = std::max<std::uint64_t>(read_bytes() / size, 1);
  const auto          offset = [&](std::uint64_t i) { return rows_.place_of(wanted_[disk.wanted[i]]).offset; };
  std::uint64_t       count  = 1;
  while (count < most && disk.next + count < disk.wanted.size() &&
         leaves(disk, disk.next + count) == leaves(disk, disk.next) &&
         offset(disk.next + count) == offset(disk.next) + count * size)
    ++count;
  return count;
}

/// Pages of a disk, from the next on, that may be read now. In order, those that come first must find a place:
/// with half of the ring for pages that are held, no page is read that comes after another half.
std::uint64_t PageStream::ahead(const Disk& disk) const {
  if (!raw()) return ~std::uint64_t{0};
  const std::uint64_t end   = handed_out_ + std::max<std::uint64_t>(ring_used_.size() / 2, 1);
  const auto          first = disk.wanted.begin() + static_cast<std::ptrdiff_t>(disk.next);
  return static_cast<std::uint64_t>(std::lower_bound(first, disk.wanted.end(), end) - first);
}

/// Where in the ring so many pages fit, or else the most; none: it is full.
PageStream::Places PageStream::free_places(std::uint64_t count) const {
  Places longest{};
  for (std::uint64_t first = 0, last = 0; first < ring_used_.size() && longest.count < count; first = last + 1) {
    for (last = first; last < ring_used_.size() && !ring_used_[last];) ++last;
    if (last - first > longest.count) longest = {first, last - first};
  }
  return {longest.first, std::min(count, longest.count)};
}

/// The next pages to be read, with places for them; false: there are none, or no places.
bool PageStream::take_read(std::uint64_t tag) {
  Disk*      disk     = nullptr;
  const auto next     = [](const Disk& of) { return of.wanted[of.next]; };
  const auto may_read = [&](const Disk& of) { return of.next < of.wanted.size(); };
  for (Disk& each : disks_)
    if (may_read(each) && (raw() || each.under_way < reads_per_disk) && (!disk || next(each) < next(*disk)))
      disk = &each;
  // In order, what comes from other disks would take the places of those that come first.
  if (!disk || disk->under_way == reads_per_disk) return false;
  const std::uint64_t lie_together = std::min(adjoining(*disk), ahead(*disk));
  if (lie_together == 0) return false;
  const bool stays = kept_count_ < kept_.size() && !leaves(*disk, disk->next);
  // One half of the ring is filled while the other is processed: else places would come free one by one, and reads
  // be as small.
  const std::uint64_t most   = std::max(ring_used_.size() / 2, least_under_way);
  const Places        places = stays ? Places{kept_count_, std::min(lie_together, kept_.size() - kept_count_)}
                                     : free_places(std::min(lie_together, most - std::min(most, ring_under_way_)));
  if (places.count == 0) return false;
  // While there is something to process, a read waits for places that are worth it.
  if (!stays && places.count < std::min(lie_together, places_for_a_read()) && !ready_.empty()) return false;
  const Read read{disk, disk->next, places.count, stays, places.first, trace_ ? steady_milliseconds() : 0};
  for (std::uint64_t i = 0; i < read.count; ++i)
    if (stays)
      kept_at_[page_of(read, i)] = read.place + i;
    else
      ring_used_[read.place + i] = true;
  (stays ? kept_count_ : ring_under_way_) += read.count;
  disk->next += read.count;
  ++disk->under_way;
  reads_[tag] = read;
  return true;
}

std::byte* PageStream::memory_of(const Read& read) const { return (read.stays ? kept_ : ring_).page(read.place); }

PageRead PageStream::bytes_of(const Read& read) const {
  return {&read.disk->file, rows_.place_of(page_of(read, 0)).offset,
          read.count * rows_.table().format().page_bytes, memory_of(read)};
}

void PageStream::complete(const PageReader::Done& done) {
  const Read& read = reads_[done.tag];
  if (trace_) trace_->add({Track::disk, "read", read.began, steady_milliseconds(), bytes_of(read).bytes});
  --read.disk->under_way;
  if (!read.stays) ring_under_way_ -= read.count;
  free_tags_.push_back(done.tag);
  if (done.failure && !failure_) failure_ = done.failure;
  for (std::uint64_t i = 0; i < read.count; ++i)
    if (!done.failure)
      ready_.push_back({read.disk->wanted[read.first + i], memory_of(read) + i * rows_.table().format().page_bytes,
                        read.stays ? nowhere : read.place + i, true});
    else if (read.stays)
      kept_at_[page_of(read, i)] = nowhere;  // its place is lost to this run
    else
      ring_used_[read.place + i] = false;
  if (!done.failure) pages_read_ += read.count;
  ready_changed_.notify_all();
}

/// Begins reads and takes what they brought, until the end.
void PageStream::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    while (!failure_ && !ends_ && !free_tags_.empty() && take_read(free_tags_.back())) {
      const std::uint64_t tag = free_tags_.back();
      free_tags_.pop_back();
      const PageRead read = bytes_of(reads_[tag]);
      lock.unlock();
      reader_->submit(tag, read);
      lock.lock();
    }
    if (free_tags_.size() < reads_.size()) {
      lock.unlock();
      const PageReader::Done done = reader_->completed();
      lock.lock();
      complete(done);
    } else if (ends_) {
      return;
    } else {
      ring_changed_.wait(lock);
    }
  }
}

void PageStream::give_back(std::uint64_t place) {
  ring_used_[place] = false;
  if (++given_back_ < places_for_a_read()) return;
  given_back_ = 0;
  ring_changed_.notify_one();
}

/// By the thread that processes the page: so as many check as process, and its bytes are in their caches then.
void PageStream::check(const Ready& page) {
  const std::uint64_t number = wanted_[page.number];
  try {
    rows_.table().check(number, {page.bytes, rows_.table().format().page_bytes});
  } catch (...) {
    const std::scoped_lock lock{mutex_};
    if (!failure_) failure_ = std::current_exception();
    if (page.place == nowhere) kept_at_[number] = nowhere;
    ready_changed_.notify_all();
    throw;
  }
}

PageStream::RawPage PageStream::next_raw() {
  Ready at{};
  {
    std::unique_lock    lock{mutex_};
    const std::uint64_t number = handed_out_;
    in_order_.resize(wanted_.size());
    const auto has_come = [&] {
      for (; !ready_.empty(); ready_.pop_front()) in_order_[ready_.front().number] = ready_.front();
      return in_order_[number].bytes != nullptr;
    };
    if (!has_come()) ring_changed_.notify_one();
    ready_changed_.wait(lock, [&] { return failure_ || has_come(); });
    if (failure_) std::rethrow_exception(failure_);
    at = std::exchange(in_order_[number], {});
    if (++handed_out_ == wanted_.size()) in_order_.clear();
    ring_changed_.notify_one();  // one more may be read
  }
  if (at.fresh) check(at);
  return {wanted_[at.number], at.bytes, at.place};
}

void PageStream::release(const RawPage& page) {
  if (page.place == nowhere) return;
  const std::scoped_lock lock{mutex_};
  ring_used_[page.place] = false;
  ring_changed_.notify_one();
}

bool PageStream::next(int thread, PageRows& page) {
  const store::PageTable& table = rows_.table();
  Decoded&                own   = decoded_[static_cast<std::size_t>(thread)];
  Ready                   at{};
  {
    std::unique_lock lock{mutex_};
    if (own.held != nowhere) give_back(std::exchange(own.held, nowhere));
    if (ready_.empty()) ring_changed_.notify_one();
    ready_changed_.wait(lock, [&] { return failure_ || !ready_.empty() || handed_out_ == wanted_.size(); });
    if (failure_) std::rethrow_exception(failure_);
    if (ready_.empty()) return false;
    at = ready_.front();
    ready_.pop_front();
    if (ready_.empty()) ring_changed_.notify_one();
    if (++handed_out_ == wanted_.size()) ready_changed_.notify_all();
    own.held = at.place;
  }
  if (at.fresh) check(at);
  const std::uint64_t number   = wanted_[at.number];
  const bool          weighted = own.weights.size() > 0;
  page                         = rows_.decoded(number, {at.bytes, table.format().page_bytes}, own.targets.data(),
                       weighted ? own.weights.data() : nullptr, wanted_row_);
  page.number                  = at.number;
  return true;
}

}  // namespace spillway
