// Reads of pages, by the kernel (io_uring) and by threads: what they bring, and what happens when they fail.
#include "supply/page_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "base/system_calls.hpp"
#include "support.hpp"

#include <spillway/error.hpp>

namespace spillway {
namespace {

using testing::TemporaryFolder;

const SystemCalls real = system_calls();

int refused_with = 0;  // errno of uring_open

/// What a file of 64 blocks is read by, with faults that are put right at the end.
class PageReads : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr unsigned      most   = 4;
  static constexpr std::uint64_t blocks = 64;

  PageReads() {
    std::mt19937_64 random{5};
    bytes_.resize(blocks * disk_block);
    std::ranges::generate(bytes_, [&] { return static_cast<char>(random()); });
    path_ = folder_.write("pages", bytes_);
    if (by_threads()) refuse_uring(EPERM);
  }
  ~PageReads() override { system_calls() = real; }

  void SetUp() override {
    io_uring* ring = nullptr;
    if (by_threads()) return;
    if (real.uring_open(1, &ring) < 0) GTEST_SKIP() << "this kernel or build has no io_uring";
    real.uring_close(ring);
  }

  static bool by_threads() { return GetParam() == std::string_view{"pread"}; }
  static void refuse_uring(int error) {
    refused_with              = error;
    system_calls().uring_open = [](unsigned, io_uring**) { return -refused_with; };
  }

  /// Memory as unbuffered reads need it, with something in it.
  struct Memory {
    std::unique_ptr<std::byte, decltype(&std::free)> bytes{
        static_cast<std::byte*>(std::aligned_alloc(disk_block, blocks* disk_block)), &std::free};
    Memory() { std::memset(bytes.get(), 7, blocks * disk_block); }
  };

  PageRead block(std::uint64_t at, std::uint64_t count = 1) const {
    return {&*file_, at * disk_block, count * disk_block, memory_.bytes.get() + at * disk_block};
  }
  std::unique_ptr<PageReader> reader() {
    file_.emplace(path_, 0, memory_.bytes.get());
    return page_reader(std::vector{block(0)}, 1);
  }
  /// The whole file, in reads of 1 to 5 blocks; the complaints.
  std::vector<std::string> read_all(PageReader& by) {
    std::vector<std::string> complaints;
    std::set<std::uint64_t>  under_way;
    const auto               take = [&] {
      const PageReader::Done done = by.completed();
      EXPECT_EQ(under_way.erase(done.tag), 1u);
      if (!done.failure) return;
      EXPECT_THROW(std::rethrow_exception(done.failure), Error);
      try {
        std::rethrow_exception(done.failure);
      } catch (const Error& error) {
        complaints.emplace_back(error.what());
      }
    };
    for (std::uint64_t at = 0, count = 1; at < blocks; at += count, count = 1 + at % 5) {
      if (under_way.size() == most) take();
      std::uint64_t tag = 0;
      while (under_way.contains(tag)) ++tag;
      under_way.insert(tag);
      by.submit(tag, block(at, std::min(count, blocks - at)));
    }
    while (!under_way.empty()) take();
    return complaints;
  }
  bool has_all() const { return std::memcmp(memory_.bytes.get(), bytes_.data(), bytes_.size()) == 0; }

  TemporaryFolder         folder_;
  std::string             bytes_, path_;
  Memory                  memory_;
  std::optional<PageFile> file_;
};

INSTANTIATE_TEST_SUITE_P(By, PageReads, ::testing::Values("io_uring", "pread"),
                         [](const auto& member) { return member.param; });

TEST_P(PageReads, BringWhatTheFileHas) {
  const auto by = reader();
  EXPECT_EQ(by->name(), GetParam());
  for (int again = 0; again < 20; ++again) {
    std::memset(memory_.bytes.get(), 0, bytes_.size());
    EXPECT_TRUE(read_all(*by).empty());
    EXPECT_TRUE(has_all());
  }
}

TEST_P(PageReads, SayWhereAFileEnds) {
  const auto by = reader();
  ASSERT_EQ(truncate(path_.c_str(), 40 * disk_block + 100), 0);
  const auto complaints = read_all(*by);
  ASSERT_FALSE(complaints.empty());
  for (const std::string& each : complaints)
    EXPECT_NE(each.find("/pages: ended at byte"), std::string::npos) << each;
}

/// The n-th read of the system fails for good: one complaint with its words.
TEST_P(PageReads, SayWhatTheSystemSays) {
  static std::atomic<int> left{0};
  const auto              by = reader();
  system_calls().uring_wait  = [](io_uring* ring, std::uint64_t* tag, int* result) {
    const int error = real.uring_wait(ring, tag, result);
    if (error == 0) *result = -EIO;
    return error;
  };
  system_calls().pread = [](int descriptor, void* into, std::size_t bytes, off_t offset) -> ssize_t {
    if (left-- != 0) return real.pread(descriptor, into, bytes, offset);
    errno = EIO;
    return -1;
  };
  for (int n = 0; n < 10; ++n) {
    left                  = n;
    const auto complaints = read_all(*by);
    ASSERT_EQ(complaints.size(), 1u);
    EXPECT_NE(complaints[0].find("/pages: cannot read: Input/output error"), std::string::npos) << complaints[0];
  }
}

/// Interrupted, or in parts.
TEST_P(PageReads, GoOnWhereTheyWereLeft) {
  static std::atomic<int> turn{0};
  const auto              by = reader();
  system_calls().pread       = [](int descriptor, void* into, std::size_t bytes, off_t offset) -> ssize_t {
    if (turn++ % 3 == 0) {
      errno = EINTR;
      return -1;
    }
    return real.pread(descriptor, into, std::min<std::size_t>(bytes, disk_block), offset);
  };
  system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
    const int error = real.uring_wait(ring, tag, result);
    if (error == 0 && turn++ % 2 == 0) *result = turn % 4 == 1 ? std::min(*result, 5000) : 0;
    return error;
  };
  EXPECT_TRUE(read_all(*by).empty());
  EXPECT_TRUE(has_all());
  EXPECT_GT(turn, 10);
}

