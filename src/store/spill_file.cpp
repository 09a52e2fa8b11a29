#include "store/spill_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/hash.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"

namespace spillway::store {

std::string_view to_string(SectionKind kind) {
  switch (kind) {
    case SectionKind::out_offsets:
      return "out-edge offsets";
    case SectionKind::out_targets:
      return "out-edge targets";
    case SectionKind::out_weights:
      return "out-edge weights";
    case SectionKind::in_offsets:
      return "in-edge offsets";
    case SectionKind::in_targets:
      return "in-edge sources";
    case SectionKind::in_weights:
      return "in-edge weights";
    case SectionKind::id_numbers:
      return "vertex ids";
    case SectionKind::id_bytes:
      return "vertex names";
    case SectionKind::page_table:
      return "table of pages";
    case SectionKind::pages:
      return "pages";
    case SectionKind::in_page_table:
      return "table of pages of in-edges";
    case SectionKind::in_pages:
      return "pages of in-edges";
    case SectionKind::degrees:
      return "degrees";
    case SectionKind::in_degrees:
      return "in-degrees";
    case SectionKind::order:
      return "order of the vertices";
    case SectionKind::stripes:
      return "table of stripes";
    case SectionKind::split:
      return "table of split vertices";
    case SectionKind::edges:
      return "edges";
  }
  return "unknown section";
}

namespace {

std::uint64_t align(std::uint64_t offset) {
  return (offset + section_alignment - 1) / section_alignment * section_alignment;
}

std::uint64_t piece_count(std::uint64_t bytes) { return (bytes + checksum_piece - 1) / checksum_piece; }

std::span<const std::byte> piece(std::span<const std::byte> bytes, std::uint64_t i) {
  const std::uint64_t begin = i * checksum_piece;
  return bytes.subspan(begin, std::min(checksum_piece, bytes.size() - begin));
}

std::uint64_t combined(const std::vector<std::uint64_t>& hashes) {
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(std::uint64_t));
}

}  // namespace

std::uint64_t header_checksum(Header header, std::span<const Section> sections) {
  header.checksum = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, &header, sizeof header);
  XXH3_64bits_update(&state, sections.data(), sections.size_bytes());
  return XXH3_64bits_digest(&state);
}

std::uint64_t section_checksum(std::span<const std::byte> bytes, int threads, Progress& progress) {
  std::vector<std::uint64_t> hashes(piece_count(bytes.size()));
  for_each_task(threads, hashes.size(), [&](std::uint64_t i, int) {
    check_cancelled(progress);
    const auto part = piece(bytes, i);
    hashes[i]       = XXH3_64bits(part.data(), part.size());
    progress.advance(part.size());
  });
  return combined(hashes);
}

// --- reading ---

SpillFile::SpillFile(const std::string& path, std::shared_ptr<MemoryBudget> budget)
    : path_(path),
      budget_(budget ? budget : std::make_shared<MemoryBudget>()),
      file_(std::make_shared<MappedFile>(path, std::move(budget))) {
  load_header();
  check_sections();
}

