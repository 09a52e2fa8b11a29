// All edges where the device computes: nothing is moved while a run lasts.
#include "supply/methods.hpp"

namespace spillway {
namespace {

class ResidentRowsSupply final : public EdgeSupply {
 public:
  explicit ResidentRowsSupply(const Topology& topology) : topology_(topology) {}

  bool may_fuse() const override { return true; }

  BlockWork bring(Executor& executor, Direction direction, IterationStatistics&, RunStatistics&) override {
    BlockWork all;
    for (const RowBlock& block : direction == Direction::pull ? topology_.pull : topology_.push)
      all += executor.process(block);
    return all;
  }

  void complete(RunStatistics&) const override {}

 private:
  const Topology& topology_;
};

std::unique_ptr<EdgeSupply> on_host(CpuExecutor&, const Topology& topology, const ProgramFacts&, const RunOptions&,
                                    const std::shared_ptr<MemoryBudget>&) {
  return std::make_unique<ResidentRowsSupply>(topology);
}

}  // namespace

const SupplyMethod& resident_method() {
  static const SupplyMethod method{
      {.name = "frontier", .help = "all resident on the device", .all_resident = true, .chosen_by_auto = true},
      on_host,
      cuda::supply_resident};
  return method;
}

Method resident_edges() { return Method{resident_method()}; }

}  // namespace spillway
