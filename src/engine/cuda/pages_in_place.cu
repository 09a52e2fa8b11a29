#include "engine/cuda/pages_in_place.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/fail.hpp"
#include "engine/cuda/supplies.hpp"
#include "store/row_code.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway::cuda {
namespace {

constexpr auto what_kept = "pages of edges";

constexpr std::uint64_t rows_at_once = 1u << 18;  // of which it is found where they begin, or those of a page

std::uint64_t large_pages(const store::PageTable& table) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < table.size(); ++i) count += table.is_large(i) ? 1 : 0;
  return count;
}

/// Pages of the row that begins in one, and perhaps goes on in the next.
std::uint64_t end_of_row(const store::PageTable& table, std::uint64_t first) {
  std::uint64_t last = first + 1;
  while (last < table.size() && table.is_large(last) && table.vertices(last).first == table.vertices(first).first)
    ++last;
  return last;
}

/// Bytes in which the longest row of several pages is decoded and coded again.
std::uint64_t joining_bytes(const store::PageTable& table) {
  constexpr std::uint64_t an_edge = 2 * sizeof(Vertex) + 2 * sizeof(std::uint32_t);
  EdgeIndex               longest = 0;
  for (std::uint64_t first = 0, last; first < table.size(); first = last) {
    last = end_of_row(table, first);
    if (table.is_large(first)) longest = std::max(longest, table.edges(last - 1).last - table.edges(first).first);
  }
  return longest * an_edge;
}

}  // namespace

std::uint64_t PagesInPlace::host_bytes(const store::PagedRows& rows, int threads) {
  const store::PageTable& table   = rows.table();
  const std::uint64_t     reading = joining_bytes(table) + PageStreamSizes::least_bytes(rows, threads, false);
  const std::uint64_t finding = std::min<std::uint64_t>(rows_at_once, rows.offsets().size()) * sizeof(RowSlice);
  return (table.size() + large_pages(table)) * table.format().page_bytes + std::max(reading, finding);
}

std::string PagesInPlace::why_not(const store::PagedRows& rows) {
  const store::PageTable& table = rows.table();
  if (!table.format().compressed) return "pages of record ids are not read in place, compressed ones are";
  if (rows.leaves_out()) return "pages with loops or parallel arcs to leave out are not read in place";
  // A place is counted in 32 bits.
  const std::uint64_t words = table.format().page_bytes / sizeof(std::uint32_t);
  if (table.size() + large_pages(table) > UINT32_MAX / words)
    return "more than 16 GiB of pages are not read in place";
  return {};
}

PagesInPlace::PagesInPlace(Device& device, const store::PagedRows& rows, const RunOptions& options,
                           const std::shared_ptr<MemoryBudget>& budget)
    : pages_(&rows),
      weight_bits_(rows.table().format().weight_bits),
      slices_(device, rows.offsets().size() - 1, "the places of the rows") {
  {
    Charge joining{budget, "a row of several pages"};
    joining.raise_to(joining_bytes(rows.table()));
    read(options, budget);
    join_large_rows(options.progress);
  }
  readable_ = {words(), kept_.memory.size() * rows.table().format().page_bytes, budget, what_kept};
  find_rows(device, options, budget);
}