void SpillFile::load_header() {
  const auto bytes = file_->bytes();
  if (bytes.size() < sizeof(Header))
    throw bad_input("{}: {} bytes are too few for a .spill file; it was cut off", path_, bytes.size());
  std::memcpy(&header_, bytes.data(), sizeof(Header));
  if (header_.magic != magic) throw bad_input("{}: not a .spill file (bad magic number)", path_);
  if (header_.version != version)
    throw bad_input("{}: .spill version {}; this Spillway reads version {}: convert the graph again", path_,
                    header_.version, version);
  if (header_.section_count == 0 || header_.section_count > most_sections)
    throw bad_input("{}: byte 12: {} sections; 1 to {} are possible", path_, header_.section_count, most_sections);
  if (header_.file_bytes != bytes.size())
    throw bad_input("{}: {} bytes where the header states {}; the file was cut off or added to", path_,
                    bytes.size(), header_.file_bytes);
  if (bytes.size() < sizeof(Header) + header_.section_count * sizeof(Section))
    throw bad_input("{}: too short for its {} sections", path_, header_.section_count);
  sections_.resize(header_.section_count);
  std::memcpy(sections_.data(), bytes.data() + sizeof(Header), sections_.size() * sizeof(Section));
  if (header_checksum(header_, sections_) != header_.checksum)
    throw bad_input("{}: the header does not match its checksum; the file is damaged", path_);
  if (header_.vertex_bytes != 0 && header_.vertex_bytes != sizeof(Vertex))
    throw bad_input("{}: vertices of {} bits; this Spillway computes with {}", path_,
                    8 * std::uint64_t{header_.vertex_bytes}, 8 * sizeof(Vertex));
  if (header_.vertices > max_vertices || header_.weight_type > 2 ||
      (header_.id_kind & ~(ordered_ids | split_rows)) > 2 || header_.symmetric > 1 ||
      std::any_of(sections_.begin(), sections_.end(), [](const Section& s) { return s.reserved != 0; }))
    throw bad_input("{}: the header holds values that no version writes", path_);
}

void SpillFile::check_sections() const {
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const auto     name    = to_string(section.kind);
    if (section.offset % section_alignment != 0 || section.offset > header_.file_bytes ||
        section.bytes > header_.file_bytes - section.offset)
      throw bad_input("{}: section {} ({}) extends past the end of the file (offset {}, {} bytes)", path_, i, name,
                      section.offset, section.bytes);
    for (std::size_t j = 0; j < i; ++j)
      if (sections_[j].kind == section.kind) throw bad_input("{}: there are two sections of {}", path_, name);
  }
}

const Section* SpillFile::find(SectionKind kind) const {
  for (const Section& section : sections_)
    if (section.kind == kind) return &section;
  return nullptr;
}

std::span<const std::byte> SpillFile::bytes_of(const Section& section) const {
  return file_->bytes().subspan(section.offset, section.bytes);
}

template <class T>
Array<T> SpillFile::array(SectionKind kind, std::uint64_t count) const {
  const Section* section = find(kind);
  if (!section) throw bad_input("{}: the section of {} is missing", path_, to_string(kind));
  if (section->bytes % sizeof(T) != 0 || section->bytes / sizeof(T) != count)
    throw bad_input("{}: {} bytes of {} where {} entries of {} bytes belong", path_, section->bytes,
                    to_string(kind), count, sizeof(T));
  const auto bytes = bytes_of(*section);
  return {{reinterpret_cast<const T*>(bytes.data()), count}, file_};
}

Graph::Parts SpillFile::parts() const {
  const std::uint64_t n = header_.vertices, m = header_.arcs;
  Graph::Parts        parts;
  parts.budget        = budget_;
  parts.weight_type   = static_cast<WeightType>(header_.weight_type);
  parts.symmetric     = header_.symmetric != 0;
  parts.trusted       = false;
  parts.name          = path_;
  const bool weighted = parts.weight_type != WeightType::none;
  parts.ids           = ids();
  if (is_paged()) {
    if ((header_.id_kind & split_rows) != 0)
      throw bad_input("{}: the rows of split vertices are not in pages", path_);
    if (const auto striped = stripes()) striped->check(path_);
    parts.pages       = paged(/*in=*/false);
    parts.out.offsets = parts.pages->offsets();
    if (find(SectionKind::in_page_table)) parts.in_pages = paged(/*in=*/true);
    return parts;
  }
  if ((header_.id_kind & split_rows) != 0) {
    parts.split = split();
    return parts;
  }
  if (find(SectionKind::edges)) {
    parts.edges = edges();
    return parts;
  }
  parts.out.offsets = array<EdgeIndex>(SectionKind::out_offsets, n + 1);
  parts.out.targets = array<Vertex>(SectionKind::out_targets, m);
  if (weighted) parts.out.weights = array<std::uint32_t>(SectionKind::out_weights, m);
  if (find(SectionKind::in_offsets)) {
    parts.in.offsets = array<EdgeIndex>(SectionKind::in_offsets, n + 1);
    parts.in.targets = array<Vertex>(SectionKind::in_targets, m);
    if (weighted) parts.in.weights = array<std::uint32_t>(SectionKind::in_weights, m);
  }
  return parts;
}

