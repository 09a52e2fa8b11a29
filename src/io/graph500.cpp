// Graph500's edge file: undirected edges without a header, of 12 bytes (ids of 48 bits) or, as .g500_64, of 16.
// Weights, where there are any, are floats in a file of the same name with ".weights" behind it.
#include <bit>
#include <cmath>

#include "io/edge_records.hpp"

namespace spillway {
namespace {

struct PackedEdge {
  std::uint32_t low[2];
  std::uint32_t high;

  std::uint64_t end(unsigned i) const { return std::uint64_t{high >> 16 * i & 0xFFFF} << 32 | low[i]; }
};
static_assert(sizeof(PackedEdge) == 12);

struct WideEdge {
  std::uint64_t ends[2];

  std::uint64_t end(unsigned i) const { return ends[i]; }
};
static_assert(sizeof(WideEdge) == 16);

class Graph500Reader {
 public:
  explicit Graph500Reader(ReadJob& job) : job_(job), file_(job, job.path()) { check_stated_vertices(job); }

  template <class Edge>
  ReadResult read() {
    check_size(sizeof(Edge));
    edges_ = file_.size() / sizeof(Edge);
    open_weights();
    Transform& transform = job_.context.transform;
    transform.undirected = true;  // a tuple is an edge, not an arc
    transform.symmetrize = false;
    job_.undirected_by.clear();
    const RecordFile what{
        .edges   = edges_,
        .weights = kept_,
        .arcs    = 2 * edges_,
        .buffers = chunk_buffers(job_, file_.size()) + (weights_ ? chunk_buffers(job_, weights_->size()) : 0)};
    return rows_of_records(
        job_, what,
        [&](auto& collector) {
          job_.progress().begin("reading", file_.size() + (weights_ ? weights_->size() : 0), ProgressUnit::bytes);
          collect_in_stretches(
              job_, collector, edges_, sizeof(Edge) + (weights_ ? sizeof(float) : 0),
              [&](std::uint64_t first, std::uint64_t count) { collect_some<Edge>(collector, first, count); });
        },
        [&](auto&& add) {
          for_each_record<Edge>(file_, edges_, [&](const Edge& edge) { add(edge.end(0), edge.end(1)); });
        });
  }

 private:
  void check_size(std::uint64_t edge_bytes) const {
    if (file_.size() % edge_bytes == 0) return;
    const std::uint64_t other = sizeof(PackedEdge) + sizeof(WideEdge) - edge_bytes;
    throw bad_input(
        "{}: the size, {} bytes, is not a multiple of {}-byte edges{}", job_.path(), file_.size(), edge_bytes,
        file_.size() % other != 0          ? ""
        : edge_bytes == sizeof(PackedEdge) ? "; if they are unpacked (16 bytes), name the file .g500_64"
                                           : "; if they are packed (12 bytes), name the file .packed");
  }

  void open_weights() {
    const std::string path = job_.path() + ".weights";
    const bool        held = file_exists(path);
    kept_                  = kept_weights(job_, held ? WeightType::f32 : WeightType::none);
    if (kept_ == WeightType::none) return;
    weights_.emplace(job_, path);
    if (weights_->size() != edges_ * sizeof(float))
      throw bad_input("{}: {} edges take {} bytes of weights, but the file has {}", path, edges_,
                      edges_ * sizeof(float), weights_->size());
    job_.notes.push_back(fmt::format("weights are those of {}", path));
  }

  /// `count` edges from number `from` on.
  template <class Edge, class Collector>
  void collect_some(Collector& collector, std::uint64_t from, std::uint64_t count) {
    std::vector<Buffer<float>> weights(static_cast<std::size_t>(job_.context.threads));
    const auto                 add = [&](std::span<const Edge> chunk, std::uint64_t at, int thread) {
      const std::uint64_t first = from + at;
      Buffer<float>&      mine  = weights[static_cast<std::size_t>(thread)];
      if (weights_) {
        if (mine.size() < chunk.size()) mine = {chunk.size(), job_.context.budget, "a chunk of the weights"};
        weights_->read(first * sizeof(float), mine.data(), chunk.size() * sizeof(float));
      }
      auto& appender = collector.appender(thread);
      appender.at(first);
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        const Vertex u = checked(chunk[i].end(0), (first + i) * sizeof(Edge));
        const Vertex v = checked(chunk[i].end(1), (first + i) * sizeof(Edge));
        appender.add(u, v, weights_ ? weight(mine[i], first + i) : 0);
      }
    };
    file_.for_each_chunk<Edge>(from * sizeof(Edge), count, add);
  }

  Vertex checked(std::uint64_t id, std::uint64_t place) const {
    const auto declared = job_.options.vertices;
    if (id < declared.value_or(max_vertices)) [[likely]]
      return static_cast<Vertex>(id);
    if (declared)
      throw bad_input("{}: byte {}: vertex {} is out of range: --vertices states {}", job_.path(), place, id,
                      *declared);
    throw bad_input(
        "{}: byte {}: vertex {} is out of range: ids of Graph500 files must be below 2^32-1 here (are "
        "the edges of {} bytes?)",
        job_.path(), place, id, named_with(job_.path(), "g500_64") ? 16 : 12);
  }

  std::uint32_t weight(float value, std::uint64_t edge) const {
    const auto bits = std::isnan(value) ? std::nullopt : weight_bits(double{value}, kept_);
    if (bits) return *bits;
    throw bad_input("{}: byte {}: the weight {} is not a {}", weights_->path(), edge * sizeof(float), value,
                    kept_ == WeightType::u32 ? "whole number from 0 to 2^32-1" : "number");
  }

  ReadJob&                  job_;
  BinaryFile                file_;
  std::optional<BinaryFile> weights_;
  std::uint64_t             edges_ = 0;
  WeightType                kept_  = WeightType::none;
};

ReadResult read_graph500(ReadJob& job) {
  job.require_plain_file("Graph500's edge file");
  Graph500Reader reader{job};
  return named_with(job.path(), "g500_64") ? reader.read<WideEdge>() : reader.read<PackedEdge>();
}

bool has_own_name(const Sample& sample) {
  const std::string path = lower_case(sample.path);
  return path.ends_with(".packed") || path.ends_with(".g500") || path.ends_with(".g500_64");
}

}  // namespace

Format graph500_format() {
  return {.name         = "graph500",
          .description  = "Graph500, packed edges (12 bytes; 16 as .g500_64) and PATH.weights",
          .suffixes     = {"packed", "g500", "g500_64"},
          .is_edge_list = true,
          .by_arcs      = true,
          .recognises   = has_own_name,  // any bytes would do
          .read         = read_graph500,
          .write        = {},
          .companions   = [](const std::string& path) { return std::vector<std::string>{path + ".weights"}; }};
}

}  // namespace spillway
