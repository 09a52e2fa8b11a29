// The fuzz targets for a second or two each, from valid files mutated at random; `make fuzz` runs them for long.
// Each time with another seed, which is printed; SPILLWAY_SEED repeats it. The bytes of a failure are kept in a
// file.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "io/format.hpp"
#include "seeds.hpp"
#include "support.hpp"
#include "targets.hpp"
#include "zoo.hpp"

namespace spillway {
namespace {

/// SPILLWAY_FUZZ_SECONDS, for machines without clang; or a moment.
std::chrono::milliseconds time_for_each() {
  const char* const given = std::getenv("SPILLWAY_FUZZ_SECONDS");
  return std::chrono::milliseconds{given && *given ? std::strtoll(given, nullptr, 10) * 1000 : 800};
}

std::uint64_t fuzz_seed() {
  static const std::uint64_t value = [] {
    const char* const   given = std::getenv("SPILLWAY_SEED");
    const std::uint64_t drawn = given && *given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed: %llu (SPILLWAY_SEED sets it)\n", static_cast<unsigned long long>(drawn));
    return drawn;
  }();
  return value;
}

/// Small valid files of the format: seeds, and the zoo's graphs where Spillway writes it.
std::vector<std::string> files_of(const std::string& target) {
  const testing::TemporaryFolder folder;
  std::vector<std::string>       all = fuzz::seeds(target);
  for (const auto& member : testing::zoo()) {
    if (member.graph.arc_count() > 300) continue;
    for (const Format& format : formats()) {
      if (!format.write || (format.name != target && target != "auto")) continue;
      const std::string path = folder / ("g." + format.suffixes.front());
      if (testing::failure_of([&] { save(member.graph, path, format.name); }).first == ExitCode::done)
        all.push_back(testing::read_file(path));
    }
  }
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

/// The bytes that a run is about to try are in a file until it is over: a crash leaves them, too.
class KeptBytes {
 public:
  explicit KeptBytes(const std::string& target)
      : path_((std::filesystem::temp_directory_path() /
               ("spillway-fuzz-" + target + "-" + std::to_string(fuzz_seed())))
                  .string()) {
    std::printf("bytes of a failure are kept in %s\n", path_.c_str());
  }
  KeptBytes(const KeptBytes&) = delete;
  ~KeptBytes() {
    if (!failed_) std::filesystem::remove(path_);
  }

  void put(const std::string& bytes) { std::ofstream{path_, std::ios::binary} << bytes; }
  void keep() { failed_ = true; }

 private:
  std::string path_;
  bool        failed_ = false;
};

class Fuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(Fuzz, FindsNothing) {
  const std::string              target = GetParam();
  const std::vector<std::string> files  = files_of(target);
  Mutator                        mutate{fuzz_seed()};
  std::mt19937_64                random{fuzz_seed() + 1};
  KeptBytes                      kept{target};
  const auto                     end  = std::chrono::steady_clock::now() + time_for_each();
  std::uint64_t                  runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string bytes = mutate(files[random() % files.size()], files[random() % files.size()]);
    if (fuzz::takes_compressed(target) && random() % 4 == 0)
      bytes = random() % 2 == 0 ? fuzz::gzipped(bytes) : fuzz::zstd_compressed(bytes);
    kept.put(bytes);
    try {
      fuzz::run(target, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    } catch (const std::exception& error) {
      kept.keep();
      FAIL() << error.what();
    }
  }
  EXPECT_GT(runs, 0u);
  std::printf("%s: %llu runs\n", target.c_str(), static_cast<unsigned long long>(runs));
}

TEST(FuzzSeeds, AreReadAsTheirFormatAndHoldEdges) {
  const testing::TemporaryFolder folder;
  for (const std::string& target : fuzz::targets()) {
    const auto seeds = fuzz::seeds(target);
    EXPECT_FALSE(seeds.empty()) << target;
    for (std::size_t i = 0; i < seeds.size() && target != "ldbc"; ++i) {
      LoadOptions options;
      options.format  = target;
      const auto path = folder.write(target + std::to_string(i), seeds[i]);
      EXPECT_EQ(testing::failure_of([&] { EXPECT_GT(open(path, options).arc_count(), 0u); }).second, "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