std::shared_ptr<const EdgeList> SpillFile::edges() const {
  const WeightType    type   = static_cast<WeightType>(header_.weight_type);
  const unsigned      stride = type == WeightType::none ? 2 : 3;
  const std::uint64_t count  = find(SectionKind::edges)->bytes / sizeof(std::uint32_t) / stride;
  const bool          both   = header_.symmetric != 0;
  if ((header_.id_kind & split_rows) != 0 ||
      (both ? header_.arcs > 2 * count || header_.arcs < count : header_.arcs != count))
    throw bad_input("{}: {} edges do not make the {} arcs that the header states", path_, count, header_.arcs);
  return std::make_shared<EdgeList>(
      EdgeList::Parts{.words       = array<std::uint32_t>(SectionKind::edges, count * stride),
                      .stride      = stride,
                      .vertices    = header_.vertices,
                      .weight_type = type,
                      .both_ways   = both,
                      .loops       = both ? 2 * count - header_.arcs : 0,
                      .name        = path_},
      /*trusted=*/false);
}

std::optional<SplitHeader> SpillFile::split_header() const {
  if ((header_.id_kind & split_rows) == 0) return std::nullopt;
  const Section* const section = find(SectionKind::split);
  if (!section) throw bad_input("{}: the section of {} is missing", path_, to_string(SectionKind::split));
  SplitHeader split;
  if (section->bytes < sizeof split)
    throw bad_input("{}: the {} was cut off", path_, to_string(SectionKind::split));
  std::memcpy(&split, bytes_of(*section).data(), sizeof split);
  const bool fits = split.kind >= 1 && split.kind <= 4 && split.in_edges <= 1 && split.degree_bound >= 2 &&
                    split.vertices <= header_.vertices && split.arcs <= header_.arcs &&
                    (section->bytes - sizeof split) / sizeof(Vertex) == header_.vertices - split.vertices &&
                    (section->bytes - sizeof split) % sizeof(Vertex) == 0;
  if (!fits)
    throw bad_input("{}: the {} holds values that no version writes", path_, to_string(SectionKind::split));
  return split;
}

std::uint64_t SpillFile::vertices() const {
  const auto split = split_header();
  return split ? split->vertices : header_.vertices;
}

/// In-edges of a split of in-edges are what it made; its out-edges, and in-edges of the others, are their
/// transpose.
std::shared_ptr<const SplitRows> SpillFile::split() const {
  const SplitHeader   header   = *split_header();
  const std::uint64_t n        = header_.vertices;
  const bool          weighted = header_.weight_type != 0, in = header.in_edges != 0;
  const auto          roots = bytes_of(*find(SectionKind::split)).subspan(sizeof header);
  const auto          rows  = [&](bool of_in) {
    if (!find(of_in ? SectionKind::in_offsets : SectionKind::out_offsets)) return Csr{};
    Csr csr;
    csr.offsets = array<EdgeIndex>(of_in ? SectionKind::in_offsets : SectionKind::out_offsets, n + 1);
    csr.targets = array<Vertex>(of_in ? SectionKind::in_targets : SectionKind::out_targets, header_.arcs);
    if (weighted)
      csr.weights = array<std::uint32_t>(of_in ? SectionKind::in_weights : SectionKind::out_weights, header_.arcs);
    return csr;
  };
  SplitRows::Parts parts{.form          = {static_cast<SplitKind>(header.kind), header.degree_bound, in},
                         .originals     = header.vertices,
                         .original_arcs = header.arcs,
                         .roots = {{reinterpret_cast<const Vertex*>(roots.data()), n - header.vertices}, file_},
                         .split = rows(in),
                         .transposed  = rows(!in),
                         .weight_type = static_cast<WeightType>(header_.weight_type),
                         .name        = path_};
  if (parts.split.offsets.empty())
    throw bad_input("{}: the section of {} is missing", path_,
                    to_string(in ? SectionKind::in_offsets : SectionKind::out_offsets));
  return std::make_shared<SplitRows>(std::move(parts), budget_, /*trusted=*/false);
}

