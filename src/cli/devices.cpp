// spillway devices: what this machine can compute with.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/report.hpp"
#include "devices/devices.hpp"
#include "plan/rates.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway::cli {
namespace {

/// None of a GPU that is taken or full.
std::vector<std::optional<Rates>> rates_of_all(const CudaDevices& cuda, const Common& common, bool again) {
  const auto                        budget = std::make_shared<MemoryBudget>(available_memory());
  std::vector<std::optional<Rates>> rates;
  for (const DeviceInfo& device : cuda.devices) {
    const int index = std::stoi(device.name.substr(device.name.find(':') + 1));
    rates.push_back(rates_of_gpu(index, thread_count(common.threads), budget, again));
  }
  return rates;
}

Json to_json(const DeviceInfo& device) {
  return {{"name", device.name},
          {"model", device.model},
          {"cores", device.cores},
          {"memory_total", device.memory_total},
          {"memory_free", device.memory_free},
          {"detail", device.detail}};
}

void print_rates(const CudaDevices& cuda, const std::vector<std::optional<Rates>>& all) {
  if (all.empty()) return;
  fmt::print("\ntransfer of edges from host memory, measured once{}\n",
             rates_path().empty() ? "" : " and kept in " + printable(rates_path()));
  fmt::print("{:<8} {:>12} {:>12} {:>14} {:>12} {:>14} {:>10}\n", "device", "copy GB/s", "gather GB/s", "M rows/s",
             "in place GB/s", "M rows/s", "launch us");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) {
      fmt::print("{:<8} could not be measured: not enough free memory, or in use by others\n",
                 cuda.devices[i].name);
      continue;
    }
    const Rates& rates = *all[i];
    fmt::print("{:<8} {:>12.1f} {:>12.1f} {:>14.0f} {:>12.1f} {:>14.0f} {:>10.0f}\n", cuda.devices[i].name,
               rates.sent / 1e9, rates.gathered / 1e9, rates.gathered_chunks / 1e6, rates.read / 1e9,
               rates.read_chunks / 1e6, rates.step * 1e6);
  }
}

void list_devices(const Common& common, bool again) {
  const CudaDevices       cuda  = cuda_devices();
  const auto              rates = rates_of_all(cuda, common, again);
  std::vector<DeviceInfo> all{cpu_device()};
  all.insert(all.end(), cuda.devices.begin(), cuda.devices.end());
  if (common.json) {
    Json list = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      list.push_back(to_json(all[i]));
      if (i > 0) list.back()["rates"] = rates[i - 1] ? rates_json(*rates[i - 1]) : Json(nullptr);
    }
    print_json(Json{{"devices", list}, {"no_gpu_reason", cuda.absence}});
    return;
  }
  fmt::print("{:<8} {:>5}  {:>10}  {:>10}  {}\n", "device", "cores", "memory", "free", "model");
  for (const DeviceInfo& device : all)
    fmt::print("{:<8} {:>5}  {:>10}  {:>10}  {} ({})\n", device.name, device.cores,
               human_bytes(device.memory_total), human_bytes(device.memory_free), device.model, device.detail);
  if (!cuda.absence.empty()) fmt::print("no GPU: {}\n", cuda.absence);
  print_rates(cuda, rates);
}

}  // namespace

void add_devices(Command& app, Context& context) {
  Command command = app.subcommand("devices", "Processors and GPUs of this machine");
  auto    again   = std::make_shared<bool>(false);
  command.flag("--measure", *again, "Measure again what the bus and the host do for each GPU");
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, again] { context.action = [&context, again] { list_devices(context.common, *again); }; });
}

}  // namespace spillway::cli
