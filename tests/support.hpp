// What tests share: files that vanish, graphs as lists of arcs, and the zoo.
#pragma once

#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <spillway/error.hpp>
#include <spillway/graph.hpp>

namespace spillway::testing {

/// A folder of this test's own, gone when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spillway-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error{"mkdtemp failed"};
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream{*this / name, std::ios::binary} << bytes;
    return *this / name;
  }

  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{path_}, {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// Source and target under the user's ids, and the weight as a number (0 where there is none).
using NamedArc = std::tuple<std::string, std::string, double>;

inline std::vector<NamedArc> arcs_of(const Graph& graph) {
  std::vector<NamedArc> arcs;
  const Csr&            csr = graph.out();
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
      const double weight = csr.weights.empty() ? 0
                            : graph.weight_type() == WeightType::f32
                                ? static_cast<double>(std::bit_cast<float>(csr.weights[i]))
                                : csr.weights[i];
      arcs.emplace_back(graph.ids().name(v), graph.ids().name(csr.targets[i]), weight);
    }
  return arcs;
}

inline std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) names.push_back(graph.ids().name(v));
  return names;
}

/// The error that `body` ends with: its code and message; {done, ""} if there is none.
template <class Body>
std::pair<ExitCode, std::string> failure_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::done, ""};
}

}  // namespace spillway::testing
