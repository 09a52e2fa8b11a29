#include "targets.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "base/files.hpp"
#include "graph/csr.hpp"
#include "graph/split.hpp"
#include "graph/symmetry.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/graph.hpp>

namespace spillway::fuzz {
namespace {

/// Bytes under a path, without touching a disk.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : file_(memfd_create("fuzz", 0)) {
    if (file_.get() < 0 || write(file_.get(), data, size) != static_cast<ssize_t>(size))
      throw std::runtime_error{"memfd failed"};
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileHandle file_;
};

/// Makes header and table of a .spill fit their checksum and size, or nothing past them would ever be reached.
std::vector<std::uint8_t> with_fitting_checksum(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes{data, data + size};
  store::Header             header;
  if (size < sizeof header) return bytes;
  std::memcpy(&header, data, sizeof header);
  header.magic         = store::magic;
  header.version       = store::version;
  header.file_bytes    = size;
  header.section_count = std::min<std::uint32_t>(
      header.section_count, static_cast<std::uint32_t>((size - sizeof header) / sizeof(store::Section)));
  std::vector<store::Section> sections(std::min(header.section_count, store::most_sections));
  if (!sections.empty())
    std::memcpy(sections.data(), data + sizeof header, sections.size() * sizeof(store::Section));
  header.checksum = store::header_checksum(header, sections);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

/// LDBC is two files: what stands before the first NUL is the list of vertices.
class LdbcFiles {
 public:
  LdbcFiles(const std::uint8_t* data, std::size_t size) {
    char name[] = "/tmp/spillway-fuzz-XXXXXX";
    if (!mkdtemp(name)) throw std::runtime_error{"mkdtemp failed"};
    folder_          = name;
    const auto* cut  = std::find(data, data + size, 0);
    const auto* rest = cut == data + size ? cut : cut + 1;
    put("g.v", data, cut);
    put("g.e", rest, data + size);
  }
  LdbcFiles(const LdbcFiles&) = delete;
  ~LdbcFiles() {
    unlink((folder_ + "/g.v").c_str());
    unlink((folder_ + "/g.e").c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/g.e"; }

 private:
  void put(const char* name, const std::uint8_t* begin, const std::uint8_t* end) {
    // Not by OutputFile, which waits for the disk.
    std::ofstream{folder_ + "/" + name, std::ios::binary}.write(reinterpret_cast<const char*>(begin), end - begin);
  }
  std::string folder_;
};

/// Larger graphs are walked but not computed on: a short file can state a million vertices.
constexpr std::uint64_t most_to_compute = 1u << 14;

/// A name that no parameter takes for a list or a file.
std::optional<std::string> plain_name(const Graph& graph) {
  for (Vertex v = 0; v < std::min<std::uint64_t>(graph.vertex_count(), 10); ++v)
    if (const std::string name = graph.ids().name(v);
        !name.empty() && name.find_first_of("@,# \t\r\n") == std::string::npos)
      return name;
  return std::nullopt;
}

/// The answer is checked against the serial oracle: a graph that was read wrongly in its structure shows here.
void compute(const Graph& graph, const std::string& name, const ParameterValues& values,
             const RunOptions& options = {.threads = 1}) {
  const Algorithm&      algorithm = algorithm_named(name);
  const ParameterValues complete  = completed_parameters(algorithm, values);
  const Result          result    = algorithm.run(graph, complete, options);
  const Verdict         verdict = algorithm.verify(graph, complete, result, {.by = CheckBy::oracle, .threads = 1});
  if (!verdict.problem.empty()) throw std::logic_error{name + ": " + verdict.problem};
}

/// A .spill file may say that it is symmetric, or bring in-edges; only `spillway verify` looks whether they fit.
bool keeps_its_promises(const Graph& graph) {
  if (graph.split() && !are_transposed(graph.split()->out(), graph.split()->in(), 1, Progress::none()))
    return false;
  if (graph.symmetric()) return !find_lone_arc(graph.out(), 1, Progress::none()).has_value();
  return are_transposed(graph.out(), graph.in(), 1, Progress::none());
}

void compute_all(const Graph& graph) {
  if (graph.vertex_count() > most_to_compute || graph.arc_count() > most_to_compute) return;
  if (!keeps_its_promises(graph)) return;
  compute(graph, "cc", {});
  if (const auto source = plain_name(graph)) compute(graph, "bfs", {{"source", *source}});
  if (graph.edges())
    compute(graph, "cc", {}, {.threads = 1, .device = {.kind = cpu_kind()}, .method = unsorted_edges()});
  compute(graph, "pagerank", graph.split() ? ParameterValues{} : ParameterValues{{"iterations", "5"}});
}

/// Uses everything a graph offers; a reader that let something through shows here.
void walk(const Graph& graph) {
  const GraphStatistics counts = statistics(graph, 1, Progress::none());
  if (counts.degree_bins[0] != counts.sinks) throw std::logic_error{"degrees do not add up"};
  if (graph.in().arc_count() != graph.arc_count()) throw std::logic_error{"in-edges differ in number"};
  for (Vertex v = 0; v < std::min<std::uint64_t>(graph.vertex_count(), 1000); ++v)
    if (graph.ids().find(graph.ids().name(v), graph.vertex_count()) != v)
      throw std::logic_error{"an id is not found"};
  compute_all(graph);
}

void read(const std::string& path, const std::string& format) {
  LoadOptions options;
  options.format = format;
  // Ids of these are sets of bits, and reading takes time with the largest: a small budget bounds it.
  options.host_memory = format == "graph500" || format == "pairs" ? 8u << 20 : 64u << 20;
  options.threads     = 2;
  try {
    walk(open(path, options));
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal_error) throw;
    if (std::strlen(error.what()) == 0) throw std::logic_error{"an error without a message"};
  }
}

}  // namespace

const std::vector<std::string>& targets() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"auto"};
    for (const Format& format : formats()) names.push_back(format.name);
    return names;
  }();
  return all;
}

void run(const std::string& target, const std::uint8_t* data, std::size_t size) {
  if (target == "ldbc") {
    const LdbcFiles files{data, size};
    return read(files.path(), target);
  }
  if (target == "spill") {
    const auto       bytes = with_fitting_checksum(data, size);
    const MemoryFile file{bytes.data(), bytes.size()};
    return read(file.path(), target);
  }
  const MemoryFile file{data, size};
  read(file.path(), target);
}

}  // namespace spillway::fuzz
