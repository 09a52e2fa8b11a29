#include "io/edge_forecast.hpp"

#include <algorithm>

#include "io/interner.hpp"

namespace spillway {
namespace {

constexpr std::size_t kept = 1u << 14;  // smallest hashes

/// What an interner counts when it has met `keys` different ids (io/interner.hpp).
std::uint64_t interner_bytes(std::uint64_t keys, std::uint64_t key_bytes, std::uint64_t name_bytes) {
  constexpr std::uint64_t chunk = 1u << 20, first_capacity = 512;
  std::uint64_t           capacity = first_capacity;
  while (static_cast<double>(capacity) < 1.02 * static_cast<double>(keys)) capacity *= 2;
  const std::uint64_t arena = name_bytes == 0 ? 0 : (name_bytes + name_bytes / 64) / chunk * chunk + chunk;
  if (capacity == first_capacity) return arena;
  return (capacity + capacity / 2) * key_bytes + 3 * capacity * sizeof(Vertex) + arena;
}

}  // namespace

void DistinctIds::add(std::uint64_t hash, std::uint32_t length) {
  if (hash >= bound_) return;
  smallest_.push_back({hash, length});
  if (smallest_.size() >= 2 * kept) shrink();
}

void DistinctIds::add_all(const DistinctIds& other) {
  for (const Entry& entry : other.smallest_) add(entry.hash, entry.length);
}

std::uint64_t DistinctIds::count() {
  shrink();
  if (smallest_.size() < kept) return smallest_.size();
  return static_cast<std::uint64_t>(static_cast<double>(kept - 1) / (static_cast<double>(bound_) * 0x1p-64));
}

std::uint64_t DistinctIds::bytes() {
  const std::uint64_t ids = count();
  if (smallest_.empty()) return 0;
  std::uint64_t sampled = 0;
  for (const Entry& entry : smallest_) sampled += entry.length;
  return static_cast<std::uint64_t>(static_cast<double>(sampled) / static_cast<double>(smallest_.size()) *
                                    static_cast<double>(ids));
}

void DistinctIds::shrink() {
  const auto less = [](const Entry& a, const Entry& b) { return a.hash < b.hash; };
  const auto same = [](const Entry& a, const Entry& b) { return a.hash == b.hash; };
  std::sort(smallest_.begin(), smallest_.end(), less);
  smallest_.erase(std::unique(smallest_.begin(), smallest_.end(), same), smallest_.end());
  if (smallest_.size() < kept) return;
  smallest_.resize(kept);
  bound_ = smallest_.back().hash;
}

void EdgeForecast::add(std::size_t part, std::uint64_t source, std::uint64_t target) {
  Part& mine = parts_[part];
  ++mine.edges;
  loops_ += source == target;
  number(mine, source, /*is_source=*/true);
  number(mine, target, /*is_source=*/false);
}

void EdgeForecast::add(std::size_t part, std::string_view source, std::string_view target) {
  Part& mine = parts_[part];
  ++mine.edges;
  loops_ += source == target;
  for (const std::string_view name : {source, target})
    mine.ids.add(hash_of(name), static_cast<std::uint32_t>(name.size()));
}

void EdgeForecast::number(Part& part, std::uint64_t id, bool is_source) {
  part.ids.add(hash_of(id), 0);
  least_ = std::min(least_, id), largest_ = std::max(largest_, id);
  if (id - text_.first_id >= max_vertices) return;
  const std::size_t bucket = static_cast<std::size_t>(id - text_.first_id) >> bucket_bits;
  if (bucket >= in_bucket_.size()) in_bucket_.resize(bucket + 1);
  in_bucket_[bucket] += is_source || both_ways() ? 1 : 0;
}

bool EdgeForecast::both_ways() const {
  const Transform& transform = job_.context.transform;
  return transform.undirected || (transform.symmetrize && transform.dedup) || text_.layout.negate_reverse;
}

std::uint64_t EdgeForecast::edges() const {
  std::uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.edges;
  return sum;
}

EdgeIndex EdgeForecast::arcs() const {
  const EdgeIndex kept = job_.context.transform.drop_loops ? edges() - loops_ : edges();
  return both_ways() ? 2 * kept - (job_.context.transform.drop_loops ? 0 : loops_) : kept;
}

GraphSize EdgeForecast::size() {
  DistinctIds all;
  for (const Part& part : parts_) all.add_all(part.ids);
  GraphSize  size{.vertices = all.count(), .arcs = arcs(), .weight_type = text_.weight_type};
  const bool numbers = text_.ids == IdKind::small_numbers &&
                       (text_.vertices || text_.dense || largest_ < std::min(text_.id_limit, max_vertices));
  if (numbers && text_.dense) size.vertices = edges() > 0 ? largest_ + 1 : 0;
  if (text_.vertices) size.vertices = *text_.vertices;
  if (text_.listed) size.vertices = *text_.listed;
  size.symmetric = job_.context.transform.undirected || job_.context.transform.symmetrize;
  size.held_bytes =
      rows_bytes(size.vertices, size.arcs, weighted()) + (has_table(size.vertices) ? table_bytes(size, all) : 0);
  const std::uint64_t base = buffers_ + (numbers ? members_bytes(size, all) : lookup_bytes());
  const std::uint64_t peak = numbers ? building_peak(build_size(size)) : renumbering_peak(size, all);
  size.loading_bytes       = base + peak;
  merge_reverses(size, base);
  return size;
}

/// Ids need a table unless they follow one another; a percent of difference is within the estimate.
bool EdgeForecast::has_table(std::uint64_t vertices) const {
  if (text_.ids == IdKind::strings || text_.listed) return true;
  if (text_.vertices || text_.dense || edges() == 0) return false;
  return static_cast<double>(largest_ - least_) + 1 > 1.02 * static_cast<double>(vertices);
}

std::uint64_t EdgeForecast::table_bytes(const GraphSize& size, DistinctIds& all) const {
  return size.vertices * sizeof(std::uint64_t) + (text_.ids == IdKind::strings ? all.bytes() : 0);
}

BuildSize EdgeForecast::build_size(const GraphSize& size) const {
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
std::uint64_t EdgeForecast::members_bytes(const GraphSize& size, DistinctIds& all) const {
  if (text_.vertices || text_.dense) return 0;
  const std::uint64_t members = (largest_ + 64) / 64 * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
  return members + (size.vertices < largest_ + 1 ? table_bytes(size, all) : 0);
}

/// Ids that were met, and what putting them in order takes.
std::uint64_t EdgeForecast::lookup_bytes() {
  const bool          names    = text_.ids == IdKind::strings;
  const std::uint64_t key      = names ? sizeof(std::string_view) : sizeof(std::uint64_t);
  const std::uint64_t numbered = names ? 24 : 16;
  std::uint64_t       bytes    = text_.listed.value_or(0) * key;  // a copy of the list that ids are looked up in
  for (Part& part : parts_) {
    const std::uint64_t ids = part.ids.count();
    bytes += interner_bytes(ids, key, names ? part.ids.bytes() : 0);
    bytes += (ids + ids / 64) * (numbered + 2 * key + sizeof(Vertex));
  }
  return bytes;
}

/// Edges as they were met are given back block by block while they are collected under their final numbers. Each
/// thread has a block that it reads, one that is not full, and may be one behind the others.
std::uint64_t EdgeForecast::renumbering_peak(const GraphSize& size, DistinctIds& all) const {
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
void EdgeForecast::merge_reverses(GraphSize& size, std::uint64_t base) const {
  const Transform& transform = job_.context.transform;
  if (!transform.symmetrize || transform.dedup || transform.undirected) return;
  const std::uint64_t one_way  = rows_bytes(size.vertices, size.arcs, weighted());
  const std::uint64_t both     = rows_bytes(size.vertices, 2 * size.arcs, weighted());
  const std::uint64_t reversed = one_way + building_peak(build_size(size)) * 33 / 32;
  size.loading_bytes           = std::max({size.loading_bytes, base + reversed, base + 2 * one_way + both});
  size.held_bytes += both - one_way;
  size.arcs *= 2;
}

}  // namespace spillway
