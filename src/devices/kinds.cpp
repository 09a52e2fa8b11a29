#include "devices/kinds.hpp"

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

std::vector<const DeviceEntry*>& table() {
  static std::vector<const DeviceEntry*> all{&cpu_entry(), &cuda_entry()};
  return all;
}

}  // namespace

void add_device_kind(const DeviceEntry& entry) {
  if (entry.of_cpu_executors != (entry.composed != nullptr))
    throw internal_error("the device '{}' is half made of executors", entry.name);
  for (const DeviceEntry* other : table())
    if (other->name == entry.name) throw internal_error("there are two kinds of devices '{}'", entry.name);
  table().push_back(&entry);
}

std::vector<DeviceKind> device_kinds() {
  std::vector<DeviceKind> all;
  for (const DeviceEntry* entry : table()) all.emplace_back(*entry);
  return all;
}

DeviceKind device_kind_named(std::string_view name) {
  if (name == DeviceKind {} -> name) return {};
  std::string names{DeviceKind{} -> name};
  for (const DeviceEntry* entry : table()) {
    if (entry->name == name) return DeviceKind{*entry};
    names += ", " + std::string{entry->name} + (entry->numbered ? ", " + std::string{entry->name} + ":N" : "");
  }
  throw usage_error("--device takes {}, not '{}'", names, printable(std::string{name}));
}

std::unique_ptr<Executor> composed_executor(ExecutorMaker& maker, const Topology& topology,
                                            const RunOptions& options, const ProgramFacts& facts) {
  const auto refuse = [&](const char* what) {
    throw usage_error("--device {}: {}; use --device cpu", options.device.kind->name, what);
  };
  if (options.method->transfers) refuse("edges are not transferred to it");
  if (options.direction == Direction::pull) refuse("what its executors push is merged, so that none pulls");
  if (options.deterministic && facts.order_sensitive)
    refuse("its sums depend on which executor a row is pushed by, so that --deterministic does not hold");
  for (const DeviceEntry* entry : table())
    if (DeviceKind{*entry} == options.device.kind) return entry->composed(maker, topology);
  throw internal_error("the device '{}' is not registered", options.device.kind->name);
}

}  // namespace spillway