IdMap SpillFile::ids() const {
  IdMap ids = ascending_ids();
  if ((header_.id_kind & ordered_ids) == 0) return ids;
  if (!is_paged()) throw bad_input("{}: rows in the order of degrees are in pages, and here are none", path_);
  return IdMap::ordered(std::move(ids), array<Vertex>(SectionKind::order, header_.vertices));
}

IdMap SpillFile::ascending_ids() const {
  const std::uint64_t n = vertices();
  switch (static_cast<IdMap::Kind>(header_.id_kind & ~(ordered_ids | split_rows))) {
    case IdMap::Kind::numbers:
      return IdMap::numbers(array<std::uint64_t>(SectionKind::id_numbers, n));
    case IdMap::Kind::strings: {
      const Section* names = find(SectionKind::id_bytes);
      return IdMap::strings(array<std::uint64_t>(SectionKind::id_numbers, n),
                            array<char>(SectionKind::id_bytes, names ? names->bytes : 0));
    }
    case IdMap::Kind::consecutive:
      break;
  }
  return IdMap::consecutive(header_.first_id);
}

std::optional<StripeTable> SpillFile::stripes() const {
  const Section* const section = find(SectionKind::stripes);
  return section ? std::optional{StripeTable{bytes_of(*section), path_}} : std::nullopt;
}

/// That have pages, and where these begin.
std::vector<PagedRows::File> SpillFile::files_of(bool in, const PageTableHeader& table) const {
  const SectionKind    kind  = in ? SectionKind::in_pages : SectionKind::pages;
  const Section* const pages = find(kind);
  const auto           fits  = [&](std::uint64_t at, std::uint64_t count, std::uint64_t end) {
    return at % section_alignment == 0 && at <= end && count <= (end - at) / table.page_bytes;
  };
  const auto refuse = [&](const std::string& where) {
    return bad_input("{}: {} pages of {} bytes do not fit {}", path_, table.pages, table.page_bytes, where);
  };
  if (pages) {
    if (pages->bytes / table.page_bytes != table.pages || pages->bytes % table.page_bytes != 0)
      throw refuse("the section that holds them");
    return {{path_, pages->offset, table.pages}};
  }
  const auto striped = stripes();
  if (!striped) throw bad_input("{}: the section of {} is missing", path_, to_string(kind));
  std::vector<PagedRows::File> files;
  const std::uint64_t          n = striped->stripes().size();
  for (std::uint64_t i = 0; i < n; ++i) {
    const StripeTable::Stripe& stripe = striped->stripes()[i];
    const std::uint64_t        at     = in ? stripe.in_at : stripe.at;
    files.push_back({striped->path(i, path_), at, table.pages / n + (i < table.pages % n ? 1 : 0)});
    if (at < section_alignment || !fits(at, files.back().pages, stripe.bytes))
      throw refuse("its stripe " + files.back().path);
  }
  return files;
}

