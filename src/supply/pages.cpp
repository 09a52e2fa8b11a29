// Edges that rest in pages on disk (GTS): streamed, only those whose vertices are active.
#include <algorithm>

#include "base/fail.hpp"
#include "supply/methods.hpp"
#include "supply/page_stream.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

class PagesSupply final : public EdgeSupply {
 public:
  PagesSupply(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
              const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
      : executor_(executor), topology_(topology), all_active_(facts.all_active) {
    const int                            threads = thread_count(options.threads);
    std::vector<const store::PagedRows*> sides;
    for (const auto* blocks : {&topology.push, &topology.pull})
      for (const RowBlock& block : *blocks) {
        if (!block.pages) throw internal_error("rows in memory were to be streamed");
        if (std::ranges::find(sides, block.pages) == sides.end()) sides.push_back(block.pages);
      }
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto left = static_cast<unsigned>(sides.size() - i);
      const auto sizes =
          PageStreamSizes::of(*sides[i], threads, facts.weighted, options.supply.resident, left, *budget);
      streams_.push_back({sides[i], std::make_unique<PageStream>(*sides[i], threads, facts.weighted, sizes, budget,
                                                                 options.trace)});
    }
    state_bytes_ = executor.state_bytes();
  }

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor& executor, Direction direction, IterationStatistics& made,
                  RunStatistics& statistics) override {
    BlockWork work;
    for (const RowBlock& block : direction == Direction::pull ? topology_.pull : topology_.push) {
      const Before before{stream_of(block)->pages_read(), statistics.pages_wanted};
      work += executor_.chunks().on_disk() ? bring_by_chunks(block, executor, statistics)
                                           : bring(block, wanted(*block.pages), {}, executor, statistics);
      const std::uint64_t read  = stream_of(block)->pages_read() - before.read;
      const std::uint64_t bytes = read * block.pages->table().format().page_bytes;
      made.windows += statistics.pages_wanted - before.wanted;
      made.bytes_read += bytes;
      statistics.bytes_read += bytes;
      statistics.pages_read += read;
      made.transfer = read > 0 ? "pages" : "kept";
    }
    return work;
  }

  void complete(RunStatistics& statistics) const override {
    statistics.method       = pages_method().name;
    statistics.device_bytes = state_bytes_;
    for (const Side& side : streams_) {
      statistics.edges_on_host += side.pages->bytes();
      statistics.compressed |= side.pages->table().format().compressed;
      statistics.page_io = side.stream->reader();
    }
  }

 private:
  struct Before {
    std::uint64_t read, wanted;
  };

  /// Some pages, to vertices that receive; none said: all.
  BlockWork bring(const RowBlock& block, std::vector<std::uint64_t> pages, std::optional<VertexRange> targets,
                  Executor& executor, RunStatistics& statistics) {
    PageStream&              stream = *stream_of(block);
    store::PageTable::Wanted row;
    if (!all_active_) row = [this](Vertex v) { return executor_.wants_rows(v, v + 1); };
    stream.begin(std::move(pages), std::move(row));
    PagedBlock paged{.feed = &stream, .size = stream.count() * block.pages->table().format().page_bytes};
    if (targets) paged.targets = *targets;
    BlockWork work;
    try {
      work = executor.process(paged);
    } catch (...) {
      stream.end();
      throw;
    }
    stream.end();
    statistics.pages_wanted += stream.count();
    return work;
  }

  /// State on disk: all pages for every chunk that receives.
  BlockWork bring_by_chunks(const RowBlock& block, Executor& executor, RunStatistics& statistics) {
    const StateChunks chunks = executor_.chunks();
    const auto        pages  = wanted(*block.pages);
    BlockWork         work;
    for (std::uint64_t i = 0; i < chunks.count && !pages.empty(); ++i) {
      work += bring(block, pages, chunks.chunk(i, topology_.vertices), executor, statistics);
      executor_.evict({0, topology_.vertices});
    }
    return work;
  }

  struct Side {
    const store::PagedRows*     pages;
    std::unique_ptr<PageStream> stream;
  };

  PageStream* stream_of(const RowBlock& block) const {
    for (const Side& side : streams_)
      if (side.pages == block.pages) return side.stream.get();
    return nullptr;
  }

  /// Pages with rows that this iteration needs.
  std::vector<std::uint64_t> wanted(const store::PagedRows& rows) {
    std::vector<std::uint64_t> pages;
    for (std::uint64_t i = 0; i < rows.table().size(); ++i) {
      const VertexRange vertices = rows.table().vertices(i);
      const EdgeRange   edges    = rows.table().edges(i);
      if (edges.first == edges.last && !all_active_) continue;  // else its vertices are applied to
      if (executor_.wants_rows(static_cast<Vertex>(vertices.first), static_cast<Vertex>(vertices.last)))
        pages.push_back(i);
    }
    return pages;
  }

  CpuExecutor&      executor_;
  const Topology&   topology_;
  std::vector<Side> streams_;
  std::uint64_t     state_bytes_ = 0;
  bool              all_active_;
};

std::unique_ptr<EdgeSupply> on_host(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
                                    const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget) {
  return std::make_unique<PagesSupply>(executor, topology, facts, options, budget);
}

}  // namespace

void evict_offsets(const RowBlock& block, VertexRange vertices) {
  if (block.pages) block.pages->evict(vertices);
}

const SupplyMethod& pages_method() {
  static const SupplyMethod method{
      {.name = "pages", .help = "in pages on disk, streamed (of graphs that rest so)", .streams_pages = true},
      on_host,
      cuda::supply_pages};
  return method;
}

Method pages_from_disk() { return Method{pages_method()}; }

}  // namespace spillway
