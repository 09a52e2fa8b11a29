#include "io/text_forecast.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/fail.hpp"
#include "io/interner.hpp"

namespace spillway {
namespace {

/// How many different ids there are, by the k smallest of their hashes (Bar-Yossef et al., "Counting Distinct
/// Elements in a Data Stream", RANDOM 2002): within about 1/sqrt(k). The ids behind them are a fair sample, which
/// tells how long names are.
class DistinctIds {
 public:
  void add(std::uint64_t hash, std::uint32_t length) {
    if (hash >= bound_) return;
    smallest_.push_back({hash, length});
    if (smallest_.size() >= 2 * kept) shrink();
  }

  void add_all(const DistinctIds& other) {
    for (const Entry& entry : other.smallest_) add(entry.hash, entry.length);
  }

  std::uint64_t count() {
    shrink();
    if (smallest_.size() < kept) return smallest_.size();
    return static_cast<std::uint64_t>(static_cast<double>(kept - 1) / (static_cast<double>(bound_) * 0x1p-64));
  }

  /// Bytes of all different names together.
  std::uint64_t bytes() {
    const std::uint64_t ids = count();
    if (smallest_.empty()) return 0;
    std::uint64_t sampled = 0;
    for (const Entry& entry : smallest_) sampled += entry.length;
    return static_cast<std::uint64_t>(static_cast<double>(sampled) / static_cast<double>(smallest_.size()) *
                                      static_cast<double>(ids));
  }

 private:
  static constexpr std::size_t kept = 1u << 14;

  struct Entry {
    std::uint64_t hash;
    std::uint32_t length;
  };

  void shrink() {
    const auto less = [](const Entry& a, const Entry& b) { return a.hash < b.hash; };
    const auto same = [](const Entry& a, const Entry& b) { return a.hash == b.hash; };
    std::sort(smallest_.begin(), smallest_.end(), less);
    smallest_.erase(std::unique(smallest_.begin(), smallest_.end(), same), smallest_.end());
    if (smallest_.size() < kept) return;
    smallest_.resize(kept);
    bound_ = smallest_.back().hash;
  }

  std::vector<Entry> smallest_;
  std::uint64_t      bound_ = UINT64_MAX;
};

/// The lines that one thread of the reader will have.
struct Part {
  std::uint64_t edges = 0;
  DistinctIds   ids;
};

class Pass {
 public:
  Pass(const EdgeText& text, const ReadJob& job)
      : text_(text), job_(job), parts_(static_cast<std::size_t>(job.context.threads)) {}

  GraphSize run() {
    job_.progress().begin("estimating", job_.sample.file_bytes, ProgressUnit::bytes);
    const auto stream = open_stream(job_.path());
    skip(*stream, text_.start + job_.sample.skipped);
    std::vector<char> buffer(buffer_bytes);
    std::size_t       filled = 0;
    for (bool more = true; more;) {
      check_cancelled(job_.progress());
      const std::size_t   got  = stream->read(buffer.data() + filled, buffer.size() - filled);
      const std::uint64_t done = stream->consumed();
      more                     = filled + got == buffer.size();
      filled += got;
      const std::size_t used = lines({buffer.data(), filled}, part_at(done), !more);
      std::memmove(buffer.data(), buffer.data() + used, filled - used);
      filled -= used;
      if (filled == buffer.size()) filled = 0;  // a line without end: the reader will refuse it
      job_.progress().advance(done - reported_);
      reported_ = done;
    }
    job_.progress().end();
    return size();
  }

 private:
  static constexpr std::size_t buffer_bytes = 1u << 20;

  static void skip(ByteStream& stream, std::uint64_t bytes) {
    char sink[4096];
    for (std::uint64_t left = bytes; left > 0;) {
      const std::size_t got = stream.read(sink, std::min<std::uint64_t>(left, sizeof sink));
      if (got == 0) return;
      left -= got;
    }
  }

  /// Plain files are cut into as many parts as there are threads; what is decompressed goes round.
  Part& part_at(std::uint64_t consumed) {
    if (job_.sample.compressed) return parts_[pieces_++ % parts_.size()];
    const std::uint64_t bytes = std::max<std::uint64_t>(job_.sample.file_bytes, 1);
    const auto          share =
        static_cast<double>(std::min(consumed, bytes) - (consumed > 0)) / static_cast<double>(bytes);
    return parts_[static_cast<std::size_t>(share * static_cast<double>(parts_.size()))];
  }

  /// Returns how many bytes were whole lines.
  std::size_t lines(std::string_view text, Part& part, bool last) {
    std::size_t begin = 0;
    for (;;) {
      const void* found =
          begin < text.size() ? std::memchr(text.data() + begin, '\n', text.size() - begin) : nullptr;
      const std::size_t end =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.size();
      if (!found && !last) return begin;
      line(text.substr(begin, end - begin), part);
      if (!found) return text.size();
      begin = end + 1;
    }
  }

