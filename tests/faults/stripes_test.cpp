// The n-th call on files fails or ends the process while a graph is written in stripes over an older one: the old
// graph or the new one is there, whole, and nothing else that has a name in use.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "faults/system_faults.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::Fault;
using testing::SystemFaults;

class FaultsOfStripes : public ::testing::Test {
 protected:
  FaultsOfStripes() {
    system_calls().fsync = [](int) { return 0; };  // no test cuts the power
    for (const char* name : {"a", "b"}) {
      folders_.push_back(folder_ / name);
      std::filesystem::create_directory(folders_.back());
    }
  }
  ~FaultsOfStripes() override { system_calls() = before_; }

  void write(const Graph& graph) const {
    OutputFile          file{path_};
    store::StripeOutput stripes{path_, folders_};
    store::write(graph, {.page_bytes = 4096, .compressed = true}, file, Progress::none(), &stripes);
    store::commit(file, stripes);
  }
  std::size_t stripes() const {
    std::size_t count = 0;
    for (const std::string& name : folders_)
      count += static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{name}, {}));
    return count;
  }
  void start_again() const {
    std::filesystem::remove(path_);
    for (const std::string& name : folders_) {
      std::filesystem::remove_all(name);
      std::filesystem::create_directory(name);
    }
  }
  bool holds(const Graph& graph) const {
    const Graph found = store::in_memory(open(path_), 1, Progress::none());
    return std::ranges::equal(found.out().targets, graph.out().targets);
  }
  static Graph some_graph(const char* seed) {
    GenerateOptions options;
    options.seed = std::stoull(seed);
    return generate("kron", {{"scale", "7"}}, options);
  }

  SystemCalls              before_ = system_calls();
  testing::TemporaryFolder folder_;
  std::string              path_ = folder_ / "g.spill";
  std::vector<std::string> folders_;
  Graph                    old_ = some_graph("1"), fresh_ = some_graph("2");
};

TEST_F(FaultsOfStripes, LeaveTheOldGraphOrTheNew) {
  int errors = 0;
  for (const int code : {EIO, ENOSPC}) {
    bool more = true;
    for (std::uint64_t number = 1; more; ++number) {
      write(old_);
      ASSERT_EQ(stripes(), 2u);
      bool        failed = false;
      const char* hit    = nullptr;
      {
        const SystemFaults system{{Fault::Kind::error, code}, number};
        try {
          write(fresh_);
        } catch (const Error& error) {
          failed = true;
          EXPECT_NE(error.code(), ExitCode::internal_error) << error.what();
          ++errors;
        }
        hit  = system.hit();
        more = hit != nullptr;
      }
      EXPECT_TRUE(holds(failed ? old_ : fresh_) || (failed && holds(fresh_))) << number << " " << (hit ? hit : "");
      // Old stripes stay where they cannot be looked at or removed, or where the new graph may not be on disk.
      const bool left = hit && (!failed || std::string_view{hit} == "unlink" || holds(fresh_));
      EXPECT_TRUE(stripes() == 2 || (left && stripes() <= 4)) << number << " " << (hit ? hit : "");
      start_again();
    }
  }
  EXPECT_GT(errors, 20);
}

TEST_F(FaultsOfStripes, LeaveOneOfThemAfterAKill) {
  bool more = true;
  for (std::uint64_t number = 1; more; ++number) {
    write(old_);
    const pid_t child = fork();
    if (child == 0) {
      use_threads(1);  // those of OpenMP did not come along
      const SystemFaults system{{Fault::Kind::end_of_process, 0}, number};
      try {
        write(fresh_);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    more = WIFEXITED(status) && WEXITSTATUS(status) == testing::ended_by_fault;
    EXPECT_TRUE(more || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
    EXPECT_TRUE(holds(old_) || holds(fresh_)) << number;
    EXPECT_LE(stripes(), 4u) << number;
    start_again();
  }
}

}  // namespace
}  // namespace spillway