std::shared_ptr<const PagedRows> SpillFile::paged(bool in) const {
  const SectionKind    table   = in ? SectionKind::in_page_table : SectionKind::page_table;
  const SectionKind    degrees = in ? SectionKind::in_degrees : SectionKind::degrees;
  const Section* const of      = find(degrees);
  if (!of) throw bad_input("{}: the section of {} is missing", path_, to_string(degrees));
  const auto      bytes = bytes_of(*find(table));
  PageTableHeader header;
  if (bytes.size() < sizeof header) throw bad_input("{}: the {} was cut off", path_, to_string(table));
  std::memcpy(&header, bytes.data(), sizeof header);
  const PageFormat format{.ids         = {header.page_id, header.slot_id},
                          .page_bytes  = header.page_bytes,
                          .compressed  = header.compressed != 0,
                          .weight_bits = header.weight_bits};
  const bool       weighted = header_.weight_type != 0;
  const bool       fits     = header.page_bytes >= 64 && header.page_bytes <= PageFormat::most_bytes &&
                    header.page_bytes % section_alignment == 0 && header.compressed <= 1 &&
                    header.weight_bits <= 32 && (header.weight_bits > 0) == weighted &&
                    (format.compressed || header.weight_bits % 32 == 0) && header.page_id >= 1 &&
                    header.page_id <= 4 && header.slot_id >= 1 && header.slot_id <= 4;
  if (!fits) throw bad_input("{}: the {} holds values that no version writes", path_, to_string(table));
  if ((bytes.size() - sizeof header) / sizeof(PageEntry) != header.pages ||
      (bytes.size() - sizeof header) % sizeof(PageEntry) != 0)
    throw bad_input("{}: the {} has not the {} entries that it states", path_, to_string(table), header.pages);
  std::vector<PagedRows::File> files = files_of(in, header);
  std::vector<PageEntry>       entries(header.pages);
  if (header.pages > 0)
    std::memcpy(entries.data(), bytes.data() + sizeof header, header.pages * sizeof(PageEntry));
  return std::make_shared<PagedRows>(path_, std::move(files), format, std::move(entries),
                                     offsets_of(bytes_of(*of), header_.vertices, header_.arcs, budget_, path_),
                                     header.least_weight);
}

// --- writing ---

namespace {

struct Content {
  SectionKind                kind;
  std::span<const std::byte> bytes;
};

template <class T>
Content content(SectionKind kind, const Array<T>& array) {
  return {kind, std::as_bytes(array.span())};
}

std::vector<Content> id_contents(const IdMap& ids) {
  std::vector<Content> contents;
  if (ids.kind() != IdMap::Kind::consecutive)
    contents.push_back(content(SectionKind::id_numbers, ids.number_table()));
  if (ids.kind() == IdMap::Kind::strings) contents.push_back(content(SectionKind::id_bytes, ids.string_bytes()));
  if (ids.order().size() > 0) contents.push_back(content(SectionKind::order, ids.order()));
  return contents;
}

void add_rows(std::vector<Content>& contents, const Csr& rows, bool weighted, bool in) {
  contents.push_back(content(in ? SectionKind::in_offsets : SectionKind::out_offsets, rows.offsets));
  contents.push_back(content(in ? SectionKind::in_targets : SectionKind::out_targets, rows.targets));
  if (weighted) contents.push_back(content(in ? SectionKind::in_weights : SectionKind::out_weights, rows.weights));
}

/// `split`: its table as a section, if there is one; `edges`: likewise.
std::vector<Content> contents_of(const Graph& graph, std::span<const std::byte> split,
                                 std::span<const std::byte> edges) {
  const bool           weighted = graph.weight_type() != WeightType::none;
  std::vector<Content> contents;
  if (const SplitRows* const rows = graph.split().get()) {
    contents.push_back({SectionKind::split, split});
    // What a program would have to build is written, too: in-edges alone are of use to none.
    const bool in = rows->form().in_edges, both = in || rows->has_transposed();
    add_rows(contents, rows->out(), weighted, false);
    if (both) add_rows(contents, rows->in(), weighted, true);
  } else if (graph.edges()) {
    contents.push_back({SectionKind::edges, edges});
  } else {
    add_rows(contents, graph.out(), weighted, false);
    if (!graph.symmetric() && graph.has_in()) add_rows(contents, graph.in(), weighted, true);
  }
  std::ranges::copy(id_contents(graph.ids()), std::back_inserter(contents));
  return contents;
}

std::vector<std::byte> split_section(const SplitRows& rows) {
  const SplitHeader      header{.kind         = static_cast<std::uint32_t>(rows.form().kind),
                                .in_edges     = rows.form().in_edges,
                                .degree_bound = rows.form().degree_bound,
                                .vertices     = rows.originals(),
                                .arcs         = rows.original_arcs()};
  const auto             roots = std::as_bytes(rows.roots().span());
  std::vector<std::byte> section(sizeof header + roots.size());
  std::memcpy(section.data(), &header, sizeof header);
  std::ranges::copy(roots, section.begin() + sizeof header);
  return section;
}

/// Writes one section with all threads; returns its checksum, taken while the bytes are at hand.
std::uint64_t write_section(const Content& content, std::uint64_t offset, OutputFile& file, Progress& progress) {
  std::vector<std::uint64_t> hashes(piece_count(content.bytes.size()));
  for_each_task(thread_count(), hashes.size(), [&](std::uint64_t i, int) {
    check_cancelled(progress);
    const auto part = piece(content.bytes, i);
    hashes[i]       = XXH3_64bits(part.data(), part.size());
    file.write_at(offset + i * checksum_piece, part.data(), part.size());
    progress.advance(part.size());
  });
  return combined(hashes);
}

}  // namespace

