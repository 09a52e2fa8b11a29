#include "supply/page_stream.hpp"

#include <fcntl.h>

#include <algorithm>
#include <system_error>

#include "base/fail.hpp"
#include "base/system_calls.hpp"
#include "store/row_code.hpp"

namespace spillway {
namespace {

constexpr auto          what_pages   = "pages of edges";
constexpr std::uint64_t disk_block   = 4096;
constexpr unsigned      reader_count = 4;  // reads that are under way
constexpr std::uint64_t slack        = 64u << 10;

/// Pages that are read and processed at once.
std::uint64_t least_ring(int threads) { return static_cast<std::uint64_t>(threads) + reader_count; }

/// Without the system's cache, which would push out what this process holds; where the file system has no such
/// reads (in memory), with it.
FileHandle open_unbuffered(const std::string& path) {
  FileHandle direct{system_calls().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT, 0)};
  return direct.get() >= 0 ? std::move(direct) : open_for_reading(path);
}

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

std::uint64_t PageStreamSizes::least_bytes(const store::PagedRows& rows, int threads, bool weighted) {
  return decoded_bytes(rows, threads, weighted) + rows.table().size() * sizeof(std::uint64_t) + slack +
         least_ring(threads) * rows.table().format().page_bytes;
}

PageStreamSizes PageStreamSizes::of(const store::PagedRows& rows, int threads, bool weighted,
                                    const std::optional<std::uint64_t>& resident, unsigned shares,
                                    const MemoryBudget& budget) {
  constexpr std::uint64_t ring_bytes = 32u << 20;
  const std::uint64_t     page = rows.table().format().page_bytes, all = rows.table().size();
  const auto              least   = least_ring(threads);
  const std::uint64_t     decoded = least_bytes(rows, threads, weighted) - least * page;
  budget.expect(decoded + least * page, what_pages);
  const std::uint64_t free = (budget.limit() - std::min(budget.limit(), budget.used())) / shares;
  const std::uint64_t left = free - std::min(free, decoded);
  PageStreamSizes     sizes;
  sizes.ring_pages         = std::clamp(ring_bytes / page, least, std::max(least, left / 2 / page));
  sizes.ring_pages         = std::min(sizes.ring_pages, std::max(least, all));
  const std::uint64_t rest = left - std::min(left, sizes.ring_pages * page + slack);
  sizes.kept_pages         = std::min(all, std::min(rest, resident.value_or(rest)) / page);
  return sizes;
}

PageStream::PageStream(const store::PagedRows& rows, int threads, bool weighted, const PageStreamSizes& sizes,
                       const std::shared_ptr<MemoryBudget>& budget)
    : rows_(rows),
      file_(open_unbuffered(rows.path())),
      ring_(sizes.ring_pages, rows.table().format().page_bytes, budget, what_pages),
      kept_(sizes.kept_pages, rows.table().format().page_bytes, budget, what_pages),
      kept_at_(rows.table().size(), nowhere),
      ring_used_(sizes.ring_pages, false) {
  for (int i = 0; i < threads; ++i)
    decoded_.push_back({{rows.table().most_edges(), budget, what_pages},
                        {weighted ? rows.table().most_edges() : 0, budget, what_pages}});
  for (unsigned i = 0; i < reader_count; ++i) try {
      readers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      if (readers_.empty()) throw does_not_fit("no thread could be started to read pages: {}", error.what());
      return;
    }
}

PageStream::~PageStream() {
  {
    const std::scoped_lock lock{mutex_};
    ends_ = true;
  }
  ring_changed_.notify_all();
  for (std::thread& reader : readers_) reader.join();
}

void PageStream::begin(std::vector<std::uint64_t> pages, store::PageTable::Wanted row) {
  {
    const std::scoped_lock lock{mutex_};
    wanted_row_ = std::move(row);
    wanted_     = std::move(pages);
    next_read_ = handed_out_ = 0;
    failure_                 = nullptr;
    for (std::uint64_t i = 0; i < wanted_.size(); ++i)
      if (const std::uint64_t at = kept_at_[wanted_[i]]; at != nowhere)
        ready_.push_back({i, kept_.page(at), nowhere});
  }
  ring_changed_.notify_all();
}

void PageStream::end() {
  std::unique_lock lock{mutex_};
  next_read_ = wanted_.size();
  ready_changed_.wait(lock, [&] { return under_way_ == 0; });
  for (const Ready& each : ready_)
    if (each.place != nowhere) ring_used_[each.place] = false;
  ready_.clear();
  for (Decoded& each : decoded_)
    if (each.held != nowhere) ring_used_[std::exchange(each.held, nowhere)] = false;
}

/// The next pages that are not at hand and lie together, with a place for them; false: there is none to read now.
bool PageStream::take_read(Read& read) {
  while (next_read_ < wanted_.size() && kept_at_[wanted_[next_read_]] != nowhere) ++next_read_;
  if (next_read_ == wanted_.size()) return false;
  const std::uint64_t most  = std::max<std::uint64_t>(read_bytes() / rows_.table().format().page_bytes, 1);
  const bool          stays = kept_count_ < kept_.size();
  std::uint64_t       place = kept_count_;
  if (!stays) {
    const auto free = std::ranges::find(ring_used_, false);
    if (free == ring_used_.end()) return false;
    place = static_cast<std::uint64_t>(free - ring_used_.begin());
  }
  const auto fits = [&](std::uint64_t count) {
    return stays ? place + count < kept_.size() : place + count < ring_used_.size() && !ring_used_[place + count];
  };
  std::uint64_t count = 1;
  while (count < most && next_read_ + count < wanted_.size() && fits(count) &&
         wanted_[next_read_ + count] == wanted_[next_read_] + count &&
         kept_at_[wanted_[next_read_ + count]] == nowhere)
    ++count;
  read = {next_read_, count, stays, place};
  for (std::uint64_t i = 0; i < count; ++i)
    if (stays)
      kept_at_[wanted_[next_read_ + i]] = place + i;
    else
      ring_used_[place + i] = true;
  if (stays) kept_count_ += count;
  next_read_ += count;
  ++under_way_;
  return true;
}

std::byte* PageStream::memory_of(const Read& read) const { return (read.stays ? kept_ : ring_).page(read.place); }

void PageStream::perform(const Read& read) const {
  const std::uint64_t size = rows_.table().format().page_bytes;
  read_at(file_, rows_.path(), rows_.place_of(wanted_[read.first]), memory_of(read), read.count * size);
  for (std::uint64_t i = 0; i < read.count; ++i)
    rows_.table().check(wanted_[read.first + i], {memory_of(read) + i * size, size});
}

/// What a reader does until the end.
void PageStream::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    Read read{};
    if (failure_ || !take_read(read)) {
      if (ends_) return;
      ring_changed_.wait(lock);
      continue;
    }
    lock.unlock();
    std::exception_ptr failure;
    try {
      perform(read);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --under_way_;
    if (failure) {
      if (!failure_) failure_ = failure;
      for (std::uint64_t i = 0; i < read.count; ++i)
        if (read.stays)
          kept_at_[wanted_[read.first + i]] = nowhere;  // its place is lost to this run
        else
          ring_used_[read.place + i] = false;
    } else {
      for (std::uint64_t i = 0; i < read.count; ++i)
        ready_.push_back({read.first + i, memory_of(read) + i * rows_.table().format().page_bytes,
                          read.stays ? nowhere : read.place + i});
      pages_read_ += read.count;
    }
    ready_changed_.notify_all();
  }
}

