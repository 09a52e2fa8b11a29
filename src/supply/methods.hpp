// The table of methods. One is added by a file that defines it and a line in methods.cpp.
#pragma once

#include <memory>

#include <spillway/engine/executor.hpp>
#include <spillway/method.hpp>

namespace spillway {

struct SupplyMethod : MethodFacts {
  /// What brings edges to the CPU's executor; null where the method requires a GPU.
  using OnHost    = std::unique_ptr<EdgeSupply>(PieceExecutor& executor, const Topology& topology,
                                             const ProgramFacts& facts, const RunOptions& options,
                                             const std::shared_ptr<MemoryBudget>& budget);
  OnHost* on_host = nullptr;
};

const SupplyMethod& resident_method();
const SupplyMethod& in_place_method();
const SupplyMethod& gathered_method();
const SupplyMethod& partitions_method();
const SupplyMethod& least_predicted_method();

/// For the life of the process.
void add_method(const SupplyMethod& method);

/// The entry of a method; for auto that of resident edges.
const SupplyMethod& entry_of(Method method);

}  // namespace spillway
