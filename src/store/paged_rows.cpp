#include "store/paged_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "graph/csr.hpp"
#include "store/row_code.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/progress.hpp>

namespace spillway::store {
namespace {

constexpr std::uint64_t disk_block       = 4096;  // unbuffered reads are of whole ones
constexpr std::uint64_t plain_page_bytes = 1u << 20, coded_page_bytes = 1u << 18;

/// Of whole weights compressed as many bits as the largest has; floats are kept as they are.
unsigned bits_of_weights(const RowSink::Facts& facts, bool compressed) {
  if (facts.weight_type == WeightType::none) return 0;
  if (!compressed || facts.weight_type == WeightType::f32) return 32;
  return static_cast<unsigned>(std::bit_width(std::max(facts.largest_weight, 1u)));
}

PageFormat format_for(const RowSink::Facts& facts, const PageOptions& options) {
  PageFormat format{.ids = options.ids, .compressed = options.compressed};
  if (options.compressed) format.ids = {4, 4};  // none are written: nothing is to run out of them
  format.weight_bits        = bits_of_weights(facts, options.compressed);
  const std::uint64_t bytes = options.page_bytes > 0 ? options.page_bytes
                              : options.compressed   ? coded_page_bytes
                                                     : plain_page_bytes;
  if (bytes % disk_block != 0 || bytes > PageFormat::most_bytes)
    throw usage_error("pages of {} bytes: a multiple of {} up to 1 GiB is possible", bytes, disk_block);
  format.page_bytes = static_cast<std::uint32_t>(bytes);
  return format;
}

/// The shortest ids that all records can be called by.
RecordIds ids_for(std::span<const EdgeIndex> offsets, PageFormat& format, bool asked) {
  const std::uint64_t vertices = offsets.size() - 1;
  const auto          degree   = [&](Vertex v) { return offsets[v + 1] - offsets[v]; };
  for (const RecordIdWidth width : {RecordIdWidth{2, 2}, RecordIdWidth{3, 2}, RecordIdWidth{3, 3}}) {
    if (asked) break;
    format.ids = width;
    if (format.page_bytes > width.largest_page() ||
        expected_pages(format, vertices, offsets.back()) >= width.most_pages())
      continue;
    try {
      return {format, vertices, degree};
    } catch (const Error& error) {
      if (error.code() != ExitCode::does_not_fit) throw;  // rows of very different lengths leave gaps
    }
  }
  return {format, vertices, degree};
}

}  // namespace

namespace {

/// Where there are several.
std::vector<std::string> stripe_names(std::span<const PagedRows::File> files, const std::string& path) {
  std::vector<std::string> names;
  for (const PagedRows::File& file : files)
    if (file.path != path) names.push_back(file.path);
  return names;
}

/// Open files of pages, read by several threads.
class PageFiles {
 public:
  explicit PageFiles(const PagedRows& pages) : pages_(pages) {
    for (const PagedRows::File& file : pages.files()) files_.push_back(open_for_reading(file.path));
  }

  /// Checked.
  void read(std::uint64_t page, std::vector<std::byte>& bytes) const {
    const std::uint64_t size = pages_.table().format().page_bytes;
    const auto [file, at]    = pages_.place_of(page);
    bytes.resize(size + RowCode::bytes_behind);
    read_at(files_[file], pages_.files()[file].path, at, bytes.data(), size);
    pages_.table().check(page, bytes);
  }

 private:
  const PagedRows&        pages_;
  std::vector<FileHandle> files_;
};

}  // namespace

PagedRows::PagedRows(std::string path, std::vector<File> files, const PageFormat& format,
                     std::vector<PageEntry> entries, Buffer<EdgeIndex> offsets, float least_weight)
    : path_(std::move(path)),
      files_(std::move(files)),
      kept_offsets_(std::make_shared<const Buffer<EdgeIndex>>(std::move(offsets))),
      offsets_(kept_offsets_->span(), kept_offsets_),
      table_(format, std::move(entries), offsets_.span(), path_, stripe_names(files_, path_)),
      least_weight_(least_weight) {}

std::uint64_t PagedRows::checksum() const {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::uint64_t page = 0; page < table_.size(); ++page) {
    const std::uint64_t own = table_.checksum(page);
    XXH3_64bits_update(&state, &own, sizeof own);
  }
  return XXH3_64bits_digest(&state);
}

Csr loaded(const PagedRows& pages, const std::shared_ptr<MemoryBudget>& budget, int threads, Progress& progress) {
  if (pages.leaves_out()) throw internal_error("rows of which edges are left out were to be loaded");
  const PageTable&      table    = pages.table();
  const bool            weighted = table.format().weight_bits > 0;
  const PageFiles       files{pages};
  Buffer<Vertex>        targets{pages.arcs(), budget, "the targets of all arcs"};
  Buffer<std::uint32_t> weights{weighted ? pages.arcs() : 0, budget, "the weights of all arcs"};
  progress.begin("reading pages", pages.bytes(), ProgressUnit::bytes);
  for_each_task(threads, table.size(), [&](std::uint64_t page, int) {
    check_cancelled(progress);
    thread_local std::vector<std::byte> bytes;
    files.read(page, bytes);
    const EdgeIndex at = table.edges(page).first;
    table.decode(page, bytes, targets.data() + at, weighted ? weights.data() + at : nullptr);
    progress.advance(table.format().page_bytes);
  });
  progress.end();
  return {pages.offsets(), std::move(targets).freeze(),
          weighted ? std::move(weights).freeze() : Array<std::uint32_t>{}};
}

