// The fuzz targets for a second or two each, from valid files mutated at random; `make fuzz` runs them for long.
// The seed is fixed: a failure here can be repeated.
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <random>

#include "io/format.hpp"
#include "io/npz_testing.hpp"
#include "support.hpp"
#include "targets.hpp"
#include "zoo.hpp"

namespace spillway {
namespace {

constexpr auto time_for_each = std::chrono::milliseconds{1500};

std::string gzipped(const std::string& text) {
  const testing::TemporaryFolder folder;
  gzFile                         file = gzopen((folder / "g.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return testing::read_file(folder / "g.gz");
}

/// Small valid files of the format: those Spillway writes, and one written by hand where it only reads.
std::vector<std::string> seeds(const std::string& target) {
  const testing::TemporaryFolder folder;
  std::vector<std::string>       all;
  for (const auto& member : testing::zoo()) {
    if (member.graph.arc_count() > 300) continue;
    for (const Format& format : formats()) {
      if (!format.write || (format.name != target && target != "auto")) continue;
      const std::string path = folder / ("g." + format.suffixes.front());
      if (testing::failure_of([&] { save(member.graph, path, format.name); }).first == ExitCode::done)
        all.push_back(testing::read_file(path));
    }
  }
  if (target == "dimacs") all.push_back("c x\np sp 4 3\na 1 2 9\na 1 2 3\na 3 1 1\n");
  if (target == "ligra") all.push_back("WeightedAdjacencyGraph\n3\n3\n0\n1\n2\n1\n2\n0\n5\n6\n7\n");
  if (target == "ldbc") all.push_back(std::string{"10\n20\n30\n\0"} + '\0' + "10 20 0.5\n20 30 1.5\n");
  if (target == "edgelist" || target == "auto") {
    all.push_back("from;to;weight\n\"a b\";c;2.5\nc;d;1e3\n");
    all.push_back("# SNAP\n18446744073709551615 3\n3 4294967295\n");
  }
  if (target == "galois") {
    const std::uint64_t words[] = {1, 4, 2, 2, 1, 2};
    const std::uint32_t tail[]  = {1, 0, 7, 8};
    all.emplace_back(reinterpret_cast<const char*>(words), sizeof words);
    all.back().append(reinterpret_cast<const char*>(tail), sizeof tail);
  }
  if (target == "graph500") all.emplace_back(48, '\1');
#ifdef SPILLWAY_HAS_LIBZIP
  if (target == "npz")
    for (const bool deflated : {false, true})
      all.push_back(testing::read_file(format_testing::zip_with("seed.npz", format_testing::matrix(), deflated)));
#endif
  if (target == "edgelist" || target == "auto") all.push_back(gzipped("0 1 5\n1 2 6\n2 0 7\n"));
  if (all.empty()) all.emplace_back("PK\x03\x04");
  return all;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string bytes, const std::string& other) {
    for (std::uint64_t changes = 1 + random_() % 4; changes > 0; --changes) change(bytes, other);
    return bytes;
  }

 private:
  void change(std::string& bytes, const std::string& other) {
    const auto at = [&](const std::string& text) { return text.empty() ? 0 : random_() % text.size(); };
    static const std::vector<std::string> words{"-1",
                                                "4294967295",
                                                "4294967296",
                                                "18446744073709551616",
                                                "nan",
                                                "1e999",
                                                "\n",
                                                " ",
                                                ",",
                                                "\"",
                                                "%",
                                                std::string(1, '\0'),
                                                "\xff\xff\xff\xff\xff\xff\xff\xff",
                                                "\r\n",
                                                "0x1",
                                                "#"};
    switch (random_() % 6) {
      case 0:
        if (!bytes.empty()) bytes[at(bytes)] ^= static_cast<char>(1u << (random_() % 8));
        break;
      case 1:
        bytes.resize(at(bytes));
        break;
      case 2:
        bytes.insert(at(bytes), words[random_() % words.size()]);
        break;
      case 3:
        bytes.insert(at(bytes), other.substr(at(other), random_() % 64));
        break;
      case 4:
        bytes.erase(at(bytes), random_() % 16);
        break;
      default: {
        const std::string& word = words[random_() % words.size()];
        bytes.replace(std::min(at(bytes), bytes.size()), word.size(), word);
      }
    }
  }

  std::mt19937_64 random_;
};

class Fuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(Fuzz, FindsNothing) {
  const std::vector<std::string> files = seeds(GetParam());
  Mutator                        mutate{20261115};
  std::mt19937_64                random{7};
  const auto                     end  = std::chrono::steady_clock::now() + time_for_each;
  std::uint64_t                  runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const std::string bytes = mutate(files[random() % files.size()], files[random() % files.size()]);
    fuzz::run(GetParam(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  EXPECT_GT(runs, 20u);
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
