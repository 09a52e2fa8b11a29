#include "supply/page_reader.hpp"

#include <fcntl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/system_calls.hpp"

namespace spillway {
namespace {

constexpr unsigned threads_per_disk = 4;

/// What is left of a read after `done` bytes, by pread: with its words for what fails.
std::exception_ptr finish(const PageRead& read, std::uint64_t done = 0) {
  done -= done % disk_block;
  try {
    read_at(read.file->handle, read.file->path, read.offset + done, read.into + done, read.bytes - done);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// Each read by a thread that waits for it.
class ThreadReader final : public PageReader {
 public:
  explicit ThreadReader(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error& error) {
        if (threads_.empty()) throw does_not_fit("no thread could be started to read pages: {}", error.what());
        return;
      }
  }
  ~ThreadReader() override {
    {
      const std::scoped_lock lock{mutex_};
      ends_ = true;
      waiting_.clear();
    }
    submitted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::string_view name() const override { return "pread"; }

  void submit(std::uint64_t tag, const PageRead& read) override {
    {
      const std::scoped_lock lock{mutex_};
      waiting_.emplace_back(tag, read);
    }
    submitted_.notify_one();
  }

  Done completed() override {
    std::unique_lock lock{mutex_};
    ended_.wait(lock, [&] { return !done_.empty(); });
    Done first = std::move(done_.front());
    done_.pop_front();
    return first;
  }

 private:
  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      submitted_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const auto [tag, read] = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      const std::exception_ptr failure = finish(read);
      lock.lock();
      done_.push_back({tag, failure});
      ended_.notify_one();
    }
  }

  std::mutex                                     mutex_;
  std::condition_variable                        submitted_, ended_;
  std::deque<std::pair<std::uint64_t, PageRead>> waiting_;
  std::deque<Done>                               done_;
  bool                                           ends_ = false;
  std::vector<std::thread>                       threads_;
};

/// Reads that the kernel makes. What it does not bring, or not whole, is read by pread.
class UringReader final : public PageReader {
 public:
  /// Nothing: the kernel, or a sandbox, does not allow it.
  static std::unique_ptr<UringReader> opened(unsigned most) {
    io_uring* ring = nullptr;
    if (system_calls().uring_open(most, &ring) < 0) return nullptr;
    return std::make_unique<UringReader>(ring, most);
  }

  UringReader(io_uring* ring, unsigned most) : ring_(ring), reads_(most) {}
  ~UringReader() override {
    while (under_way_ > 0) wait();
    system_calls().uring_close(ring_);
  }

  std::string_view name() const override { return "io_uring"; }

  void submit(std::uint64_t tag, const PageRead& read) override {
    if (!begin(tag, read)) refused_.push_back({tag, finish(read)});
  }

  Done completed() override {
    if (!refused_.empty()) {
      Done first = std::move(refused_.front());
      refused_.pop_front();
      return first;
    }
    const auto [tag, result] = wait();
    const PageRead& read     = reads_[tag];
    const auto      bytes    = static_cast<std::uint64_t>(std::max(result, 0));
    return {tag, bytes == read.bytes ? nullptr : finish(read, bytes)};
  }

  /// Whether a read comes back whole.
  bool brings(const PageRead& read) { return begin(0, read) && wait().second == static_cast<int>(read.bytes); }

 private:
  bool begin(std::uint64_t tag, const PageRead& read) {
    reads_[tag] = read;
    const int error =
        system_calls().uring_read(ring_, read.file->handle.get(), read.into, static_cast<unsigned>(read.bytes),
                                  static_cast<off_t>(read.offset), tag);
    if (error == 0) ++under_way_;
    return error == 0;
  }

  /// Whatever waiting says, a read that has begun may still be written to memory: it must have ended before that
  /// is used, or freed.
  std::pair<std::uint64_t, int> wait() {
    constexpr std::chrono::milliseconds pause{1};
    std::uint64_t                       tag    = 0;
    int                                 result = 0;
    for (;;) {
      const int error = system_calls().uring_wait(ring_, &tag, &result);
      if (error == 0) break;
      if (error != -EINTR) std::this_thread::sleep_for(pause);
    }
    --under_way_;
    return {tag, result};
  }

  io_uring*             ring_;
  std::vector<PageRead> reads_;  ///< by tag
  unsigned              under_way_ = 0;
  std::deque<Done>      refused_;  ///< that the kernel did not take
};

bool is_unsupported_unbuffered(const FileHandle& file, std::uint64_t at, std::byte* block) {
  return retried([&] { return system_calls().pread(file.get(), block, disk_block, static_cast<off_t>(at)); }) <
             0 &&
         errno == EINVAL;
}

}  // namespace

PageFile::PageFile(std::string path_of, std::uint64_t at, std::byte* try_block) : path(std::move(path_of)) {
  handle = FileHandle{system_calls().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT, 0)};
  if (handle.get() < 0 || (try_block && is_unsupported_unbuffered(handle, at, try_block)))
    handle = open_for_reading(path);
}

std::unique_ptr<PageReader> page_reader(std::span<const PageRead> tries, unsigned disks) {
  auto ring = UringReader::opened(reads_per_disk * disks);
  if (ring && std::ranges::all_of(tries, [&](const PageRead& read) { return ring->brings(read); })) return ring;
  return std::make_unique<ThreadReader>(threads_per_disk * disks);
}

}  // namespace spillway
