#include "supply/methods.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

std::vector<const SupplyMethod*>& table() {
  static std::vector<const SupplyMethod*> all{&resident_method(),   &in_place_method(),        &gathered_method(),
                                              &partitions_method(), &least_predicted_method(), &pages_method()};
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
  if (supply.all_parts && method != whole_partitions())
    throw usage_error("--all-partitions is for --method {}", whole_partitions()->name);
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
