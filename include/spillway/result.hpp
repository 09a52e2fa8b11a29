// What an algorithm answers: typed columns with one entry a vertex, and what the run took.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <spillway/types.hpp>

namespace spillway {

struct Column {
  using Values = std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>, std::vector<float>,
                              std::vector<double>>;

  std::string name;
  Values      values;
  /// The entries are vertices: shown as the user's ids. `no_vertex` is shown as nothing.
  bool vertices = false;
};

struct RunStatistics {
  double        prepare_ms      = 0;
  double        run_ms          = 0;
  std::uint64_t iterations      = 0;
  std::uint64_t edges_processed = 0;
};

struct Result {
  std::vector<Column>         columns;
  RunStatistics               statistics;
  std::shared_ptr<const void> memory;  ///< keeps the columns counted in the graph's budget
};

}  // namespace spillway
