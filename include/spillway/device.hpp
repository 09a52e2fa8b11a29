// What programs compute on: a table of kinds of devices, each defined in a file of its own (src/devices).
#pragma once

#include <string_view>
#include <vector>

namespace spillway {

/// What the command line, documents and tests know of a kind of device.
struct DeviceFacts {
  std::string_view name;
  std::string_view help;
  bool             numbered         = false;  ///< there may be several: cuda:0, cuda:1
  bool             of_cpu_executors = false;  ///< made of the CPU's executors; for vertex programs alone
};

/// One of `device_kinds()`, or auto.
class DeviceKind {
 public:
  DeviceKind() = default;  ///< auto
  explicit DeviceKind(const DeviceFacts& facts) : facts_(&facts) {}

  bool               automatic() const { return facts_ == nullptr; }
  const DeviceFacts& facts() const { return facts_ ? *facts_ : of_auto; }
  const DeviceFacts* operator->() const { return &facts(); }
  bool               operator==(const DeviceKind&) const = default;

 private:
  static constexpr DeviceFacts of_auto{.name = "auto", .help = ""};

  const DeviceFacts* facts_ = nullptr;
};

/// As they were registered.
std::vector<DeviceKind> device_kinds();
/// `auto` too; Error{usage} where there is none of this name.
DeviceKind device_kind_named(std::string_view name);

DeviceKind cpu_kind();
DeviceKind cuda_kind();

}  // namespace spillway
