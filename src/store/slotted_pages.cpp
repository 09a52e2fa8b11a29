#include "store/slotted_pages.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "store/row_code.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/search.hpp>

namespace spillway::store {
namespace {

constexpr std::uint64_t place_bytes = 4;  // the paper's OFF

/// The lowest bytes of a number.
void put_bytes(std::byte* to, std::uint64_t value, unsigned bytes) { std::memcpy(to, &value, bytes); }

std::uint64_t get_bytes(const std::byte* from, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// Where compressed records lie is counted in words, in as few bytes as hold that.
unsigned code_place_bytes(std::uint64_t page_bytes) { return page_bytes <= (4u << 16) ? 2 : 4; }

std::uint64_t slot_at(const PageFormat& format, std::uint64_t slot) {
  return format.page_bytes - (slot + 1) * format.slot_bytes();
}

}  // namespace

std::uint64_t RecordIdWidth::largest_page() const {
  return most_slots() * (PageFormat::degree_bytes + 2 * std::uint64_t{bytes()} + place_bytes);
}

std::uint64_t PageFormat::slot_bytes() const {
  return compressed ? code_place_bytes(page_bytes) : ids.bytes() + place_bytes;
}

std::uint64_t expected_pages(const PageFormat& format, std::uint64_t vertices, std::uint64_t edges) {
  const std::uint64_t a_vertex = PageFormat::degree_bytes + format.slot_bytes();
  return (vertices * a_vertex + edges * format.edge_bytes() + format.page_bytes - 1) / format.page_bytes;
}

// --- record ids ---

RecordIds::RecordIds(const PageFormat& format, std::uint64_t vertices,
                     const std::function<EdgeIndex(Vertex)>& degree)
    : width_(format.ids) {
  PageSpace space{format};
  bool      open = false;  // a small page has begun
  page_of_block_.reserve(vertices / block + 1);
  for (std::uint64_t v = 0; v < vertices; ++v) {
    const EdgeIndex     edges  = degree(static_cast<Vertex>(v));
    const std::uint64_t record = format.record_bytes(edges);
    if (record > format.largest_record()) {
      const EdgeIndex some = format.edges_of_large_page();
      if (v % block == 0) page_of_block_.push_back(static_cast<std::uint32_t>(starts_.size()));
      starts_.insert(starts_.end(), (edges + some - 1) / some, v);
      open = false;
    } else {
      if (!open || !space.fits(record)) starts_.push_back(v), space.clear(), open = true;
      if (v % block == 0) page_of_block_.push_back(static_cast<std::uint32_t>(starts_.size() - 1));
      space.add(record);
    }
    if (starts_.size() > width_.most_pages())
      throw does_not_fit(
          "the graph needs more than {} pages of {} bytes, which is all that record ids with {} bytes "
          "for the page can address; use larger pages, or more bytes",
          width_.most_pages(), format.page_bytes, width_.page);
  }
}

std::uint64_t RecordIds::of(Vertex v) const {
  std::uint64_t page = page_of_block_[v / block];
  // Of a large vertex, the first of its pages.
  while (page + 1 < starts_.size() && starts_[page + 1] <= v && starts_[page] != v) ++page;
  return page << (8 * width_.slot) | (v - starts_[page]);
}

// --- writing ---

/// Records of neighbouring rows, coded by one thread.
struct PageWriter::Coded {
  std::vector<std::byte>     bytes;
  std::vector<std::uint64_t> ends;  ///< of each record
};

PageWriter::PageWriter(const PageFormat& format, std::uint64_t vertices, const RecordIds* ids, Sink sink)
    : format_(format),
      vertices_(vertices),
      ids_(ids),
      sink_(std::move(sink)),
      space_(format),
      page_(format.page_bytes + RowCode::bytes_behind) {
  if (!format.compressed && format.page_bytes > format.ids.largest_page())
    throw usage_error("pages of {} bytes have more slots than {} bytes can address; at most {} bytes are possible",
                      format.page_bytes, format.ids.slot, format.ids.largest_page());
}

void PageWriter::encode(std::span<const Vertex> targets, std::span<const std::uint32_t> weights, EdgeIndex degree,
                        std::vector<std::byte>& record) const {
  if (format_.compressed && degree == 0) return;
  const std::size_t at = record.size();
  if (format_.compressed) {
    thread_local std::vector<std::uint32_t> code;
    code.clear();
    encode_row(targets, weights, format_.weight_bits, code);
    record.resize(at + PageFormat::degree_bytes + code.size() * sizeof(std::uint32_t));
    std::memcpy(record.data() + at + PageFormat::degree_bytes, code.data(), code.size() * sizeof(std::uint32_t));
  } else {
    record.resize(at + format_.record_bytes(targets.size()));
    std::byte*     to    = record.data() + at + PageFormat::degree_bytes;
    const unsigned bytes = format_.ids.bytes();
    for (const Vertex target : targets) {
      const std::uint64_t id = ids_->of(target);
      put_bytes(to, id >> (8 * format_.ids.slot), format_.ids.page);
      put_bytes(to + format_.ids.page, id, format_.ids.slot);
      to += bytes;
    }
    if (format_.weight_bits > 0) std::memcpy(to, weights.data(), weights.size_bytes());
  }
  put_bytes(record.data() + at, degree, PageFormat::degree_bytes);
}

void PageWriter::add(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights,
                     int threads) {
  constexpr std::uint64_t rows_a_task = 1024, tasks_at_once = 64;
  const std::uint64_t     rows = offsets.size() - 1;
  const auto              row  = [&](std::uint64_t i) {
    const EdgeIndex first = offsets[i] - offsets[0], count = offsets[i + 1] - offsets[i];
    return std::pair{std::span{targets + first, count},
                     std::span{weights ? weights + first : nullptr, weights ? count : 0}};
  };
  // A row that is large whatever is in it is coded a page at a time. A compressed edge takes two bits at least.
  const EdgeIndex    most = format_.compressed
                                ? std::min<EdgeIndex>(4 * format_.largest_record(), RowCode::most_where)
                                : format_.edges_of_large_page();
  std::vector<Coded> coded(tasks_at_once);
  for (std::uint64_t begin = 0; begin < rows; begin += rows_a_task * tasks_at_once) {
    const std::uint64_t end   = std::min(rows, begin + rows_a_task * tasks_at_once);
    const std::uint64_t tasks = (end - begin + rows_a_task - 1) / rows_a_task;
    for_each_task(threads, tasks, [&](std::uint64_t task, int) {
      coded[task].bytes.clear(), coded[task].ends.clear();
      for (std::uint64_t i = begin + task * rows_a_task; i < std::min(end, begin + (task + 1) * rows_a_task);
           ++i) {
        const auto [to, by] = row(i);
        if (to.size() <= most) encode(to, by, to.size(), coded[task].bytes);
        coded[task].ends.push_back(to.size() <= most ? coded[task].bytes.size() : ~std::uint64_t{0});
      }
    });
    for (std::uint64_t task = 0; task < tasks; ++task) {
      std::uint64_t at = 0;
      for (std::uint64_t k = 0; k < coded[task].ends.size(); ++k) {
        const auto [to, by]        = row(begin + task * rows_a_task + k);
        const std::uint64_t to_end = coded[task].ends[k];
        const bool          known  = to_end != ~std::uint64_t{0};
        if (known && to_end - at <= format_.largest_record())
          add_record(std::span{coded[task].bytes}.subspan(at, to_end - at), to.size());
        else
          add_large(to, by);
        if (known) at = to_end;
      }
    }
  }
}

void PageWriter::add_record(std::span<const std::byte> record, EdgeIndex degree) {
  if (!space_.fits(record.size())) flush();
  if (space_.slots() == 0) open_ = {.first_vertex = next_vertex_, .first_edge = next_edge_};
  std::ranges::copy(record, page_.begin() + static_cast<std::ptrdiff_t>(space_.used()));
  put_slot(space_.slots(), static_cast<Vertex>(next_vertex_), space_.used());
  space_.add(record.size());
  ++next_vertex_, next_edge_ += degree;
}

/// A row in as many pages as it takes, each full.
void PageWriter::add_large(std::span<const Vertex> targets, std::span<const std::uint32_t> weights) {
  flush();
  if (targets.size() > UINT32_MAX)
    throw does_not_fit("vertex {} has {} edges; a record counts up to {}", next_vertex_, targets.size(),
                       UINT32_MAX);
  const std::size_t      first_page = entries_.size();
  const std::int32_t     first      = large_pages_;
  std::vector<std::byte> record;
  const std::uint64_t    words = (format_.largest_record() - PageFormat::degree_bytes) / sizeof(std::uint32_t);
  for (std::size_t at = 0; at < targets.size();) {
    std::size_t count = std::min<std::size_t>(targets.size() - at, format_.edges_of_large_page());
    if (format_.compressed) {
      std::uint64_t used = 0;
      for (count = 0; at + count < targets.size();) {
        const auto group =
            static_cast<unsigned>(std::min<std::size_t>(RowCode::group, targets.size() - at - count));
        const Vertex range = targets[at + count + group - 1] - targets[at + count];
        used += 2 + GroupCode::of(group, range).words(group, format_.weight_bits);
        if (used > words) break;
        count += group;
      }
    }
    record.clear();
    encode(targets.subspan(at, count), weights.empty() ? weights : weights.subspan(at, count), targets.size(),
           record);
    write_large(record, count);
    at += count;
  }
  entries_[first_page].large_first = first;
  entries_[first_page].large_last  = large_pages_ - 1;
  ++next_vertex_;
}

void PageWriter::write_large(std::span<const std::byte> record, EdgeIndex edges) {
  open_ = {.first_vertex = next_vertex_, .first_edge = next_edge_, .vertices = 1, .large = 1};
  std::ranges::copy(record, page_.begin());
  put_slot(0, static_cast<Vertex>(next_vertex_), 0);
  space_.add(record.size());
  next_edge_ += edges;
  ++large_pages_;
  flush();
}

void PageWriter::put_slot(std::uint64_t slot, Vertex v, std::uint64_t at) {
  std::byte* const to = page_.data() + slot_at(format_, slot);
  if (format_.compressed) return put_bytes(to, at / sizeof(std::uint32_t), code_place_bytes(format_.page_bytes));
  put_bytes(to, v, format_.ids.bytes());
  put_bytes(to + format_.ids.bytes(), at, place_bytes);
}

void PageWriter::flush() {
  if (space_.slots() == 0) return;
  const std::span page{page_.data(), format_.page_bytes};
  open_.vertices = static_cast<std::uint32_t>(space_.slots());
  open_.checksum = XXH3_64bits(page.data(), page.size());
  sink_(entries_.size(), page);
  entries_.push_back(open_);
  if (entries_.size() > INT32_MAX)
    throw does_not_fit("the graph needs more than {} pages of {} bytes; use larger ones", INT32_MAX,
                       format_.page_bytes);
  std::ranges::fill(page_, std::byte{0});
  space_.clear();
}

void PageWriter::save(StateWriter& state) const {
  state.put(space_);
  state.put_all(std::span<const std::byte>{page_});
  state.put(open_);
  state.put_all(std::span<const PageEntry>{entries_});
  state.put(next_vertex_);
  state.put(next_edge_);
  state.put(large_pages_);
}

void PageWriter::restore(StateReader& state) {
  space_       = state.get<PageSpace>();
  page_        = state.get_all<std::byte>();
  open_        = state.get<PageEntry>();
  entries_     = state.get_all<PageEntry>();
  next_vertex_ = state.get<std::uint64_t>();
  next_edge_   = state.get<std::uint64_t>();
  large_pages_ = state.get<std::int32_t>();
}

std::vector<PageEntry> PageWriter::finish() {
  if (next_vertex_ != vertices_) throw internal_error("{} of {} rows came", next_vertex_, vertices_);
  flush();
  return std::move(entries_);
}

// --- reading ---

PageTable::PageTable(const PageFormat& format, std::vector<PageEntry> entries, std::span<const EdgeIndex> offsets,
                     std::string name, std::vector<std::string> stripes)
    : format_(format),
      entries_(std::move(entries)),
      offsets_(offsets),
      name_(std::move(name)),
      stripes_(std::move(stripes)) {
  const std::uint64_t n    = offsets.size() - 1;
  std::uint64_t       next = 0;  // vertex
  EdgeIndex           edge = 0;
  // A compressed edge takes two bits at least.
  const std::uint64_t most_slots = format.page_bytes / format.slot_bytes();
  const EdgeIndex     most_edges =
      format.compressed ? 4 * EdgeIndex{format.page_bytes} : format.page_bytes / format.edge_bytes();
  for (std::uint64_t i = 0; i < entries_.size(); ++i) {
    const PageEntry& at = entries_[i];
    if (at.vertices > most_slots) refuse(i, "the table of pages gives it more slots than it has room for");
    if (at.first_vertex >= n || at.vertices == 0 || at.vertices > n - at.first_vertex || at.first_edge != edge)
      refuse(i, "the table of pages says that it begins where the page before does not end");
    const bool goes_on = at.large && edge > offsets[at.first_vertex];
    if (at.first_vertex + (goes_on ? 1 : 0) != next || (at.large && at.vertices != 1))
      refuse(i, "the table of pages says that it is of other vertices than follow");
    next                 = at.first_vertex + at.vertices;
    const EdgeIndex last = at.large && i + 1 < entries_.size() ? entries_[i + 1].first_edge : offsets[next];
    if (last < edge || last > offsets[next] || last - edge > most_edges || (at.large && last == edge))
      refuse(i, "the table of pages gives it other edges than its vertices have");
    if (!goes_on && offsets[at.first_vertex] != edge) refuse(i, "the row before it is not complete");
    most_edges_ = std::max(most_edges_, last - edge);
    edge        = last;
    starts_.push_back(static_cast<Vertex>(at.first_vertex));
  }
  if (next != n || edge != offsets[n])
    throw bad_input("{}: its pages have {} of {} vertices and {} of {} edges", name_, next, n, edge, offsets[n]);
}

void PageTable::refuse(std::uint64_t page, const char* what) const {
  if (stripes_.empty()) throw bad_input("{}: page {}: {}; the file is damaged", name_, page, what);
  throw bad_input("{}: page {} in {}: {}; the file is damaged", name_, page, stripes_[page % stripes_.size()],
                  what);
}

EdgeRange PageTable::edges(std::uint64_t page) const {
  const PageEntry& at = entries_[page];
  return {at.first_edge, page + 1 < entries_.size() ? entries_[page + 1].first_edge : offsets_.back(), false};
}

std::uint64_t PageTable::page_of(Vertex v) const {
  const std::uint64_t next =
      partition_point(std::uint64_t{0}, size(), [&](std::uint64_t i) { return entries_[i].first_vertex < v; });
  const bool begins = next < size() && entries_[next].first_vertex == v;
  return begins ? next : next - 1;
}

PageRows PageTable::rows(std::uint64_t page, const EdgeIndex* offsets, const Vertex* targets,
                         const std::uint32_t* weights) const {
  const EdgeRange   all = edges(page);
  const VertexRange of  = vertices(page);
  // As if the edges of all pages before were there, too: rows are indexed by their offsets.
  return {.rows    = {offsets, targets - all.first, weights ? weights - all.first : nullptr},
          .first   = static_cast<Vertex>(of.first),
          .last    = static_cast<Vertex>(of.last),
          .edges   = all,
          .in_part = entries_[page].large != 0,
          .number  = page};
}

void PageTable::check(std::uint64_t page, std::span<const std::byte> bytes) const {
  if (bytes.size() < format_.page_bytes ||
      XXH3_64bits(bytes.data(), format_.page_bytes) != entries_[page].checksum)
    refuse(page, "its bytes do not match their checksum");
}

std::uint64_t PageTable::code_at(std::span<const std::byte> bytes, std::uint64_t slot) const {
  return get_bytes(bytes.data() + slot_at(format_, slot), code_place_bytes(format_.page_bytes)) +
         PageFormat::degree_bytes / sizeof(std::uint32_t);
}

void PageTable::decode(std::uint64_t page, std::span<const std::byte> bytes, Vertex* targets,
                       std::uint32_t* weights, const Wanted& wanted) const {
  const PageEntry&    entry = entries_[page];
  const EdgeRange     all   = edges(page);
  const std::uint64_t slots = slot_at(format_, entry.vertices - 1);
  const std::uint64_t n     = offsets_.size() - 1;
  const auto          place = [&](std::uint64_t slot) {
    const std::byte* const from = bytes.data() + slot_at(format_, slot);
    if (format_.compressed) return get_bytes(from, code_place_bytes(format_.page_bytes)) * sizeof(std::uint32_t);
    return get_bytes(from + format_.ids.bytes(), place_bytes);
  };
  for (std::uint64_t i = 0; i < entry.vertices; ++i) {
    const auto      v = static_cast<Vertex>(entry.first_vertex + i);
    const EdgeRange part{std::max(offsets_[v], all.first), std::min(offsets_[v + 1], all.last), false};
    if (part.last < part.first) refuse(page, "the table of pages is not that of its rows");
    const EdgeIndex count = part.last - part.first;
    if ((format_.compressed && count == 0) || (wanted && !wanted(v))) continue;
    const std::uint64_t at = place(i);
    if (at + PageFormat::degree_bytes > slots) refuse(page, "a record lies outside of it");
    if (get_bytes(bytes.data() + at, PageFormat::degree_bytes) != offsets_[v + 1] - offsets_[v])
      refuse(page, "a record has another number of edges than its vertex");
    Vertex* const        to = targets + (part.first - all.first);
    std::uint32_t* const by = weights ? weights + (part.first - all.first) : nullptr;
    if (!format_.compressed) {
      if (get_bytes(bytes.data() + slot_at(format_, i), format_.ids.bytes()) != v)
        refuse(page, "a slot is of another vertex");
      decode_plain(page, bytes.first(slots), count, at + PageFormat::degree_bytes, to, by);
      continue;
    }
    const std::uint64_t code = at + PageFormat::degree_bytes;
    const std::span     words{reinterpret_cast<const std::uint32_t*>(bytes.data() + code),
                          (slots - code) / sizeof(std::uint32_t)};
    if (!decode_row(words, count, format_.weight_bits, n, to, by))
      refuse(page, "a record is not the code of its row");
  }
}

void PageTable::decode_plain(std::uint64_t page, std::span<const std::byte> bytes, EdgeIndex count,
                             std::uint64_t at, Vertex* targets, std::uint32_t* weights) const {
  if (at + count * format_.edge_bytes() > bytes.size()) refuse(page, "a record lies outside of it");
  const std::byte*    from = bytes.data() + at;
  const std::uint64_t n    = offsets_.size() - 1;
  const auto          last = static_cast<std::uint32_t>(entries_.size() - 1);
  unsigned            bad  = 0;
  const auto          put  = [&](EdgeIndex i, std::uint32_t to, std::uint32_t slot) {
    const Vertex start = starts_[std::min(to, last)], target = start + slot;
    bad |= (to > last) | (target < start) | (target >= n);
    targets[i] = target;
  };
  if (format_.ids.page == 2 && format_.ids.slot == 2) {
    for (EdgeIndex i = 0; i < count; ++i) {
      std::uint32_t id;
      std::memcpy(&id, from + i * sizeof id, sizeof id);
      put(i, id & 0xFFFF, id >> 16);
    }
  } else {
    const std::uint64_t page_mask = format_.ids.most_pages() - 1, slot_mask = format_.ids.most_slots() - 1;
    for (EdgeIndex i = 0; i < count; ++i) {
      std::uint64_t id;  // and what lies behind it
      std::memcpy(&id, from + i * format_.ids.bytes(), sizeof id);
      put(i, static_cast<std::uint32_t>(id & page_mask),
          static_cast<std::uint32_t>((id >> (8 * format_.ids.page)) & slot_mask));
    }
  }
  for (EdgeIndex i = 1; i < count; ++i) bad |= targets[i] < targets[i - 1] ? 1u : 0u;
  from += count * format_.ids.bytes();
  if (bad != 0) refuse(page, "a record id leads to no vertex, or the row does not ascend");
  if (weights && format_.weight_bits > 0) std::memcpy(weights, from, count * sizeof(std::uint32_t));
}

}  // namespace spillway::store
