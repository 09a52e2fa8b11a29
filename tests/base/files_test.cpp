// Files as the rest of the program relies on them: outputs that appear whole, with the mode of what they replace,
// and leave nothing; mapped files that are cut short, written to, or lie on a network; threads that are not
// granted.
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/files.hpp"
#include "base/system_calls.hpp"
#include "support.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::read_file;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

/// The table as it was, when this ends.
class Replaced {
 public:
  Replaced() : before_(system_calls()) {}
  Replaced(const Replaced&)            = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() { system_calls() = before_; }

 private:
  SystemCalls before_;
};

void write(const std::string& path, const std::string& text) {
  OutputFile file{path};
  file.append(text);
  file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

template <int Code>
int refuse_link(int, const char*, int, const char*, int) {
  errno = Code;
  return -1;
}

// --- outputs ---

TEST(OutputFiles, HaveNoNameUntilTheyAreCommitted) {
  const TemporaryFolder folder;
  OutputFile            file{folder / "out"};
  file.append("text");
  EXPECT_LE(folder.file_count(), 1u) << "none, or a temporary one where the system has no unnamed files";
  EXPECT_FALSE(fs::exists(folder / "out"));
  file.commit();
  EXPECT_EQ(read_file(folder / "out"), "text");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(OutputFiles, KeepTheModeOfWhatTheyReplace) {
  const TemporaryFolder folder;
  const mode_t          mask = umask(027);
  write(folder / "fresh", "1");
  EXPECT_EQ(mode_of(folder / "fresh"), 0640u);
  for (const mode_t mode : {0600u, 0444u, 0755u, 0666u}) {
    folder.write("old", "0");
    ASSERT_EQ(chmod((folder / "old").c_str(), mode), 0);
    write(folder / "old", "1");
    EXPECT_EQ(mode_of(folder / "old"), mode);
    EXPECT_EQ(read_file(folder / "old"), "1");
    fs::remove(folder / "old");
  }
  umask(mask);
}

TEST(OutputFiles, KeepTheOwnerOfWhatTheyReplace) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TemporaryFolder folder;
  ASSERT_EQ(chown(folder.write("old", "0").c_str(), 12345, 54321), 0);
  ASSERT_EQ(chmod((folder / "old").c_str(), 04711), 0);
  write(folder / "old", "1");
  struct stat info {};
  ASSERT_EQ(stat((folder / "old").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345u);
  EXPECT_EQ(info.st_gid, 54321u);
  EXPECT_EQ(info.st_mode & 07777, 04711u);
  static uid_t   refused = 0;
  const Replaced table;
  system_calls().fchown = [](int, uid_t user, gid_t) {
    refused = user;
    errno   = EPERM;
    return -1;
  };
  write(folder / "old", "2");
  EXPECT_EQ(refused, 12345u);
  EXPECT_EQ(mode_of(folder / "old"), 0711u) << "a file that is ours must not act for another user";
}

TEST(OutputFiles, AreOnDiskBeforeTheyAreNamedAndTheirFolderAfterwards) {
  static std::vector<std::string> calls;
  calls.clear();
  static SystemCalls    real;
  const Replaced        table;
  const TemporaryFolder folder;
  real                 = system_calls();
  system_calls().fsync = [](int descriptor) {
    struct stat info {};
    calls.push_back(fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode) ? "folder" : "file");
    return real.fsync(descriptor);
  };
  system_calls().rename = [](const char* from, const char* to) {
    calls.emplace_back("rename");
    return real.rename(from, to);
  };
  write(folder / "out", "text");
  EXPECT_EQ(calls, (std::vector<std::string>{"file", "rename", "folder"}));
}

TEST(OutputFiles, NeedNoFsyncWhereThereIsNone) {
  const TemporaryFolder folder;
  const Replaced        table;
  system_calls().fsync = [](int) {
    errno = EINVAL;
    return -1;
  };
  write(folder / "out", "text");
  EXPECT_EQ(read_file(folder / "out"), "text");
}

TEST(OutputFiles, AreCopiedWhereNoNameCanBeGivenToThem) {
  const TemporaryFolder folder;
  const Replaced        table;
  system_calls().linkat = refuse_link<ENOENT>;  // no /proc
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + "\n";
  folder.write("out", "old");
  ASSERT_EQ(chmod((folder / "out").c_str(), 0604), 0);
  write(folder / "out", text);
  EXPECT_EQ(read_file(folder / "out"), text);
  EXPECT_EQ(mode_of(folder / "out"), 0604u);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(OutputFiles, RemoveWhatAKilledProcessLeftOfTheSameTarget) {
  const TemporaryFolder    folder;
  const std::string        left   = folder.write("out.spillway-0123456789abcdef.tmp", "half");
  const std::string        made   = folder.write("out.spillway-0123456789abcdef.tmp.out", "half");
  const std::string        others = folder.write("other.spillway-0123456789abcdef.tmp", "half");
  std::vector<std::string> not_ours;
  for (const char* name :
       {"out.tmp", "out.1-0.tmp", "out.spillway-0123456789abcde.tmp", "out.spillway-0123456789ABCDEF.tmp",
        "out.spillway-0123456789abcdef.tmp.txt", "xout.spillway-0123456789abcdef.tmp"})
    not_ours.push_back(folder.write(name, "mine"));
  fs::create_directory(folder / "out.spillway-00000000000000ff.tmp");
  write(folder / "out", "text");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(made));
  EXPECT_TRUE(fs::exists(others));
  EXPECT_TRUE(fs::exists(folder / "out.spillway-00000000000000ff.tmp"));
  for (const std::string& path : not_ours) EXPECT_EQ(read_file(path), "mine") << path;
}

TEST(OutputFiles, LeaveThoseAloneThatAreBeingWritten) {
  const TemporaryFolder folder;
  OutputFile            first{folder / "out", OutputFile::Writer::another_program};
  std::ofstream{first.place_for_program()} << "first";
  const FileHandle held{::open(folder.write("out.spillway-0123456789abcdef.tmp", "x").c_str(), O_RDONLY)};
  ASSERT_EQ(flock(held.get(), LOCK_EX | LOCK_NB), 0);
  write(folder / "out", "second");
  EXPECT_EQ(read_file(folder / "out"), "second");
  EXPECT_TRUE(fs::exists(folder / "out.spillway-0123456789abcdef.tmp"));
  first.take_from_program();
  first.commit();
  EXPECT_EQ(read_file(folder / "out"), "first");
}

TEST(OutputFiles, OfManyThreadsDoNotMeet) {
  const TemporaryFolder    folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) write(folder / "out", std::string(10000, static_cast<char>('a' + i)));
    });
  for (std::thread& thread : threads) thread.join();
  const std::string text = read_file(folder / "out");
  EXPECT_EQ(text.size(), 10000u);
  EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(OutputFiles, AreTakenBackIfTheNextCannotBeRenamed) {
  for (const bool older : {false, true}) {
    const TemporaryFolder folder;
    if (older) folder.write("a", "old a"), folder.write("b", "old b");
    {
      OutputFile a{folder / "a"}, b{folder / "b"};
      a.append("new a"), b.append("new b");
      const Replaced     table;
      static SystemCalls real;
      real                  = system_calls();
      system_calls().rename = [](const char* from, const char* to) {
        if (!std::string_view{to}.ends_with("/b")) return real.rename(from, to);
        errno = EIO;
        return -1;
      };
      const auto [code, message] = failure_of([&] { OutputFile::commit_together({&a, &b}); });
      EXPECT_EQ(code, ExitCode::bad_input);
      EXPECT_NE(message.find("/b: cannot rename into place"), std::string::npos) << message;
    }
    EXPECT_EQ(fs::exists(folder / "a"), older);
    EXPECT_EQ(read_file(folder / "a"), older ? "old a" : "");
    EXPECT_EQ(read_file(folder / "b"), older ? "old b" : "");
    EXPECT_EQ(folder.file_count(), older ? 2u : 0u);
  }
}

