#include "seeds.hpp"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#ifdef SPILLWAY_HAS_LIBZIP
#include <zip.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>

#include "graph/edge_list.hpp"
#include "io/format.hpp"

#include <spillway/error.hpp>
#include <spillway/generate.hpp>
#include <spillway/graph.hpp>

namespace spillway::fuzz {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "spillway-seeds-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error{"mkdtemp failed"};
    path_ = name;
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::vector<Graph> small_graphs() {
  const Transform    simple{.undirected = true, .dedup = true, .drop_loops = true};
  std::vector<Graph> graphs;
  for (const WeightType weights : {WeightType::none, WeightType::u32, WeightType::f32}) {
    graphs.push_back(generate("kron", {{"scale", "3"}, {"degree", "3"}}, {.weight_type = weights}));
    graphs.push_back(
        generate("kron", {{"scale", "3"}, {"degree", "3"}}, {.transform = simple, .weight_type = weights}));
  }
  graphs.push_back(split(graphs[2], {SplitKind::udt, 2}));
  graphs.push_back(split(graphs[0], {SplitKind::star, 3, true}));
  graphs.push_back(as_edges(graphs[2]));
  graphs.push_back(as_edges(graphs[1]));
  return graphs;
}

/// What Spillway writes, of every small graph that the format can hold.
void add_written(std::vector<std::string>& all, const std::string& target) {
  const Folder folder;
  for (const Format& format : formats()) {
    const bool any = target == "auto" && format.name != "pairs";  // which say nothing of themselves
    if (!format.write || (format.name != target && !any)) continue;
    for (const std::string& suffix : format.suffixes)
      for (const Graph& graph : small_graphs()) {
        const std::string path = folder / ("g." + suffix);
        try {
          save(graph, path, format.name);
          all.push_back(content_of(path));
        } catch (const Error& error) {
          if (error.code() != ExitCode::usage) throw;  // the format cannot hold it
        }
      }
  }
}

#ifdef SPILLWAY_HAS_LIBZIP
std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }     \n";
  return std::string("\x93NUMPY\x01\x00", 8) + bytes_of({static_cast<std::uint16_t>(header.size())}) + header +
         data;
}

/// As scipy.sparse.save_npz writes the arcs 0 -> 2, 0 -> 1, 2 -> 0.
std::string npz(bool deflated) {
  const std::pair<const char*, std::string> members[] = {
      {"indices.npy", npy("<i4", "(3,)", bytes_of<std::int32_t>({2, 1, 0}))},
      {"indptr.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 2, 2, 3}))},
      {"format.npy", npy("|S3", "()", "csr")},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({3, 3}))},
      {"data.npy", npy("<i8", "(3,)", bytes_of<std::int64_t>({5, 6, 7}))}};
  const Folder      folder;
  const std::string path = folder / "g.npz";
  zip_t* const      zip  = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  if (!zip) throw std::runtime_error{"libzip would not start"};
  for (const auto& [name, content] : members) {
    zip_source_t* const source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t   index  = zip_file_add(zip, name, source, 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(zip) != 0) throw std::runtime_error{"libzip cannot write"};
  return content_of(path);
}
#endif

/// Formats that are read but not written, and spellings that Spillway does not write.
void add_by_hand(std::vector<std::string>& all, const std::string& target) {
  const auto add = [&](const char* format, std::string bytes) {
    const bool by_name = std::strcmp(format, "graph500") == 0 || std::strcmp(format, "pairs") == 0;
    if (target == format || (target == "auto" && !by_name)) all.push_back(std::move(bytes));
  };
  add("dimacs", "c x\np sp 4 3\na 1 2 9\na 1 2 3\na 3 1 1\n");
  add("ligra", "AdjacencyGraph\n3\n3\n0\n1\n2\n1\n2\n0\n");
  add("ligra", "WeightedAdjacencyGraph\n3\n3\n0\n1\n2\n1\n2\n0\n5\n6\n7\n");
  add("edgelist", "from;to;weight\n\"a b\";c;2.5\nc;d;1e3\n");
  add("edgelist", "# SNAP\n18446744073709551615 3\n3 4294967295\n");
  add("edgelist", "1 2\t5\n2 3\t6\n");
  add("mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n% x\n3 3 2\n2 1 0.5\n3 2 -1\n");
  add("metis", "3 2 011 1\n4 2 7\n1 1 7 3 8\n9 2 8\n");
  add("galois", bytes_of<std::uint64_t>({1, 4, 2, 2, 1, 2}) + bytes_of<std::uint32_t>({1, 0, 7, 8}));
  add("galois", bytes_of<std::uint64_t>({2, 0, 2, 2, 1, 2, 1, 0}));
  add("graph500", bytes_of<std::uint32_t>({1, 2, 0, 2, 3, 0, 3, 1, 0}));
  add("pairs", bytes_of<std::uint32_t>({1, 2, 0, 2, 3, 0, 3, 1}));
  if (target == "ldbc") all.push_back(std::string{"10\n20\n30\n"} + '\0' + "10 20 0.5\n20 30 1.5\n");
#ifdef SPILLWAY_HAS_LIBZIP
  add("npz", npz(/*deflated=*/false));
  add("npz", npz(/*deflated=*/true));
#endif
}

}  // namespace

bool takes_compressed(const std::string& target) {
  static const std::vector<std::string> text{"auto", "edgelist", "mtx", "dimacs", "metis", "ligra"};
  return std::find(text.begin(), text.end(), target) != text.end();
}

std::string gzipped(const std::string& bytes) {
  constexpr int gzip_not_zlib = 15 + 16;
  z_stream      state{};
  if (deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, gzip_not_zlib, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"zlib would not start"};
  std::string out(deflateBound(&state, bytes.size()), '\0');
  state.next_in   = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in  = static_cast<uInt>(bytes.size());
  state.next_out  = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  if (ended != Z_STREAM_END) throw std::runtime_error{"zlib would not end"};
  return out;
}

std::string zstd_compressed(const std::string& bytes) {
  std::string       out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
  if (ZSTD_isError(size)) throw std::runtime_error{ZSTD_getErrorName(size)};
  out.resize(size);
  return out;
}

std::vector<std::string> seeds(const std::string& target) {
  std::vector<std::string> all;
  add_written(all, target);
  add_by_hand(all, target);
  if (!takes_compressed(target)) return all;
  std::vector<std::string> text;
  std::copy_if(all.begin(), all.end(), std::back_inserter(text),
               [](const std::string& bytes) { return bytes.find('\0') == std::string::npos; });
  for (const std::string& plain : {text.front(), text.back()}) {
    all.push_back(gzipped(plain));
    all.push_back(zstd_compressed(plain));
  }
  return all;
}

}  // namespace spillway::fuzz
