// Rows that the host has in memory, as they are: nothing is moved.
#include "supply/host_windows.hpp"

namespace spillway {
namespace {

class ResidentRowsSupply final : public EdgeSupply {
 public:
  explicit ResidentRowsSupply(const Topology& topology) : topology_(topology) {}

  bool may_fuse() const override { return true; }

  BlockWork bring(Executor& executor, Direction direction, IterationStatistics&, RunStatistics&) override {
    BlockWork all;
    for (const Block& block : direction == Direction::pull ? topology_.pull : topology_.push)
      all += executor.process(block);
    return all;
  }

  void complete(RunStatistics&) const override {}

 private:
  const Topology& topology_;
};

}  // namespace

std::unique_ptr<EdgeSupply> host_supply(PieceExecutor& executor, const Topology& topology,
                                        const ProgramFacts& facts, const RunOptions& options,
                                        const std::shared_ptr<MemoryBudget>& budget) {
  if (!in_windows(options.method)) return std::make_unique<ResidentRowsSupply>(topology);
  const WindowNeeds needs{.weighted = facts.weighted, .everyone = facts.all_active, .local = facts.may_go_on};
  return std::make_unique<HostWindows>(executor, topology, needs, options, budget);
}

}  // namespace spillway