// --- mapped files ---

/// What a process that runs `body` ends with, and says.
template <class Body>
std::pair<int, std::string> ending_of_process(Body&& body) {
  const TemporaryFolder folder;
  const std::string     said  = folder / "said";
  const pid_t           child = fork();
  if (child == 0) {
    const int to = ::open(said.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(to, STDERR_FILENO);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(said)};
}

char last_byte(const MappedFile& file) {
  const volatile char* const place = file.text().data() + file.text().size() - 1;
  return *place;
}

TEST(MappedFiles, ThatAreCutShortEndWithAMessage) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("data", std::string(1 << 20, 'x'));
  const auto [code, said]    = ending_of_process([&] {
    const MappedFile other{path}, file{path};
    fs::resize_file(path, 10);
    last_byte(file);
  });
  EXPECT_EQ(code, 3);
  EXPECT_EQ(said.find("error: " + path + ": a part of the file can no longer be read"), 0u) << said;
}

TEST(MappedFiles, ThatFailAreReportedAsAsked) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("data", std::string(1 << 20, 'x'));
  const auto [code, said]    = ending_of_process([&] {
    report_mapped_faults([](const std::string& message) { return "{\"error\": \"" + message + "\"}"; },
                         STDERR_FILENO);
    const MappedFile file{path};
    fs::resize_file(path, 10);
    last_byte(file);
  });
  EXPECT_EQ(code, 3);
  EXPECT_EQ(said.find("{\"error\": \"" + path), 0u) << said;
}