/// Weights are checked with the targets, which alone are decoded.
void PagesInPlace::read(const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget) {
  const store::PageTable& table   = pages_->table();
  const int               threads = thread_count(options.threads);
  PageStreamSizes         sizes   = PageStreamSizes::of(*pages_, threads, false, std::nullopt, 1, *budget);
  const std::uint64_t     all     = table.size() + large_pages(table);
  const std::uint64_t     page    = table.format().page_bytes;
  // Of what all pages leave, the ring takes as much as is usual.
  const std::uint64_t free  = budget->limit() - std::min(budget->limit(), budget->used());
  const std::uint64_t least = all * page + PageStreamSizes::least_bytes(*pages_, threads, false);
  sizes.kept_pages          = all;
  sizes.ring_pages =
      std::min(sizes.ring_pages, PageStreamSizes::least_ring(threads) + (free - std::min(free, least)) / page);
  budget->expect((all + sizes.ring_pages) * page + PageStreamSizes::decoded_bytes(*pages_, threads, false),
                 what_kept);
  PageStream                 stream{*pages_, threads, false, sizes, budget, options.trace};
  std::vector<std::uint64_t> each(table.size());
  for (std::uint64_t i = 0; i < each.size(); ++i) each[i] = i;
  stream.begin(std::move(each), {});
  try {
    on_threads(threads, [&](int thread) {
      PageRows page_rows;
      while (stream.next(thread, page_rows))
        if (options.progress) check_cancelled(*options.progress);
    });
  } catch (...) {
    stream.end();
    throw;
  }
  stream.end();
  reader_ = stream.reader();
  kept_   = stream.take_kept();
}

/// Pages of a row end with whole groups: coded as one it takes no more than they did.
void PagesInPlace::join_large_rows(Progress* progress) {
  const store::PageTable&    table  = pages_->table();
  const std::uint64_t        a_page = table.format().page_bytes / sizeof(std::uint32_t);
  std::uint64_t              at     = table.size() * a_page;
  std::vector<Vertex>        targets;
  std::vector<std::uint32_t> weights, code;
  for (std::uint64_t first = 0, last; first < table.size(); first = last) {
    last = end_of_row(table, first);
    if (!table.is_large(first)) continue;
    if (progress) check_cancelled(*progress);
    const auto      v     = static_cast<Vertex>(table.vertices(first).first);
    const EdgeIndex begin = table.edges(first).first;
    targets.resize(table.edges(last - 1).last - begin);
    weights.resize(weight_bits_ > 0 ? targets.size() : 0);
    for (std::uint64_t i = first; i < last; ++i) {
      const EdgeIndex to = table.edges(i).first - begin;
      table.decode(i, bytes_of(i), targets.data() + to, weights.empty() ? nullptr : weights.data() + to);
    }
    code.clear();
    encode_row(targets, weights, weight_bits_, code);
    if (at + code.size() >= kept_.memory.size() * a_page)
      throw bad_input("{}: the pages of vertex {} are not cut as they should be", pages_->path(), v);
    std::ranges::copy(code, words() + at);
    joined_.push_back({v, static_cast<std::uint32_t>(at)});
    at += code.size();
  }
}

/// Some pages at a time: where the rows of each begin, by their slots.
void PagesInPlace::find_rows(Device& device, const RunOptions& options,
                             const std::shared_ptr<MemoryBudget>& budget) {
  const store::PageTable& table   = pages_->table();
  const auto&             offsets = pages_->offsets();
  const std::uint64_t     words   = table.format().page_bytes / sizeof(std::uint32_t);
  std::vector<RowSlice>   found;
  Charge                  held{budget, "the places of the rows"};
  const auto              slice = [&](std::uint64_t v, std::uint64_t at) -> RowSlice {
    const auto edges = static_cast<std::uint32_t>(offsets[v + 1] - offsets[v]);
    return {static_cast<std::uint32_t>(at),
            edges | (edges > 0 && edges <= CompressedRows::group ? RowSlice::one_group : 0)};
  };
  for (std::uint64_t first = 0, last; first < table.size(); first = last) {
    const std::uint64_t from = table.vertices(first).first;
    for (last = first + 1; last < table.size() && table.vertices(last).last - from <= rows_at_once;) ++last;
    const std::uint64_t to = table.vertices(last - 1).last;
    if (options.progress) check_cancelled(*options.progress);
    if (to - from > found.capacity()) held.raise_to((to - from) * sizeof(RowSlice)), found.reserve(to - from);
    found.assign(to - from, RowSlice{});
    for_each_task(thread_count(options.threads), last - first, [&](std::uint64_t i, int) {
      const std::uint64_t page = first + i;
      if (table.is_large(page)) return;
      const VertexRange   vertices = table.vertices(page);
      const std::uint64_t base     = kept_.at[page] * words;
      for (std::uint64_t v = vertices.first; v < vertices.last; ++v)
        if (offsets[v + 1] > offsets[v])
          found[v - from] = slice(v, base + table.code_at(bytes_of(page), v - vertices.first));
    });
    for (const Joined& row : joined_)
      if (row.vertex >= from && row.vertex < to) found[row.vertex - from] = slice(row.vertex, row.at);
    device.upload(slices_.data() + from, found.data(), found.size() * sizeof(RowSlice));
    device.wait();  // `found` is for others now
    pages_->evict({from, to});
  }
}