/// Destroyed while reads are under way, a reader leaves memory alone from then on.
TEST_P(PageReads, HaveEndedWhenTheirReaderIsGone) {
  static std::atomic<int>  begun{0}, ended{0};
  static std::atomic<bool> closed{false};
  begun = ended = 0, closed = false;
  auto by                   = reader();
  system_calls().uring_read = [](io_uring* ring, int descriptor, void* into, unsigned bytes, off_t offset,
                                 std::uint64_t tag) {
    ++begun;
    return real.uring_read(ring, descriptor, into, bytes, offset, tag);
  };
  system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
    const int error = real.uring_wait(ring, tag, result);
    ended += error == 0;
    return error;
  };
  system_calls().uring_close = [](io_uring* ring) {
    closed = true;
    EXPECT_EQ(ended, begun);
    real.uring_close(ring);
  };
  system_calls().pread = [](int descriptor, void* into, std::size_t bytes, off_t offset) -> ssize_t {
    ++begun;
    const ssize_t done = real.pread(descriptor, into, bytes, offset);
    ++ended;
    return done;
  };
  for (std::uint64_t tag = 0; tag < most; ++tag) by->submit(tag, block(tag * 16, 16));
  by = nullptr;
  EXPECT_EQ(ended, begun);
  EXPECT_EQ(closed, !by_threads());
}

using UringReads = PageReads;
INSTANTIATE_TEST_SUITE_P(By, UringReads, ::testing::Values("io_uring"),
                         [](const auto& member) { return member.param; });

TEST_P(UringReads, AreMadeByThreadsWhereTheKernelRefuses) {
  for (const int error : {EPERM, ENOSYS, EACCES, ENOMEM, EINVAL}) {
    refuse_uring(error);
    const auto by = reader();
    EXPECT_EQ(by->name(), "pread");
    EXPECT_TRUE(read_all(*by).empty());
    EXPECT_TRUE(has_all());
  }
}

TEST_P(UringReads, AreMadeByThreadsWhereTheFileSystemRefuses) {
  static int wrong          = 0;
  system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
    const int error = real.uring_wait(ring, tag, result);
    *result         = wrong;
    return error;
  };
  for (const int result : {-EINVAL, -EOPNOTSUPP, 0}) {
    wrong         = result;
    const auto by = reader();
    EXPECT_EQ(by->name(), "pread");
    EXPECT_TRUE(read_all(*by).empty());
    EXPECT_TRUE(has_all());
  }
}

/// What the kernel does not bring is read by pread.
TEST_P(UringReads, AreMendedOneByOne) {
  static int wrong = 0, turn = 0, refused = 0;
  for (const int error : {EIO, EAGAIN, EINTR, EINVAL, ECANCELED}) {
    const auto by             = reader();
    wrong                     = error;
    system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
      const int failed = real.uring_wait(ring, tag, result);
      if (failed == 0 && turn++ % 3 == 0) *result = -wrong;
      return failed;
    };
    system_calls().uring_read = [](io_uring* ring, int descriptor, void* into, unsigned bytes, off_t offset,
                                   std::uint64_t tag) {
      if (turn++ % 4 != 0) return real.uring_read(ring, descriptor, into, bytes, offset, tag);
      ++refused;
      return -EAGAIN;
    };
    std::memset(memory_.bytes.get(), 0, bytes_.size());
    EXPECT_TRUE(read_all(*by).empty());
    EXPECT_TRUE(has_all());
    system_calls() = real;
  }
  EXPECT_GT(refused, 5);
}

/// Whatever it says, the read goes on, and is waited for.
TEST_P(UringReads, AreWaitedForWhereWaitingFails) {
  static int turn           = 0;
  const auto by             = reader();
  system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
    constexpr int errors[]{EINTR, EAGAIN, EBUSY, EIO};
    return turn++ % 5 < 4 ? -errors[turn % 4] : real.uring_wait(ring, tag, result);
  };
  EXPECT_TRUE(read_all(*by).empty());
  EXPECT_TRUE(has_all());
  EXPECT_GT(turn, 50);
}

TEST_P(PageReads, AreBufferedWhereNothingElseIsPossible) {
  static std::atomic<int> refused{0};
  refused              = 0;
  system_calls().pread = [](int descriptor, void* into, std::size_t bytes, off_t offset) -> ssize_t {
    if ((fcntl(descriptor, F_GETFL) & O_DIRECT) == 0) return real.pread(descriptor, into, bytes, offset);
    ++refused;
    errno = EINVAL;
    return -1;
  };
  EXPECT_TRUE(read_all(*reader()).empty());
  EXPECT_TRUE(has_all());
  system_calls().open = [](const char* path, int flags, mode_t mode) {
    if ((flags & O_DIRECT) == 0) return real.open(path, flags, mode);
    ++refused;
    errno = EINVAL;
    return -1;
  };
  std::memset(memory_.bytes.get(), 0, bytes_.size());
  EXPECT_TRUE(read_all(*reader()).empty());
  EXPECT_TRUE(has_all());
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace spillway