namespace {

void set_ids(Header& header, const IdMap& ids) {
  header.id_kind  = static_cast<std::uint32_t>(ids.kind()) | (ids.order().size() > 0 ? ordered_ids : 0);
  header.first_id = ids.first();
}

Header header_of(const Graph& graph) {
  Header header;
  header.vertices    = graph.vertex_count();
  header.arcs        = graph.arc_count();
  header.weight_type = static_cast<std::uint32_t>(graph.weight_type());
  header.symmetric   = graph.symmetric();
  set_ids(header, graph.ids());
  if (const SplitRows* const rows = graph.split().get()) {
    header.vertices = rows->vertex_count();
    header.arcs     = rows->arc_count();
    header.id_kind |= split_rows;
  }
  return header;
}

/// Last: without it the file is not a .spill.
void write_header(Header header, const std::vector<Section>& sections, OutputFile& file) {
  header.section_count = static_cast<std::uint32_t>(sections.size());
  header.checksum      = header_checksum(header, sections);
  file.resize(header.file_bytes);
  file.write_at(sizeof(Header), sections.data(), sections.size() * sizeof(Section));
  file.write_at(0, &header, sizeof header);
}

/// Sections that are written one behind the other.
class SectionWriter {
 public:
  SectionWriter(OutputFile& file, Progress& progress, StripeOutput* stripes)
      : file_(file), progress_(progress), stripes_(stripes && stripes->in_use() ? stripes : nullptr) {}

  static std::uint64_t first() { return align(sizeof(Header) + most * sizeof(Section)); }
  std::uint64_t        next() const { return next_; }

  void add(const Content& content) {
    sections_.push_back({.kind = content.kind, .offset = next_, .bytes = content.bytes.size()});
    sections_.back().checksum = write_section(content, next_, file_, progress_);
    next_                     = align(next_ + content.bytes.size());
  }
  /// Pages are there already, with checksums of their own in the table.
  void add_side(const WrittenPages& pages, std::span<const EdgeIndex> offsets, bool in) {
    if (stripes_)
      (in ? in_at_ : out_at_) = pages.stripes_at;
    else
      add_pages(pages.entries.size() * std::uint64_t{pages.format.page_bytes}, in);
    const std::vector<std::byte> table   = pages.table();
    const std::vector<std::byte> degrees = coded_degrees(offsets);
    add({in ? SectionKind::in_page_table : SectionKind::page_table, table});
    add({in ? SectionKind::in_degrees : SectionKind::degrees, degrees});
  }
  void finish(Header header) {
    if (stripes_) {
      const std::vector<std::byte> table = stripes_->finish(out_at_, in_at_).section();
      add({SectionKind::stripes, table});
    }
    header.file_bytes = next_;
    write_header(header, sections_, file_);
  }