void PageStream::give_back(std::uint64_t place) {
  ring_used_[place] = false;
  ring_changed_.notify_one();
}

bool PageStream::next(int thread, PageRows& page) {
  const store::PageTable& table = rows_.table();
  Decoded&                own   = decoded_[static_cast<std::size_t>(thread)];
  Ready                   at{};
  {
    std::unique_lock lock{mutex_};
    if (own.held != nowhere) give_back(std::exchange(own.held, nowhere));
    ready_changed_.wait(lock, [&] { return failure_ || !ready_.empty() || handed_out_ == wanted_.size(); });
    if (failure_) std::rethrow_exception(failure_);
    if (ready_.empty()) return false;
    at = ready_.front();
    ready_.pop_front();
    if (++handed_out_ == wanted_.size()) ready_changed_.notify_all();
    own.held = at.place;
  }
  const std::uint64_t number   = wanted_[at.number];
  const bool          weighted = own.weights.size() > 0;
  table.decode(number, {at.bytes, table.format().page_bytes}, own.targets.data(),
               weighted ? own.weights.data() : nullptr, wanted_row_);
  page = table.rows(number, rows_.offsets().data(), own.targets.data(), weighted ? own.weights.data() : nullptr);
  page.number = at.number;
  return true;
}

}  // namespace spillway
