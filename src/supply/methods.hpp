// The table of methods. One is added by a file that defines it and a line in methods.cpp.
#pragma once

#include <memory>
#include <string>

#include <spillway/engine/executor.hpp>
#include <spillway/method.hpp>

namespace spillway {

namespace cuda {

/// Has rows brought to a GPU, in the form that its kernels read them in (engine/cuda/supplies.hpp).
struct SupplyJob;
using MakeSupply = void(SupplyJob& job);

// Null in builds without kernels.
extern MakeSupply* const supply_resident;
extern MakeSupply* const supply_in_place;
extern MakeSupply* const supply_in_windows;
extern MakeSupply* const supply_pages;
extern MakeSupply* const supply_edges;

}  // namespace cuda

struct SupplyMethod : MethodFacts {
  /// What brings edges to the CPU's executor; null where the method requires a GPU.
  using OnHost    = std::unique_ptr<EdgeSupply>(CpuExecutor& executor, const Topology& topology,
                                             const ProgramFacts& facts, const RunOptions& options,
                                             const std::shared_ptr<MemoryBudget>& budget);
  OnHost* on_host = nullptr;

  /// What brings them to a GPU; null where the method requires the CPU.
  cuda::MakeSupply* on_device = nullptr;
};

const SupplyMethod& resident_method();
const SupplyMethod& in_place_method();
const SupplyMethod& gathered_method();
const SupplyMethod& partitions_method();
const SupplyMethod& least_predicted_method();
const SupplyMethod& pages_method();
const SupplyMethod& edge_list_method();

/// For the life of the process.
void add_method(const SupplyMethod& method);

/// Of the methods of which a fact holds: "a, b or c".
std::string names_of(bool MethodFacts::*fact);

/// The entry of a method; for auto that of resident edges.
const SupplyMethod& entry_of(Method method);

}  // namespace spillway