 private:
  static constexpr std::uint32_t most = 9;

  void add_pages(std::uint64_t bytes, bool in) {
    sections_.push_back(
        {.kind = in ? SectionKind::in_pages : SectionKind::pages, .offset = next_, .bytes = bytes});
    next_ = align(next_ + bytes);
  }

  OutputFile&                file_;
  Progress&                  progress_;
  StripeOutput*              stripes_;
  std::vector<std::uint64_t> out_at_, in_at_;  ///< where pages begin in stripes
  std::uint64_t              next_ = first();
  std::vector<Section>       sections_;
};

}  // namespace

namespace {

/// All rows of a graph in memory, one after the other.
void hand_over(const Csr& rows, WeightType weight_type, const std::shared_ptr<MemoryBudget>& budget, RowSink& sink,
               Progress& progress) {
  constexpr std::uint64_t rows_at_once = 1u << 20;
  RowSink::Facts          facts{.vertices = rows.vertex_count(), .weight_type = weight_type, .budget = budget};
  if (weight_type == WeightType::u32)
    for (const std::uint32_t weight : rows.weights) facts.largest_weight = std::max(facts.largest_weight, weight);
  sink.begin(facts);
  if (sink.wants_degrees()) sink.take_degrees(rows.offsets.span());
  progress.begin("writing pages", rows.arc_count(), ProgressUnit::edges);
  for (std::uint64_t v = 0; v < rows.vertex_count(); v += rows_at_once) {
    check_cancelled(progress);
    const std::uint64_t last  = std::min(rows.vertex_count(), v + rows_at_once);
    const EdgeIndex     first = rows.offsets[v];
    sink.take(rows.offsets.span().subspan(v, last - v + 1), rows.targets.data() + first,
              weight_type == WeightType::none ? nullptr : rows.weights.data() + first);
    progress.advance(rows.offsets[last] - first);
  }
  progress.end();
}

}  // namespace

void write(const Graph& graph, const PageOptions& options, OutputFile& file, Progress& progress,
           StripeOutput* stripes) {
  if (graph.split())
    throw usage_error(
        "{}: its vertices are split ({}), and the rows of such are not kept in pages; add --split none",
        graph.name(), text_of(graph.split()->form()));
  constexpr std::uint64_t waiting = 64u << 20;  // bytes of rows, while they are put in order
  SectionWriter           writer{file, progress, stripes};
  Array<Vertex>           order;
  const auto              add = [&](const Csr& rows, bool in) {
    PageSink pages{options, file, writer.next(), thread_count(), stripes};
    if (!options.by_degree) {
      hand_over(rows, graph.weight_type(), graph.budget(), pages, progress);
      return writer.add_side(pages.finish(), rows.offsets.span(), in);
    }
    ArcSpill     spill{options.temporary.empty() ? folder_of(followed(file.path())) : options.temporary, waiting};
    OrderingSink ordering{spill, pages, thread_count(), progress, order};
    hand_over(rows, graph.weight_type(), graph.budget(), ordering, progress);
    const Array<EdgeIndex> offsets = ordering.finish(in ? in_side : out_side);
    order                          = ordering.order();
    writer.add_side(pages.finish(), offsets.span(), in);
  };
  add(graph.out(), false);
  if (!graph.symmetric() && graph.has_in()) add(graph.in(), true);
  const IdMap ids = options.by_degree ? IdMap::ordered(graph.ids(), order) : graph.ids();
  for (const Content& each : id_contents(ids)) writer.add(each);
  Header header = header_of(graph);
  set_ids(header, ids);
  writer.finish(header);
}

