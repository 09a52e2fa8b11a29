// What the tests of file formats share: tiny files, graphs as sorted arcs, and refusals with their words.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "support.hpp"

#include <spillway/error.hpp>
#include <spillway/graph.hpp>

namespace spillway::format_testing {

/// A path of this test alone, gone with the process: tests may run side by side.
inline std::string temporary(const std::string& name) {
  static const testing::TemporaryFolder folder;
  const auto&                           test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::string                           own = std::string{test.test_suite_name()} + "_" + test.name() + "_" + name;
  std::replace(own.begin(), own.end(), '/', '_');
  return folder / own;
}

inline std::string file_with(const std::string& name, const std::string& content) {
  const std::string path = temporary(name);
  std::ofstream{path, std::ios::binary} << content;
  return path;
}

/// Little-endian bytes of all values, one after the other.
template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

using ArcList = std::vector<std::tuple<Vertex, Vertex, double>>;

/// All arcs in the order of the rows; weight 1 where there are none.
inline ArcList arcs_of(const Graph& graph) {
  ArcList    arcs;
  const Csr& csr = graph.out();
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
      const bool real = graph.weight_type() == WeightType::f32;
      double     w    = 1;
      if (!csr.weights.empty()) w = real ? double{std::bit_cast<float>(csr.weights[i])} : double(csr.weights[i]);
      arcs.emplace_back(v, csr.targets[i], w);
    }
  return arcs;
}

/// Opening `path` fails with `code`, names the file and says `fragment`.
inline void expect_refused(const std::string& path, const std::string& fragment, const LoadOptions& options = {},
                           ExitCode code = ExitCode::bad_input) {
  try {
    open(path, options);
    ADD_FAILURE() << path << " was read, but should be refused: " << fragment;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), code) << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(fragment), std::string::npos) << message << "\nlacks: " << fragment;
  }
}

/// Saving fails with ExitCode::usage and says `fragment`.
inline void expect_not_saved(const Graph& graph, const std::string& path, const std::string& fragment) {
  try {
    save(graph, path);
    ADD_FAILURE() << path << " was written, but should be refused: " << fragment;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ExitCode::usage) << message;
    EXPECT_NE(message.find(fragment), std::string::npos) << message << "\nlacks: " << fragment;
  }
}

inline LoadOptions with_weights(WeightType type) {
  LoadOptions options;
  options.weight_type = type;
  return options;
}

inline LoadOptions as_format(const std::string& name) {
  LoadOptions options;
  options.format = name;
  return options;
}

}  // namespace spillway::format_testing
