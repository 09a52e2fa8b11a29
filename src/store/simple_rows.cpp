// Rows in pages without loops, and with one of parallel arcs: what that leaves of each row is counted once, and
// the others are left out wherever a page is decoded.
#include <utility>

#include "store/paged_rows.hpp"

namespace spillway::store {
namespace {

/// visit(target) for each that stays, in order. `before` is the target before the first.
template <class Visit>
void for_each_simple(Vertex v, std::span<const Vertex> targets, Vertex before, Visit&& visit) {
  for (const Vertex target : targets)
    if (std::exchange(before, target) != target && target != v) visit(target);
}

/// What stays of a part of a row that takes several pages.
struct Part {
  Vertex    first = no_vertex, last = no_vertex;  ///< targets
  EdgeIndex stay = 0;
};

/// Of each row that is whole in a page, what stays: in the place behind its own. And all parts, by pages.
std::vector<Part> count_simple(const PagedRows& rows, const Buffer<EdgeIndex>& offsets, const PageVisit& visit) {
  std::vector<Part> parts(rows.table().size());
  for_each_page(rows, visit, [&](std::uint64_t i, const PageRows& page) {
    for (Vertex v = page.first; v < page.last; ++v) {
      const EdgeRange row = page.row(v);
      const std::span targets{page.rows.targets + row.first, row.last - row.first};
      EdgeIndex       stay = 0;
      for_each_simple(v, targets, no_vertex, [&](Vertex) { ++stay; });
      if (page.in_part)
        parts[i] = {targets.front(), targets.back(), stay};
      else
        offsets[v + std::uint64_t{1}] = stay;
    }
    if (!page.in_part) offsets.evict(page.first, page.last);
  });
  return parts;
}

/// Of each page that goes on with a row, the target that the page before ends with. An arc that is parallel to it
/// does not stay, either.
std::vector<Vertex> stitch(const PageTable& table, std::vector<Part>& parts, const Buffer<EdgeIndex>& offsets) {
  std::vector<Vertex> before(table.size(), no_vertex);
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    if (!table.entries()[i].large) continue;
    const auto v       = static_cast<Vertex>(table.vertices(i).first);
    const bool goes_on = i > 0 && table.entries()[i - 1].large && table.vertices(i - 1).first == v;
    if (goes_on) before[i] = parts[i - 1].last;
    if (before[i] == parts[i].first && parts[i].first != v) --parts[i].stay;
    offsets[v + std::uint64_t{1}] += parts[i].stay;
  }
  return before;
}

void add_up(const Buffer<EdgeIndex>& offsets) {
  for (std::uint64_t v = 1; v < offsets.size(); ++v) {
    offsets[v] += offsets[v - 1];
    if (v % evicted_offsets == 0) offsets.evict(v - evicted_offsets, v);
  }
}

}  // namespace

PagedRows::PagedRows(LeftOut left_out, Buffer<EdgeIndex> offsets)
    : path_(left_out.from->path_),
      files_(left_out.from->files_),
      kept_offsets_(std::make_shared<const Buffer<EdgeIndex>>(std::move(offsets))),
      offsets_(kept_offsets_->span(), kept_offsets_),
      table_(left_out.from->table_),
      least_weight_(left_out.from->least_weight_),
      left_out_(std::move(left_out)) {}

PageRows PagedRows::decoded(std::uint64_t page, std::span<const std::byte> bytes, Vertex* targets,
                            std::uint32_t* weights, const PageTable::Wanted& wanted) const {
  table_.decode(page, bytes, targets, weights, wanted);
  if (!left_out_) return table_.rows(page, offsets_.data(), targets, weights);
  const PageRows  all = table_.rows(page, left_out_->from->offsets_.data(), targets, nullptr);
  const EdgeRange stay{left_out_->first_edges[page], left_out_->first_edges[page + 1]};
  for (Vertex v = all.first; v < all.last; ++v) {
    if (wanted && !wanted(v)) continue;
    const EdgeRange row = all.row(v);
    // What stays moves towards the front, over nothing that is still to be looked at.
    Vertex* to = targets + (all.in_part ? 0 : offsets_[v] - stay.first);
    for_each_simple(v, {all.rows.targets + row.first, row.last - row.first}, left_out_->before[page],
                    [&](Vertex target) { *to++ = target; });
  }
  PageRows some = all;
  some.rows     = {offsets_.data(), targets - stay.first, nullptr};
  some.edges    = stay;
  return some;
}

std::shared_ptr<const PagedRows> simple_rows(const std::shared_ptr<const PagedRows>& rows,
                                             const std::shared_ptr<MemoryBudget>& budget, int threads,
                                             Progress& progress) {
  const PageTable&    table    = rows->table();
  const std::uint64_t vertices = rows->offsets().size() - 1;
  Buffer<EdgeIndex>   offsets  = room_for_offsets(vertices, budget);
  std::vector<Part>   parts =
      count_simple(*rows, offsets, {threads, "looking for parallel arcs", progress, budget, /*weighted=*/false});
  PagedRows::LeftOut left_out{rows, std::vector<EdgeIndex>(table.size() + 1), stitch(table, parts, offsets)};
  add_up(offsets);
  if (offsets[vertices] == rows->arcs()) return rows;
  for (std::uint64_t i = 0; i < table.size(); ++i)
    left_out.first_edges[i + 1] =
        table.entries()[i].large ? left_out.first_edges[i] + parts[i].stay : offsets[table.vertices(i).last];
  return std::make_shared<const PagedRows>(std::move(left_out), std::move(offsets));
}

}  // namespace spillway::store