/// A fault in a mapping that Spillway knows nothing of.
void fault_elsewhere(const TemporaryFolder& folder) {
  const std::string path = folder.write("elsewhere", std::string(1 << 20, 'x'));
  const FileHandle  file{::open(path.c_str(), O_RDWR)};
  const auto*       bytes =
      static_cast<const volatile char*>(mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED, file.get(), 0));
  fs::resize_file(path, 10);
  static_cast<void>(bytes[(1 << 20) - 1]);
}

TEST(MappedFiles, LeaveOtherBusErrorsAsTheyWere) {
  const TemporaryFolder folder;
  const MappedFile      file{folder.write("data", "y")};
  for (const bool sent : {false, true}) {
    const auto [code, said] = ending_of_process([&] { sent ? void(raise(SIGBUS)) : fault_elsewhere(folder); });
    EXPECT_TRUE(code == -SIGBUS || code == 1) << code << ": as without us; the sanitizers exit 1";
    EXPECT_EQ(said.find("error: "), std::string::npos) << said;
  }
}

TEST(MappedFiles, LeaveOtherBusErrorsToTheHandlerBefore) {
  struct sigaction before {};
  sigaction(SIGBUS, nullptr, &before);
  if (before.sa_handler != SIG_DFL)
    GTEST_SKIP() << "ours was installed by another test, or the sanitizers have one";
  const TemporaryFolder folder;
  const auto [code, said] = ending_of_process([&] {
    struct sigaction theirs {};
    theirs.sa_sigaction = [](int, siginfo_t*, void*) { _exit(42); };
    theirs.sa_flags     = SA_SIGINFO;
    sigaction(SIGBUS, &theirs, nullptr);
    const MappedFile file{folder.write("data", "y")};
    fault_elsewhere(folder);
  });
  EXPECT_EQ(code, 42) << said;
}

TEST(MappedFiles, ThatWereWrittenToAreNoticed) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("data", "some text");
  const MappedFile      file{path};
  check_mapped_files();
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // times have ticks
  folder.write("data", "same size");
  auto [code, message] = failure_of([&] { check_mapped_files(); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(message.find(path + ": the file changed while it was in use (it was written to)"), std::string::npos)
      << message;
  folder.write("data", "another size");
  EXPECT_NE(failure_of([&] { check_mapped_files(path); }).second.find("(9 bytes, then 12)"), std::string::npos);
  check_mapped_files(path + "x");
}

TEST(MappedFiles, MayBeReplaced) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("data", "some text");
  const MappedFile      file{path};
  write(path, "another file");
  check_mapped_files();
  EXPECT_EQ(file.text(), "some text");
}

TEST(MappedFiles, OfNetworksAreReadIfThereIsRoom) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("data", std::string(100000, 'x'));
  const Replaced        table;
  system_calls().fstatfs = [](int, struct statfs* info) {
    info->f_type = NFS_SUPER_MAGIC;
    return 0;
  };
  const auto roomy = std::make_shared<MemoryBudget>(1 << 20), narrow = std::make_shared<MemoryBudget>(1000);
  {
    const MappedFile read{path, roomy}, mapped{path, narrow}, no_budget{path};
    EXPECT_GE(roomy->used(), 100000u);
    EXPECT_EQ(narrow->used(), 0u);
    EXPECT_EQ(read.text(), mapped.text());
    folder.write("data", "shorter");
    EXPECT_EQ(read.text(), std::string(100000, 'x'));
    read.check_unchanged();
  }
  EXPECT_EQ(roomy->used(), 0u);
}

TEST(MappedFiles, AreReadWhereNothingCanBeMapped) {
  const TemporaryFolder folder;
  const Replaced        table;
  system_calls().mmap = [](void*, std::size_t, int, int, int, off_t) {
    errno = ENODEV;
    return MAP_FAILED;
  };
  const MappedFile file{folder.write("data", "some text")};
  EXPECT_EQ(file.text(), "some text");
}

// --- threads ---

TEST(Threads, ThatAreNotGrantedAreAnError) {
  static int granted = 0;
  granted            = 0;
  const Replaced     table;
  static SystemCalls real;
  real                        = system_calls();
  system_calls().start_thread = [](pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*),
                                   void* given) {
    return ++granted > 9 ? EAGAIN : real.start_thread(thread, how, body, given);
  };
  constexpr int far_more     = 900;  // than any test before has used
  const auto [code, message] = failure_of([&] { on_threads(far_more, [](int) {}); });
  EXPECT_EQ(code, ExitCode::does_not_fit);
  EXPECT_EQ(
      message.find("the system grants 10 threads, not 900 (Resource temporarily unavailable): use --threads 5"),
      0u)
      << message;
}

}  // namespace
}  // namespace spillway