void for_each_page(const PagedRows& pages, const PageVisit& visit,
                   const std::function<void(std::uint64_t page, const PageRows& rows)>& body) {
  struct Decoded {
    std::vector<std::byte>     bytes;
    std::vector<Vertex>        targets;
    std::vector<std::uint32_t> weights;
  };
  const PageTable&    table = pages.table();
  const PageFiles     files{pages};
  const bool          weighted = visit.weighted && table.format().weight_bits > 0;
  const std::uint64_t size     = table.format().page_bytes;
  const std::uint64_t held     = size + table.most_edges() * edge_bytes(weighted);  // by a thread
  int                 threads  = visit.threads;
  Charge              memory{visit.budget ? visit.budget : std::make_shared<MemoryBudget>(), "pages of edges"};
  while (visit.budget && threads > 1 && !visit.budget->has_room(held * static_cast<unsigned>(threads))) --threads;
  memory.raise_to(held * static_cast<unsigned>(threads));
  std::vector<Decoded> decoded(static_cast<std::size_t>(threads));
  visit.progress.begin(visit.doing, pages.bytes(), ProgressUnit::bytes);
  for_each_task(threads, table.size(), [&](std::uint64_t page, int thread) {
    check_cancelled(visit.progress);
    visit.progress.advance(size);
    if (visit.wanted && !visit.wanted(table.vertices(page))) return;
    Decoded& own = decoded[static_cast<std::size_t>(thread)];
    files.read(page, own.bytes);
    own.targets.resize(table.most_edges());
    if (weighted) own.weights.resize(table.most_edges());
    body(page, pages.decoded(page, own.bytes, own.targets.data(), weighted ? own.weights.data() : nullptr));
  });
  visit.progress.end();
}

namespace {

/// Rows in the order of the ids, of which order[v] is that of vertex v.
Csr in_ascending_order(Csr rows, std::span<const Vertex> order, const std::shared_ptr<MemoryBudget>& budget,
                       int threads) {
  const bool            weighted = rows.weights.size() > 0;
  const std::uint64_t   vertices = rows.vertex_count();
  Buffer<EdgeIndex>     offsets{vertices + 1, budget, "the row offsets"};
  Buffer<Vertex>        targets{rows.arc_count(), budget, "the arcs"};
  Buffer<std::uint32_t> weights{rows.weights.size(), budget, "the weights"};
  std::fill_n(offsets.data(), vertices + 1, 0);
  for (std::uint64_t v = 0; v < vertices; ++v)
    offsets[order[v] + std::uint64_t{1}] = rows.degree(static_cast<Vertex>(v));
  for (std::uint64_t v = 0; v < vertices; ++v) offsets[v + 1] += offsets[v];
  for_each_share(threads, vertices, [&](std::uint64_t begin, std::uint64_t end, int) {
    std::vector<std::pair<Vertex, std::uint32_t>> row;
    for (std::uint64_t v = begin; v < end; ++v) {
      row.clear();
      for (EdgeIndex i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
        row.emplace_back(order[rows.targets[i]], weighted ? rows.weights[i] : 0);
      std::ranges::stable_sort(row, {}, &std::pair<Vertex, std::uint32_t>::first);
      EdgeIndex to = offsets[order[v]];
      for (const auto& [target, weight] : row) {
        targets[to] = target;
        if (weighted) weights[to] = weight;
        ++to;
      }
    }
  });
  return {std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
}

}  // namespace

Graph in_memory(const Graph& graph, int threads, Progress& progress) {
  Graph::Parts                  parts;
  const std::span<const Vertex> order = graph.ids().order().span();
  const auto                    rows  = [&](const PagedRows& pages) {
    Csr all = loaded(pages, graph.budget(), threads, progress);
    return order.empty() ? all : in_ascending_order(std::move(all), order, graph.budget(), threads);
  };
  parts.out = rows(*graph.pages());
  if (!graph.symmetric() && graph.in_pages()) parts.in = rows(*graph.in_pages());
  if (graph.weight_type() == WeightType::none) parts.out.weights = parts.in.weights = {};
  parts.ids         = graph.ids().ascending();
  parts.weight_type = graph.weight_type();
  parts.symmetric   = graph.symmetric();
  parts.trusted     = false;
  parts.name        = graph.name();
  parts.report      = graph.report();
  parts.budget      = graph.budget();
  return Graph{std::move(parts)};
}

std::vector<std::byte> coded_degrees(std::span<const EdgeIndex> offsets) {
  std::vector<std::byte> coded;
  coded.reserve(offsets.size() + offsets.size() / 8);
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
    EdgeIndex degree = offsets[v + 1] - offsets[v];
    for (; degree >= 128; degree >>= 7) coded.push_back(static_cast<std::byte>(degree | 128));
    coded.push_back(static_cast<std::byte>(degree));
  }
  return coded;
}

Buffer<EdgeIndex> room_for_offsets(std::uint64_t vertices, const std::shared_ptr<MemoryBudget>& budget) {
  constexpr std::uint64_t share     = 3;  // of memory that is free; with more they are on disk
  constexpr auto          what      = "the offsets of the rows";
  const bool              in_memory = budget->has_room((vertices + 1) * sizeof(EdgeIndex) * share);
  return in_memory ? Buffer<EdgeIndex>{vertices + 1, budget, what}
                   : Buffer<EdgeIndex>::on_disk(vertices + 1, *budget, what);
}

Buffer<EdgeIndex> offsets_of(std::span<const std::byte> degrees, std::uint64_t vertices, EdgeIndex arcs,
                             const std::shared_ptr<MemoryBudget>& budget, const std::string& name) {
  if (degrees.size() < vertices)
    throw bad_input("{}: {} bytes of degrees are too few for {} vertices; the file is damaged", name,
                    degrees.size(), vertices);
  Buffer<EdgeIndex> offsets = room_for_offsets(vertices, budget);
  std::size_t       at      = 0;
  EdgeIndex         next    = 0;
  bool              good    = true;
  for (std::uint64_t v = 0; v < vertices && good; ++v) {
    if (v % evicted_offsets == 0) offsets.evict(v - std::min(v, evicted_offsets), v);
    offsets[v]       = next;
    EdgeIndex degree = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == degrees.size() || shift > 35) {
        good = false;
        break;
      }
      const auto byte = static_cast<std::uint64_t>(degrees[at++]);
      degree |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    good &= degree <= arcs - next;
    if (good) next += degree;
  }
  if (!good || next != arcs || at != degrees.size())
    throw bad_input("{}: the degrees of its vertices do not add up to {} arcs; the file is damaged", name, arcs);
  offsets[vertices] = next;
  return offsets;
}

