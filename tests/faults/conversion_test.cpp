// Conversions that end before their time, at every call on files: run again, they go on from where they had got to
// and come to the same bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "faults/cases.hpp"
#include "faults/system_faults.hpp"
#include "graph/build_journal.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

using testing::Fault;
using testing::read_file;
using testing::SystemFaults;
using testing::TemporaryFolder;

/// What is converted, and how.
struct Conversion {
  std::string        name;
  std::string        input     = "g.el";
  store::PageOptions pages     = {.page_bytes = 4096, .compressed = true};
  Transform          transform = {};
  bool               in_edges  = false;
  IdMode             ids       = IdMode::automatic;
};

std::vector<Conversion> conversions() {
  const store::PageOptions plain{.page_bytes = 4096}, compressed{.page_bytes = 4096, .compressed = true};
  const store::PageOptions plain_ordered{.page_bytes = 4096, .by_degree = true};
  const store::PageOptions ordered{.page_bytes = 4096, .compressed = true, .by_degree = true};
  return {
      {.name = "compressed", .pages = compressed},
      {.name = "plain", .pages = plain, .transform = {.undirected = true, .dedup = true}},
      {.name = "in_edges", .pages = plain, .transform = {.drop_loops = true}, .in_edges = true},
      {.name = "ordered", .pages = ordered, .transform = {.dedup = true, .drop_loops = true}, .in_edges = true},
      {.name = "plain_ordered", .pages = plain_ordered, .in_edges = true},
      {.name = "weighted", .input = "weighted.el", .pages = ordered, .in_edges = true},
      {.name = "fractions_late", .input = "late.el", .pages = compressed},
      {.name = "binary", .input = "g.packed", .pages = compressed, .ids = IdMode::dense}};
}

void PrintTo(const Conversion& conversion, std::ostream* out) { *out << conversion.name; }

class Conversions : public ::testing::TestWithParam<Conversion> {
 protected:
  static constexpr std::uint64_t vertices = 60'000, edges = 20'000;  // in four buckets

  void SetUp() override {
    std::mt19937_64 random{1};
    std::ofstream   plain{folder_ / "g.el"}, weighted{folder_ / "weighted.el"}, late{folder_ / "late.el"};
    std::ofstream   packed{folder_ / "g.packed", std::ios::binary};
    for (std::uint64_t i = 0; i < edges; ++i) {
      const auto from = static_cast<std::uint32_t>(random() % vertices);
      const auto to   = random() % 16 == 0 ? 7 : static_cast<std::uint32_t>(random() % vertices);
      plain << from << ' ' << to << '\n';
      weighted << from << ' ' << to << ' ' << random() % 100 << '\n';
      late << from << ' ' << to << ' ' << (i + 100 < edges ? "2" : "2.5") << '\n';
      const std::uint32_t edge[3] = {from, to, 0};
      packed.write(reinterpret_cast<const char*>(edge), sizeof edge);
    }
  }

  /// As `convert --layout pages` does it; whether it went on from an earlier one.
  bool convert(const std::string& to, bool journaled, const std::string& question = "the same") const {
    const Conversion& asked = GetParam();
    OutputFile file{folder_ / to, journaled ? OutputFile::Writer::resumable : OutputFile::Writer::this_process};
    std::optional<BuildJournal> journal;
    if (journaled)
      journal.emplace(BuildJournal::Options{.prefix   = folder_ / (to + ".work"),
                                            .question = question,
                                            .output   = file.unfinished_path(),
                                            .finished = file.path(),
                                            .seconds  = 0});
    if (journal && journal->was_finished()) return true;
    try {
      ArcSpill           spill = journal ? ArcSpill{*journal, 64u << 10} : ArcSpill{folder_ / "", 64u << 10};
      store::PagedOutput output{asked.pages, file, spill, thread_count(), Progress::none(), asked.in_edges};
      BuildOutside       outside{spill, output.rows()};
      LoadOptions        options;
      options.transform    = asked.transform;
      options.ids          = asked.ids;
      options.threads      = thread_count();
      const ReadGraph read = read_graph(folder_ / asked.input, options, &outside);
      output.finish(read.result.csr.offsets, read.result.ids, read.result.weight_type, read.result.symmetric);
      if (journal) journal->commit_finished();
      file.commit();
    } catch (const Error&) {
      if (journal) journal->keep();
      if (journal && journal->has_committed()) file.keep_unfinished();
      throw;
    }
    return journal && journal->goes_on();
  }