  void line(std::string_view line, Part& part) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    line.remove_prefix(first);
    const EdgeLayout& layout = text_.layout;
    if (layout.comments.find(line.front()) != std::string::npos) return;
    if (layout.lead != 0) {
      if (line.front() != layout.lead) return;
      line.remove_prefix(1);
    }
    const unsigned   last = std::max(layout.source, layout.target);
    std::string_view source, target;
    for (unsigned column = 0; column <= last; ++column) {
      const std::string_view field = next_field(line);
      if (column == layout.source) source = field;
      if (column == layout.target) target = field;
    }
    ++part.edges;
    loops_ += source == target;
    id(source, part, /*is_source=*/true);
    id(target, part, /*is_source=*/false);
  }

  std::string_view next_field(std::string_view& line) const {
    const char delimiter = text_.layout.delimiter;
    const auto blank     = [&](char c) { return (c == ' ' || c == '\t') && (delimiter == ' ' || c != delimiter); };
    while (!line.empty() && blank(line.front())) line.remove_prefix(1);
    std::size_t end = 0;
    if (text_.layout.quoted && line.starts_with('"')) {
      end = std::min(line.find('"', 1), line.size() - 1) + 1;
    }
    while (end < line.size() && line[end] != delimiter && !(delimiter == ' ' && blank(line[end]))) ++end;
    std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    while (!field.empty() && blank(field.back())) field.remove_suffix(1);
    if (text_.layout.quoted && field.size() >= 2 && field.front() == '"')
      field = field.substr(1, field.size() - 2);
    return field;
  }

  void id(std::string_view field, Part& part, bool is_source) {
    if (text_.ids == IdKind::strings) {
      part.ids.add(hash_of(field), static_cast<std::uint32_t>(field.size()));
      return;
    }
    std::uint64_t number = 0;
    std::from_chars(field.data(), field.data() + field.size(), number);
    part.ids.add(hash_of(number), 0);
    least_ = std::min(least_, number), largest_ = std::max(largest_, number);
    if (number - text_.first_id >= max_vertices) return;
    const std::size_t bucket = static_cast<std::size_t>(number - text_.first_id) >> bucket_bits;
    if (bucket >= in_bucket_.size()) in_bucket_.resize(bucket + 1);
    in_bucket_[bucket] += is_source || both_ways() ? 1 : 0;
  }

  bool both_ways() const {
    const Transform& transform = job_.context.transform;
    return transform.undirected || (transform.symmetrize && transform.dedup) || text_.layout.negate_reverse;
  }

  std::uint64_t edges() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.edges;
    return sum;
  }

  EdgeIndex arcs() const {
    const EdgeIndex kept = job_.context.transform.drop_loops ? edges() - loops_ : edges();
    return both_ways() ? 2 * kept - (job_.context.transform.drop_loops ? 0 : loops_) : kept;
  }

  GraphSize size() {
    DistinctIds all;
    for (const Part& part : parts_) all.add_all(part.ids);
    GraphSize  size{.vertices = all.count(), .arcs = arcs(), .weight_type = text_.weight_type};
    const bool numbers = text_.ids == IdKind::small_numbers &&
                         (text_.vertices || text_.dense || largest_ < std::min(text_.id_limit, max_vertices));
    if (numbers && text_.dense) size.vertices = edges() > 0 ? largest_ + 1 : 0;
    if (text_.vertices) size.vertices = *text_.vertices;
    if (!text_.vertex_list.empty()) size.vertices = text_.vertex_list.size();
    size.symmetric = job_.context.transform.undirected || job_.context.transform.symmetrize;
    size.held_bytes =
        rows_bytes(size.vertices, size.arcs, weighted()) + (has_table(size.vertices) ? table_bytes(size, all) : 0);
    const std::uint64_t base = read_buffers() + (numbers ? members_bytes(size, all) : lookup_bytes());
    const std::uint64_t peak = numbers ? building_peak(build_size(size)) : renumbering_peak(size, all);
    size.loading_bytes       = base + peak;
    merge_reverses(size, base);
    return size;
  }

  bool          weighted() const { return text_.weight_type != WeightType::none; }
  std::uint64_t read_buffers() const { return parts_.size() * (std::uint64_t{1} << 20); }

  /// Ids need a table unless they follow one another; a percent of difference is within the estimate.
  bool has_table(std::uint64_t vertices) const {
    if (text_.ids == IdKind::strings) return true;
    if (text_.vertices || text_.dense || edges() == 0) return false;
    return static_cast<double>(largest_ - least_ + 1) > 1.02 * static_cast<double>(vertices);
  }