std::vector<std::byte> WrittenPages::table() const {
  const PageTableHeader  header{.page_bytes   = format.page_bytes,
                                .page_id      = static_cast<std::uint8_t>(format.ids.page),
                                .slot_id      = static_cast<std::uint8_t>(format.ids.slot),
                                .compressed   = format.compressed,
                                .weight_bits  = static_cast<std::uint8_t>(format.weight_bits),
                                .pages        = entries.size(),
                                .least_weight = least_weight};
  std::vector<std::byte> bytes(sizeof header + entries.size() * sizeof(PageEntry));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!entries.empty())
    std::memcpy(bytes.data() + sizeof header, entries.data(), entries.size() * sizeof(PageEntry));
  return bytes;
}

PageSink::PageSink(const PageOptions& options, OutputFile& file, std::uint64_t at, int threads,
                   StripeOutput* stripes)
    : options_(options),
      file_(file),
      at_(at),
      stripes_(stripes && stripes->in_use() ? stripes : nullptr),
      threads_(threads),
      least_weight_(std::numeric_limits<float>::infinity()) {}

PageSink::~PageSink() = default;

void PageSink::begin(const Facts& facts) {
  begun_  = true;
  facts_  = facts;
  format_ = format_for(facts, options_);
  if (facts.budget) facts.budget->expect(2 * std::uint64_t{format_.page_bytes}, "a page (--page-size)");
  if (format_.compressed) start(nullptr);
}

void PageSink::take_degrees(std::span<const EdgeIndex> offsets) {
  ids_ = ids_for(offsets, format_, options_.ids.bytes() > 0);
  start(&ids_);
}

void PageSink::start(const RecordIds* ids) {
  if (stripes_) stripes_at_ = stripes_->ends();
  const auto write = [this](std::uint64_t page, std::span<const std::byte> bytes) {
    if (stripes_) return stripes_->write(stripes_at_, page, bytes);
    file_.write_at(at_ + page * format_.page_bytes, bytes.data(), bytes.size());
  };
  writer_ = std::make_unique<PageWriter>(format_, facts_.vertices, ids, write);
}

void PageSink::take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) {
  if (facts_.weight_type == WeightType::f32) {
    const std::span some{weights, offsets.back() - offsets.front()};
    check_weights(some, file_.path(), threads_);
    for (const std::uint32_t bits : some) least_weight_ = std::min(least_weight_, std::bit_cast<float>(bits));
  }
  writer_->add(offsets, targets, format_.weight_bits > 0 ? weights : nullptr, threads_);
}

void PageSink::save(BuildJournal& journal, const std::string& side) {
  StateWriter state;
  state.put(least_weight_);
  writer_->save(state);
  journal.put(side + " pages", std::move(state));
}

void PageSink::restore(const BuildJournal& journal, const std::string& side) {
  auto state = journal.find(side + " pages");
  if (!state) return;
  least_weight_ = state->get<float>();
  writer_->restore(*state);
}

WrittenPages PageSink::finish() {
  const bool none = least_weight_ == std::numeric_limits<float>::infinity();
  return {format_, writer_->finish(), none ? 0 : least_weight_, stripes_at_};
}

}  // namespace spillway::store
