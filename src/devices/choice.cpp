// From the name of a device to the choice of one.
#include <climits>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "devices/devices.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

/// By its name, with a number where there may be several.
DeviceChoice named_device(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return {.kind = device_kind_named(text)};
  for (const DeviceKind kind : device_kinds())
    if (const auto index = parse_number(text.substr(colon + 1));
        kind->numbered && index && *index <= INT_MAX && text.substr(0, colon) == kind->name)
      return {.kind = kind, .index = static_cast<int>(*index)};
  device_kind_named(text);  // says what there is
  return {};
}

}  // namespace

DeviceChoice device_choice(const std::string& name, const Algorithm& algorithm) {
  const DeviceChoice choice = named_device(name);
  if (choice.kind != cuda_kind()) return choice;
  const CudaDevices found = cuda_devices();
  if (found.devices.empty())
    throw usage_error("--device {}: no GPU can be used here ({}); --device cpu works everywhere", name,
                      found.absence);
  if (static_cast<std::size_t>(choice.index) >= found.devices.size())
    throw usage_error("--device {}: this machine has {}, the first is cuda:0", name,
                      counted(found.devices.size(), "GPU", "GPUs"));
  if (!algorithm.on_gpu) throw usage_error("{} runs on the cpu only; leave out --device {}", algorithm.name, name);
  return choice;
}

}  // namespace spillway