PagedOutput::PagedOutput(const PageOptions& options, OutputFile& file, ArcSpill& spill, int threads,
                         Progress& progress, bool in_edges, StripeOutput* stripes)
    : options_(options),
      file_(file),
      spill_(spill),
      threads_(threads),
      progress_(progress),
      stripes_(stripes),
      pages_(options, file, SectionWriter::first(), threads, stripes) {
  if (options.by_degree) ordering_.emplace(spill, pages_, threads, progress);
  RowSink& ordered = ordering_ ? static_cast<RowSink&>(*ordering_) : pages_;
  if (in_edges) reversing_.emplace(spill, ordered, threads, progress);
}

RowSink& PagedOutput::rows() {
  if (reversing_) return *reversing_;
  return ordering_ ? static_cast<RowSink&>(*ordering_) : pages_;
}

IdMap PagedOutput::finish(Array<EdgeIndex> offsets, const IdMap& ids, WeightType weight_type, bool symmetric) {
  if (weight_type != pages_.weight_type()) throw internal_error("pages were written with weights of another type");
  if (ordering_) offsets = ordering_->finish(out_side);
  SectionWriter writer{file_, progress_, stripes_};
  writer.add_side(pages_.finish(), offsets.span(), false);
  Header header;
  header.vertices    = offsets.size() - 1;
  header.arcs        = offsets[header.vertices];
  header.weight_type = static_cast<std::uint32_t>(weight_type);
  header.symmetric   = symmetric;
  offsets            = {};
  if (reversing_ && !symmetric) {
    PageSink     pages{options_, file_, writer.next(), threads_, stripes_};
    OrderingSink ordering{spill_, pages, threads_, progress_, ordering_ ? ordering_->order() : Array<Vertex>{}};
    offsets = reversing_->finish(ordering_ ? static_cast<RowSink&>(ordering) : pages);
    if (ordering_) offsets = ordering.finish(in_side);
    writer.add_side(pages.finish(), offsets.span(), true);
  }
  const IdMap named = ordering_ ? IdMap::ordered(ids, ordering_->order()) : ids;
  for (const Content& each : id_contents(named)) writer.add(each);
  set_ids(header, named);
  writer.finish(header);
  return named;
}

namespace {

/// Of a file that may be none.
std::optional<StripeTable> stripe_table_of(const std::string& path) {
  try {
    if (is_regular_file(path)) return SpillFile{path}.stripes();
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> stripes_of(const std::string& path) {
  std::vector<std::string> paths;
  if (const auto table = stripe_table_of(path))
    for (std::size_t i = 0; i < table->stripes().size(); ++i) paths.push_back(table->path(i, path));
  return paths;
}

void commit(OutputFile& file, StripeOutput& stripes, OutputFile* id_map) {
  const auto               replaced = file.is_direct() ? std::nullopt : stripe_table_of(file.path());
  std::vector<OutputFile*> all      = stripes.files();
  if (id_map) all.push_back(id_map);
  all.push_back(&file);
  OutputFile::commit_together(all);
  if (replaced) replaced->remove(file.path());
}

void write(const Graph& graph, OutputFile& file, Progress& progress) {
  const std::vector<std::byte> split = graph.split() ? split_section(*graph.split()) : std::vector<std::byte>{};
  const Array<std::uint32_t>   edges =
      graph.edges() ? packed(*graph.edges(), graph.budget()) : Array<std::uint32_t>{};
  const std::vector<Content> contents = contents_of(graph, split, std::as_bytes(edges.span()));
  Header                     header   = header_of(graph);

  std::vector<Section> sections;
  std::uint64_t        offset = align(sizeof(Header) + contents.size() * sizeof(Section));
  for (const Content& each : contents) {
    sections.push_back({.kind = each.kind, .offset = offset, .bytes = each.bytes.size()});
    offset = align(offset + each.bytes.size());
  }
  header.file_bytes = offset;

  progress.begin("writing", offset, ProgressUnit::bytes);
  for (std::size_t i = 0; i < contents.size(); ++i)
    sections[i].checksum = write_section(contents[i], sections[i].offset, file, progress);
  write_header(header, sections, file);
  progress.end();
}

}  // namespace spillway::store