  std::vector<std::string> work_files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{folder_ / ""})
      if (entry.path().filename().string().starts_with("out.spill.")) names.push_back(entry.path().string());
    return names;
  }
  void remove_all() const {
    for (const std::string& name : work_files()) std::filesystem::remove(name);
    std::filesystem::remove(folder_ / "out.spill");
  }

  /// In a process of its own, which ends at call `number`; its exit code.
  int convert_until(std::uint64_t number) const {
    const pid_t child = fork();
    if (child == 0) {
      use_threads(1);  // those of OpenMP did not come along
      const SystemFaults system{{Fault::Kind::end_of_process, 0}, number};
      try {
        convert("out.spill", true);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  testing::WithoutDisk disk_;
  TemporaryFolder      folder_;
};

TEST_P(Conversions, GoOnAfterAnEndAtAnyCall) {
  convert("right.spill", false);
  const std::string right = read_file(folder_ / "right.spill");
  testing::Numbers  numbers{4, GetParam().name, 1};
  int               ended = 0, went_on = 0;
  for (std::uint64_t number = numbers.next(); !HasFailure(); number = numbers.next(), ++ended) {
    remove_all();
    const int code = convert_until(number);
    if (code == 0) break;
    ASSERT_EQ(code, testing::ended_by_fault) << number;
    went_on += convert("out.spill", true);
    EXPECT_TRUE(read_file(folder_ / "out.spill") == right) << "after an end at call " << number;
    EXPECT_TRUE(work_files().empty()) << work_files().front() << number;
  }
  EXPECT_GT(ended, 6);
  EXPECT_GE(10 * went_on, ended);
}

/// No process comes far, and yet the conversion comes to its end.
TEST_P(Conversions, ComeToTheirEndInSmallSteps) {
  convert("right.spill", false);
  std::mt19937_64 random{7};
  int             ended = 0;
  while (ended < 300 && convert_until(130 + random() % 130) == testing::ended_by_fault) ++ended;
  EXPECT_GT(ended, 0);
  EXPECT_TRUE(read_file(folder_ / "out.spill") == read_file(folder_ / "right.spill")) << ended;
  EXPECT_TRUE(work_files().empty());
}

TEST_P(Conversions, GoOnAfterAFullDisk) {
  convert("right.spill", false);
  testing::Numbers numbers{2, GetParam().name, 1};
  int              failed = 0, went_on = 0;
  for (std::uint64_t number = numbers.next(); !HasFailure(); number = numbers.next()) {
    remove_all();
    std::string said;
    const char* hit = nullptr;
    {
      const SystemFaults system{{Fault::Kind::error, ENOSPC}, number};
      try {
        convert("out.spill", true);
      } catch (const Error& error) {
        said = error.what();
      }
      hit = system.hit();
    }
    if (!hit) break;
    if (said.empty()) continue;  // a call that need not succeed
    ++failed;
    EXPECT_NE(said.find("No space left"), std::string::npos) << hit << number << said;
    went_on += convert("out.spill", true);
    EXPECT_TRUE(read_file(folder_ / "out.spill") == read_file(folder_ / "right.spill")) << number << hit;
    EXPECT_TRUE(work_files().empty()) << number << hit;
  }
  EXPECT_GT(failed, 6);
  EXPECT_GE(10 * went_on, failed);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Conversions, ::testing::ValuesIn(conversions()),
                         [](const auto& test) { return test.param.name; });

class AJournal : public Conversions {
 protected:
  void SetUp() override {
    Conversions::SetUp();
    convert("right.spill", false);
    for (std::uint64_t number = 400; work_files().size() < 3 || !file_exists(journal()); number += 100)
      ASSERT_EQ(convert_until(number), testing::ended_by_fault);
  }
  std::string journal() const { return folder_ / "out.spill.work.journal"; }

  void expect_anew(const std::string& question = "the same") const {
    EXPECT_FALSE(convert("out.spill", true, question));
    EXPECT_TRUE(read_file(folder_ / "out.spill") == read_file(folder_ / "right.spill"));
    EXPECT_TRUE(work_files().empty());
  }
};

TEST_P(AJournal, ThatIsDamagedIsNotUsed) {
  std::string bytes = read_file(journal());
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream{journal(), std::ios::binary} << bytes;
  expect_anew();
}

TEST_P(AJournal, ThatIsCutOffIsNotUsed) {
  std::filesystem::resize_file(journal(), std::filesystem::file_size(journal()) / 2);
  expect_anew();
}

TEST_P(AJournal, OfAnotherQuestionIsNotUsed) { expect_anew("another"); }

TEST_P(AJournal, WithoutItsFilesIsNotUsed) {
  std::filesystem::remove(folder_ / "out.spill.work.arcs");
  expect_anew();
}

/// The unfinished output has the same name, whatever the journal's is.
TEST_P(AJournal, WhoseOutputAnotherHasTakenIsNotUsed) {
  for (const bool to_its_end : {false, true}) {
    const std::string kept = folder_ / "kept";
    std::filesystem::remove_all(kept);
    std::filesystem::create_directory(kept);
    for (const std::string& name : work_files())
      if (name.find(".work.") != std::string::npos)
        std::filesystem::rename(name, std::filesystem::path{kept} / std::filesystem::path{name}.filename());
    if (to_its_end)
      convert("out.spill", true, "another");
    else
      ASSERT_EQ(convert_until(600), testing::ended_by_fault);
    for (const auto& entry : std::filesystem::directory_iterator{kept})
      std::filesystem::rename(entry.path(), folder_ / entry.path().filename().string());
    expect_anew();
    if (!to_its_end) SetUp();
  }
}

TEST_P(AJournal, IsUsedOnceOnly) {
  EXPECT_TRUE(convert("out.spill", true));
  EXPECT_FALSE(convert("out.spill", true));
  EXPECT_TRUE(read_file(folder_ / "out.spill") == read_file(folder_ / "right.spill"));
}

TEST_P(AJournal, KeepsOtherProcessesAway) {
  const OutputFile held{folder_ / "out.spill", OutputFile::Writer::resumable};
  const auto [code, said] = testing::failure_of([&] { convert("out.spill", true); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(said.find("another process is writing it"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Kinds, AJournal, ::testing::Values(conversions()[3]),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace spillway