namespace {

/// One for each set of pages, which both directions may share.
void add_pages(SupplyJob& job, const RowBlock& block, Supply<CompressedRows>& supply,
               std::vector<CompressedRows>& to) {
  RunStatistics& so_far = job.supplied.so_far;
  auto           pages  = job.device_graph.pages_in_place(block.pages);
  for (const auto& held : supply.held)  // by this run
    if (const auto* const other = static_cast<const PagesInPlace*>(held.get()); other->is_of(block.pages))
      return to.push_back(other->rows());
  if (!pages) {
    refuse_long_rows(block);
    job.device().require(
        job.needs.state_bytes(edges_in_place()) + job.topology.vertices * sizeof(CompressedRows::RowSlice),
        "the state of the vertices and the places of their rows");
    pages = std::make_shared<PagesInPlace>(job.device(), *block.pages, job.supplied.options, job.graph.budget());
    // Others may need the memory, unless more such runs are to come.
    if (job.supplied.options.runs > 1) job.device_graph.keep(pages);
    so_far.pages_read += pages->pages(), so_far.bytes_read += pages->bytes();
  }
  supply.on_host += pages->bytes();
  so_far.pages_wanted += pages->pages(), so_far.pages_in_place += pages->pages();
  so_far.page_io = pages->reader();
  to.push_back(pages->rows());
  supply.held.push_back(std::move(pages));
}

}  // namespace

std::optional<Error> supply_pages_in_place(SupplyJob& job) {
  if (job.needs.form == RowForm::whole)
    return Error{ExitCode::usage, "--deterministic does not go with compressed pages that are read in place"};
  if (!job.supplied.options.balance.by_bins())
    return Error{ExitCode::usage,
                 fmt::format("--balance {} is for pages that are sent, or rows that are not compressed, not "
                             "for pages that are read in place",
                             name_of(job.supplied.options.balance))};
  if (job.supplied.options.supply.state_chunks > 1)
    return Error{ExitCode::usage,
                 "--state-chunks is for pages that are sent, not for those that are read in place"};
  for (const auto* side : {&job.topology.push, &job.topology.pull})
    for (const RowBlock& block : *side)
      if (const std::string why = PagesInPlace::why_not(*block.pages); !why.empty())
        return Error{ExitCode::usage, why};
  Supply<CompressedRows> supply;
  try {
    Charge to_come{job.graph.budget(), "the result"};
    to_come.raise_to(job.needs.answer_bytes + answer_rounding);
    for (const RowBlock& block : job.topology.push) add_pages(job, block, supply, supply.push);
    for (const RowBlock& block : job.topology.pull) add_pages(job, block, supply, supply.pull);
  } catch (const Error& error) {
    if (error.code() != ExitCode::does_not_fit) throw;
    job.supplied.so_far = {};
    return Error{error.code(), error.what()};
  }
  job.supplied.rows              = std::move(supply);
  job.supplied.options.method    = edges_in_place();
  job.supplied.so_far.compressed = true;
  return std::nullopt;
}

}  // namespace spillway::cuda
