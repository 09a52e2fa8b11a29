// spillway devices: what this machine can compute with.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "plan/devices.hpp"

namespace spillway::cli {
namespace {

void list_devices(const Common& common) {
  const CudaDevices   cuda = cuda_devices();
  std::vector<Device> all{cpu_device()};
  all.insert(all.end(), cuda.devices.begin(), cuda.devices.end());
  if (common.json) {
    Json list = Json::array();
    for (const Device& device : all)
      list.push_back({{"name", device.name},
                      {"model", device.model},
                      {"cores", device.cores},
                      {"memory_total", device.memory_total},
                      {"memory_free", device.memory_free},
                      {"detail", device.detail}});
    print_json(Json{{"devices", list}, {"cuda_absence", cuda.absence}});
    return;
  }
  fmt::print("{:<8} {:>5}  {:>10}  {:>10}  {}\n", "device", "cores", "memory", "free", "model");
  for (const Device& device : all)
    fmt::print("{:<8} {:>5}  {:>10}  {:>10}  {} ({})\n", device.name, device.cores,
               human_bytes(device.memory_total), human_bytes(device.memory_free), device.model, device.detail);
  if (!cuda.absence.empty()) fmt::print("no GPU: {}\n", cuda.absence);
}

}  // namespace

void add_devices(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("devices", "Processors and GPUs of this machine");
  add_common_options(*command, context.common);
  command->callback([&context] { context.action = [&context] { list_devices(context.common); }; });
}

}  // namespace spillway::cli
