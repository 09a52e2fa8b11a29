// The n-th call on files fails, is short, is interrupted or ends the process, n = 1, 2, … to the end, for every
// reader and every writer: a right result or one clear error; old output or new, whole; nothing left behind.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstring>
#include <functional>
#include <optional>

#include "base/files.hpp"
#include "faults/cases.hpp"
#include "faults/system_faults.hpp"
#include "io/format.hpp"
#include "io/result_writer.hpp"
#include "seeds.hpp"
#include "support.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

using testing::Fault;
using testing::read_file;
using testing::SystemFaults;
using testing::TemporaryFolder;
using testing::WithoutDisk;

constexpr std::uint64_t each = 60;  ///< faults before gaps grow

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{{Fault::Kind::error, EIO},
                                      {Fault::Kind::error, ENOSPC},
                                      {Fault::Kind::error, EINTR},
                                      {Fault::Kind::short_count, 0}};
  return all;
}

/// After a signal the call is made again, and what a call left undone is done by the next.
bool must_succeed(const Fault& fault) { return fault.kind == Fault::Kind::short_count || fault.code == EINTR; }

std::string at_call(std::uint64_t number, const SystemFaults& faults, const Fault& fault) {
  return std::string{": call "} + std::to_string(number) + " (" + (faults.hit() ? faults.hit() : "none") + ") " +
         as_text(fault);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// --- readers ---

/// The bytes of a graph of some size, so that readers ask for more than one piece.
std::string written_as(const std::string& format, const std::string& suffix) {
  const TemporaryFolder folder;
  const Transform       simple{.undirected = true, .dedup = true, .drop_loops = true};
  const Graph           graph = generate("kron", {{"scale", "6"}, {"degree", "4"}}, {.transform = simple});
  save(graph, folder / ("g." + suffix), format);
  return read_file(folder / ("g." + suffix));
}

std::vector<std::string> readers() {
  std::vector<std::string> names{"auto", "gzip", "zstd"};
  for (const Format& format : formats()) names.push_back(format.name);
  return names;
}

std::vector<std::string> files_for(const std::string& reader) {
  if (reader == "auto") return {written_as("edgelist", "el")};
  if (reader == "gzip") return {fuzz::gzipped(written_as("edgelist", "el"))};
  if (reader == "zstd") return {fuzz::zstd_compressed(written_as("edgelist", "el"))};
  for (const Format& format : formats())
    if (format.name == reader && format.write) return {written_as(reader, format.suffixes.front())};
  return fuzz::seeds(reader);
}

class FaultsOfReading : public ::testing::TestWithParam<std::string> {
 protected:
  /// Puts the file, or three, into the folder; the path to open.
  std::string place(const std::string& bytes) const {
    if (GetParam() != "ldbc") return folder_.write("graph", bytes);
    const std::size_t cut = bytes.find('\0');
    folder_.write("graph.v", bytes.substr(0, cut));
    folder_.write("graph.properties", "graph.graph.directed = true\n");
    return folder_.write("graph.e", bytes.substr(cut + 1));
  }

  std::vector<testing::NamedArc> arcs_in(const std::string& path) const {
    LoadOptions options;
    options.format  = GetParam() == "gzip" || GetParam() == "zstd" ? "edgelist" : GetParam();
    options.threads = 2;
    return testing::arcs_of(open(path, options));
  }

  void try_file(const std::string& path) {
    const auto expected = arcs_in(path);
    ASSERT_FALSE(expected.empty());
    for (const Fault& fault : faults()) {
      testing::Numbers numbers{each, GetParam() + as_text(fault)};
      std::uint64_t    number = numbers.next();
      while (!HasFailure() && try_fault(fault, number, path, expected)) number = numbers.next();
      EXPECT_GT(number, 10u);  // opened twice, looked at, read and closed
    }
  }

  /// False if there are not so many calls.
  bool try_fault(const Fault& fault, std::uint64_t number, const std::string& path,
                 const std::vector<testing::NamedArc>& expected) {
    const std::size_t  open = testing::open_descriptors();
    const SystemFaults system{fault, number};
    std::string        error;
    try {
      EXPECT_EQ(arcs_in(path), expected) << at_call(number, system, fault);
    } catch (const Error& failed) {
      error = failed.what();
      EXPECT_NE(failed.code(), ExitCode::internal_error) << error;
      EXPECT_NE(error.find(folder_ / ""), std::string::npos) << "which file? " << error;
    }
    const std::string when = at_call(number, system, fault) + ": " + error;
    if (must_succeed(fault) || !system.hit()) {
      EXPECT_EQ(error, "") << when;
    }
    EXPECT_EQ(testing::open_descriptors(), open) << when;
    return system.hit() != nullptr;
  }

  TemporaryFolder folder_;
};

TEST_P(FaultsOfReading, GiveTheRightGraphOrOneError) {
  for (const std::string& bytes : files_for(GetParam())) try_file(place(bytes));
}

INSTANTIATE_TEST_SUITE_P(Formats, FaultsOfReading, ::testing::ValuesIn(readers()),
                         [](const auto& test) { return test.param; });

// --- writers ---

/// One command that writes: what it makes of a folder, given the names of its outputs.
struct Writing {
  std::string                                 name;
  std::vector<std::string>                    outputs;
  std::function<void(const TemporaryFolder&)> run;
};

/// For messages of the test.
void PrintTo(const Writing& writing, std::ostream* out) { *out << writing.name; }

const Graph& written_graph() {
  static const Graph graph = generate("kron", {{"scale", "6"}, {"degree", "4"}},
                                      {.transform = {.undirected = true, .dedup = true, .drop_loops = true}});
  return graph;
}

const Result& written_result() {
  static const Result result = [] {
    const Algorithm& bfs = algorithm_named("bfs");
    return bfs.run(written_graph(), completed_parameters(bfs, {{"source", written_graph().ids().name(0)}}),
                   {.threads = 1});
  }();
  return result;
}

/// A graph and the table of its ids, as `convert --id-map` writes them.
void write_pair(const TemporaryFolder& folder) {
  OutputFile graph{folder / "g.el"}, table{folder / "ids.txt"};
  write_graph(written_graph(), format_to_write(graph.path()), graph, Progress::none());
  table.append("0\n1\n2\n");
  OutputFile::commit_together({&table, &graph});
}

/// As `spillway build` has the compiler write: to a file that the compiler makes itself.
void write_by_program(const TemporaryFolder& folder) {
  OutputFile file{folder / "plugin.so", OutputFile::Writer::another_program};
  std::ofstream{file.place_for_program()} << "made by another program";
  file.take_from_program();
  file.commit();
}

std::vector<Writing> writings() {
  std::vector<Writing> all;
  for (const Format& format : formats())
    if (format.write)
      all.push_back({format.name,
                     {"g." + format.suffixes.front()},
                     [name = format.name, suffix = format.suffixes.front()](const TemporaryFolder& folder) {
                       save(written_graph(), folder / ("g." + suffix), name);
                     }});
  for (const std::string suffix : {"csv", "json", "npy"})
    all.push_back({"result_" + suffix, {"r." + suffix}, [suffix](const TemporaryFolder& folder) {
                     write_result(written_result(), written_graph(), folder / ("r." + suffix), Progress::none());
                   }});
  all.push_back({"with_id_map", {"g.el", "ids.txt"}, write_pair});
  all.push_back({"by_program", {"plugin.so"}, write_by_program});
  return all;
}

class FaultsOfWriting : public ::testing::TestWithParam<Writing> {
 protected:
  void SetUp() override {
    disk_.emplace();
    GetParam().run(folder_);
    for (const std::string& name : GetParam().outputs) {
      fresh_.push_back(read_file(folder_ / name));
      EXPECT_FALSE(fresh_.back().empty());
    }
    start_again();
  }

  /// The folder as it is before the command: with older outputs, or with none.
  void start_again() {
    for (const auto& entry : std::filesystem::directory_iterator{folder_ / ""}) std::filesystem::remove(entry);
    for (const std::string& name : GetParam().outputs)
      if (older_) folder_.write(name, old_text);
  }

  std::string now(std::size_t output) const {
    const std::string path = folder_ / GetParam().outputs[output];
    return std::filesystem::exists(path) ? read_file(path) : "(none)";
  }
  std::string old() const { return older_ ? old_text : "(none)"; }

  bool all_are(bool fresh) const {
    for (std::size_t i = 0; i < fresh_.size(); ++i)
      if (now(i) != (fresh ? fresh_[i] : old())) return false;
    return true;
  }

  /// Each output is the old one or the new one.
  void expect_whole(const std::string& when) const {
    for (std::size_t i = 0; i < fresh_.size(); ++i)
      EXPECT_TRUE(now(i) == old() || now(i) == fresh_[i]) << GetParam().outputs[i] << when;
  }

  /// Nothing but outputs. What the system would not remove is removed by the next command.
  void expect_tidy(const std::string& when) const {
    for (const std::string& name : names_in(folder_ / ""))
      EXPECT_NE(std::find(GetParam().outputs.begin(), GetParam().outputs.end(), name), GetParam().outputs.end())
          << name << when;
  }

  void expect_works_next_time(const std::string& when) const {
    GetParam().run(folder_);
    EXPECT_TRUE(all_are(true)) << when;
    expect_tidy(", run again" + when);
  }

  /// Whatever happens at call `number`. False if there are not so many calls.
  bool try_fault(const Fault& fault, std::uint64_t number) {
    start_again();
    const std::size_t open = testing::open_descriptors();
    std::string       error, when;
    const char*       hit = nullptr;
    {
      SystemFaults system{fault, number};
      try {
        GetParam().run(folder_);
      } catch (const Error& failed) {
        EXPECT_NE(failed.code(), ExitCode::internal_error) << failed.what();
        error = failed.what();
      }
      hit  = system.hit();
      when = at_call(number, system, fault) + ": " + error;
    }
    if (must_succeed(fault) || !hit) {
      EXPECT_EQ(error, "") << when;
    }
    if (error.empty()) {
      EXPECT_TRUE(all_are(true)) << when;
    }
    expect_whole(when);
    EXPECT_TRUE(all_are(true) || all_are(false)) << "some are new, others old" << when;
    EXPECT_EQ(testing::open_descriptors(), open) << when;
    const bool could_not_remove = hit && std::string{hit} == "unlink";
    if (!could_not_remove) expect_tidy(when);
    if (!error.empty() || could_not_remove) expect_works_next_time(when);
    return hit != nullptr;
  }

  /// A process that ends at call `number`. False if it does not come to that.
  bool try_end(std::uint64_t number) {
    start_again();
    const pid_t child = fork();
    if (child == 0) {
      use_threads(1);  // those of OpenMP did not come along
      const SystemFaults system{{Fault::Kind::end_of_process, 0}, number};
      try {
        GetParam().run(folder_);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == testing::ended_by_fault))
        << status;
    const std::string when = ", after the end of a process at call " + std::to_string(number);
    expect_whole(when);
    expect_works_next_time(when);
    return WEXITSTATUS(status) == testing::ended_by_fault;
  }

  /// Tries faults at growing numbers; how many calls there are, about.
  template <class Try>
  std::uint64_t tried(const std::string& salt, Try&& fault_at) {
    testing::Numbers numbers{each, salt + GetParam().name};
    std::uint64_t    number = numbers.next();
    while (!HasFailure() && fault_at(number)) number = numbers.next();
    return number;
  }

  void try_all(const std::string& salt) {
    for (older_ = false;; older_ = true) {
      for (const Fault& fault : faults())
        EXPECT_GT(tried(salt + as_text(fault), [&](auto number) { return try_fault(fault, number); }), 12u);
      EXPECT_GT(tried(salt, [&](auto number) { return try_end(number); }), 12u);
      if (older_ || HasFailure()) return;
    }
  }

  static constexpr const char* old_text = "old\n";
  std::optional<WithoutDisk>   disk_;
  TemporaryFolder              folder_;
  std::vector<std::string>     fresh_;
  bool                         older_ = false;
};

TEST_P(FaultsOfWriting, LeaveTheOldOutputOrTheNew) { try_all("unnamed "); }

/// As over NFS and on older overlays: no file without a name.
class WithoutUnnamedFiles {
 public:
  WithoutUnnamedFiles() : before_(system_calls()) {
    real_               = before_.open;
    system_calls().open = [](const char* path, int flags, mode_t mode) {
      if ((flags & O_TMPFILE) != O_TMPFILE) return real_(path, flags, mode);
      errno = EOPNOTSUPP;
      return -1;
    };
  }
  WithoutUnnamedFiles(const WithoutUnnamedFiles&)            = delete;
  WithoutUnnamedFiles& operator=(const WithoutUnnamedFiles&) = delete;
  ~WithoutUnnamedFiles() { system_calls() = before_; }

 private:
  static inline decltype(SystemCalls::open) real_ = nullptr;
  SystemCalls                               before_;
};

TEST_P(FaultsOfWriting, LeaveTheOldOutputOrTheNewWhereFilesNeedNames) {
  const WithoutUnnamedFiles system;
  try_all("named ");
}

INSTANTIATE_TEST_SUITE_P(Writers, FaultsOfWriting, ::testing::ValuesIn(writings()),
                         [](const auto& test) { return test.param.name; });

TEST(Reading, EndsWhenASignalStoppedIt) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("g.el", "1 2\n2 3\n");
  interrupt_requested        = 1;
  ExitCode code              = ExitCode::done;
  for (std::uint64_t number = 1; number < 30 && code == ExitCode::done; ++number) {
    const SystemFaults system{{Fault::Kind::error, EINTR}, number};
    code = testing::failure_of([&] { open(path); }).first;
  }
  interrupt_requested = 0;
  EXPECT_EQ(code, ExitCode::interrupted);
}

}  // namespace
}  // namespace spillway
