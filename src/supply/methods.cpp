#include "supply/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/text.hpp"

#include <spillway/engine/transfer.hpp>

namespace spillway {
namespace {

std::vector<const SupplyMethod*>& table() {
  static std::vector<const SupplyMethod*> all{&resident_method(),   &in_place_method(),        &gathered_method(),
                                              &partitions_method(), &least_predicted_method(), &pages_method(),
                                              &edge_list_method()};
  return all;
}

}  // namespace

void add_method(const SupplyMethod& method) {
  for (const SupplyMethod* other : table())
    if (other->name == method.name) throw internal_error("there are two methods '{}'", method.name);
  table().push_back(&method);
}

std::vector<Method> methods() {
  std::vector<Method> all;
  for (const SupplyMethod* method : table()) all.emplace_back(*method);
  return all;
}

Method method_named(std::string_view name) {
  if (name == Method{}.facts().name) return {};
  for (const SupplyMethod* method : table())
    if (method->name == name) return Method{*method};
  std::string names{Method{}.facts().name};
  for (const SupplyMethod* method : table()) names += ", " + std::string{method->name};
  throw usage_error("there is no method '{}'; there are: {}", printable(std::string{name}), names);
}

const SupplyMethod& entry_of(Method method) {
  for (const SupplyMethod* entry : table())
    if (Method{*entry} == method) return *entry;
  if (method.automatic()) return resident_method();
  throw internal_error("the method '{}' is not registered", method->name);
}

std::string names_of(bool MethodFacts::*fact) {
  std::vector<std::string> names;
  for (const Method method : methods())
    if (method.facts().*fact) names.emplace_back(method->name);
  std::string text = names.empty() ? "" : names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

void check_method_options(const RunOptions& options) {
  const Method         method = options.method;
  const SupplyOptions& supply = options.supply;
  if (method->all_resident && (supply.compress == Compress::on || supply.resident))
    throw usage_error("--method {} has all edges resident and uncompressed; leave it out, or {}", method->name,
                      supply.resident ? "--resident" : "--compress on");
  if (method->transfers && supply.compress == Compress::on && !method->compresses)
    throw usage_error("--method {} transfers uncompressed edges; use --method {}, or leave out --compress on",
                      method->name, whole_partitions()->name);
  if (method->transfers && supply.compress == Compress::on && supply.async == Async::on)
    throw usage_error("--async on does not go with --compress on; leave out one of them");
  if (supply.async == Async::on && !method->asynchronous)
    throw usage_error("--async on requires --method {}", names_of(&MethodFacts::asynchronous));
  if (supply.successors != Successors::changed && !method->of_edge_lists)
    throw usage_error("--successors is for --method {}", unsorted_edges()->name);
  if (supply.successors == Successors::all && supply.async == Async::off)
    throw usage_error("--successors all is for chunks that are run to a fixed point; leave out --async off");
  if (supply.all_parts && method != whole_partitions())
    throw usage_error("--all-partitions is for --method {}", whole_partitions()->name);
}

void check_balance(const RunOptions& options, bool order_sensitive, bool on_a_gpu) {
  const BalanceTuning& balance  = options.balance;
  const bool           is_split = balance.kind == Balance::split, on_cpu = options.device.kind == cpu_kind();
  if (options.method->of_edge_lists && balance.kind != Balance::automatic)
    throw usage_error("--balance {} deals out rows, and --method {} has none; leave it out", name_of(balance),
                      options.method->name);
  if (!is_split && balance.split != SplitTuning{})
    throw usage_error("{} is of --balance split; ask for it, or leave this out",
                      balance.split.array       ? "--split-mapping"
                      : balance.split.coalesced ? balance.split.worklist ? "a K" : "--worklist"
                                                : "--split-edges");
  if (on_cpu && is_split && balance.requires_gpu())
    throw usage_error("{} is for GPUs; leave it out",
                      balance.split.array ? "--split-mapping array" : "--worklist off");
  if (on_cpu && balance.requires_gpu())
    throw usage_error("--balance {} is for GPUs; the CPU has bins and split", name_of(balance));
  if (!balance.by_bins() && options.supply.compress == Compress::on)
    throw usage_error("--balance {} is of rows that are not compressed; leave it out, or --compress on",
                      name_of(balance));
  if (!is_split) return;
  if (balance.split.degree_bound < 2)
    throw usage_error("--balance split:K takes a K of 2 or more, the edges of a virtual node");
  const bool elsewhere = !options.method->all_resident && !options.method.automatic();
  if (elsewhere && (balance.split.array || !balance.split.worklist))
    throw usage_error(
        "{} is of rows that are resident on the device, not of {}; leave it out",
        balance.split.array ? "--split-mapping array" : "--worklist off",
        options.method->streams_pages ? "a graph in pages" : fmt::format("--method {}", options.method->name));
  if (!balance.split.worklist && (options.cuda.filter == Filter::online || options.cuda.filter == Filter::batch))
    throw usage_error("--worklist off makes no lists; leave it out, or --filter");
  if (options.deterministic && order_sensitive && on_a_gpu)
    throw usage_error(
        "on a GPU, --balance split adds up the parts of a row in any order; leave it out, or --deterministic, or "
        "use "
        "--device cpu");
}

std::string name_of(const BalanceTuning& balance) {
  switch (balance.kind) {
    case Balance::automatic:
      return "auto";
    case Balance::bins:
      return "bins";
    case Balance::split:
      return fmt::format("split:{}", balance.split.degree_bound);
    case Balance::thread:
      return "thread";
    case Balance::warp:
      return fmt::format("warp:{}", balance.lanes);
    case Balance::hybrid:
      return "hybrid";
  }
  return {};
}

void refuse_block(const char* kind) {
  throw internal_error("this executor does not process {}; the method that supplies it does not suit the program",
                       kind);
}

std::unique_ptr<EdgeSupply> host_supply(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
                                        const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget) {
  const SupplyMethod& entry = entry_of(options.method);
  // Where a GPU was left to choose and cannot be used, the CPU has all edges at hand.
  if (!entry.on_host && options.device.kind == cpu_kind())
    throw usage_error("--method {} requires a GPU", entry.name);
  return (entry.on_host ? entry : resident_method()).on_host(executor, topology, facts, options, budget);
}

}  // namespace spillway