  std::uint64_t table_bytes(const GraphSize& size, DistinctIds& all) const {
    return size.vertices * sizeof(std::uint64_t) + (text_.ids == IdKind::strings ? all.bytes() : 0);
  }

  BuildSize build_size(const GraphSize& size) const {
    const bool looked_up = text_.ids != IdKind::small_numbers;
    return {.vertices = size.vertices,
            .arcs     = size.arcs,
            .weighted = weighted(),
            .threads  = job_.context.threads,
            .largest_bucket =
                looked_up || in_bucket_.empty() ? 0 : *std::max_element(in_bucket_.begin(), in_bucket_.end()),
            .buckets = looked_up ? 0 : in_bucket_.size()};
  }

  /// A bit for every id up to the largest, and the rank of every 64th (graph/vertex_set.hpp).
  std::uint64_t members_bytes(const GraphSize& size, DistinctIds& all) const {
    if (text_.vertices || text_.dense) return 0;
    const std::uint64_t members = (largest_ + 64) / 64 * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
    return members + (size.vertices < largest_ + 1 ? table_bytes(size, all) : 0);
  }

  /// What an interner counts when it has met `keys` different ids (io/interner.hpp).
  static std::uint64_t interner_bytes(std::uint64_t keys, std::uint64_t key_bytes, std::uint64_t name_bytes) {
    constexpr std::uint64_t chunk = 1u << 20, first_capacity = 512;
    std::uint64_t           capacity = first_capacity;
    while (static_cast<double>(capacity) < 1.02 * static_cast<double>(keys)) capacity *= 2;
    const std::uint64_t arena = name_bytes == 0 ? 0 : (name_bytes + name_bytes / 64) / chunk * chunk + chunk;
    if (capacity == first_capacity) return arena;
    return (capacity + capacity / 2) * key_bytes + 3 * capacity * sizeof(Vertex) + arena;
  }

  /// Ids that were met, and what putting them in order takes.
  std::uint64_t lookup_bytes() {
    const bool          names    = text_.ids == IdKind::strings;
    const std::uint64_t key      = names ? sizeof(std::string_view) : sizeof(std::uint64_t);
    const std::uint64_t numbered = names ? 24 : 16;
    std::uint64_t       bytes    = 0;
    for (Part& part : parts_) {
      const std::uint64_t ids = part.ids.count();
      bytes += interner_bytes(ids, key, names ? part.ids.bytes() : 0);
      bytes += (ids + ids / 64) * (numbered + 2 * key + sizeof(Vertex));
    }
    return bytes;
  }

  /// Edges as they were met are given back block by block while they are collected under their final numbers. Each
  /// thread has a block that it reads, one that is not full, and may be one behind the others.
  std::uint64_t renumbering_peak(const GraphSize& size, DistinctIds& all) const {
    constexpr std::uint64_t block_bytes = (64u << 10) * 3 * sizeof(std::uint32_t), steps = 32;
    const std::uint64_t     met   = edges() * 3 * sizeof(std::uint32_t) + 3 * parts_.size() * block_bytes;
    BuildSize               build = build_size(size);
    std::uint64_t           peak =
        std::max(building_peak(build), rows_bytes(size.vertices, size.arcs, weighted()) + table_bytes(size, all));
    for (std::uint64_t step = 0; step <= steps; ++step) {
      build.arcs = size.arcs * step / steps;
      peak       = std::max(peak, met - met * step / steps + collecting_bytes(build));
    }
    return peak;
  }

  /// --symmetrize on its own makes the reverses of finished rows, and then the union of both.
  void merge_reverses(GraphSize& size, std::uint64_t base) const {
    const Transform& transform = job_.context.transform;
    if (!transform.symmetrize || transform.dedup || transform.undirected) return;
    const std::uint64_t one_way  = rows_bytes(size.vertices, size.arcs, weighted());
    const std::uint64_t both     = rows_bytes(size.vertices, 2 * size.arcs, weighted());
    const std::uint64_t reversed = one_way + building_peak(build_size(size)) * 33 / 32;
    size.loading_bytes           = std::max({size.loading_bytes, base + reversed, base + 2 * one_way + both});
    size.held_bytes += both - one_way;
    size.arcs *= 2;
  }

  const EdgeText&        text_;
  const ReadJob&         job_;
  std::vector<Part>      parts_;
  std::vector<EdgeIndex> in_bucket_;
  std::uint64_t          pieces_ = 0, reported_ = 0, loops_ = 0;
  std::uint64_t          least_ = UINT64_MAX, largest_ = 0;
};

}  // namespace

std::optional<GraphSize> forecast(const EdgeText& text, const ReadJob& job) {
  // A pass over the text takes seconds for each GiB; beyond this nobody waits for a better number.
  constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
  if (job.sample.is_pipe || job.sample.file_bytes > most_bytes) return std::nullopt;
  return Pass{text, job}.run();
}

}  // namespace spillway
