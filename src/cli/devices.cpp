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
std::vector<std::optional<MachineRates>> rates_of_all(const CudaDevices& cuda, const Common& common, bool again) {
  const auto                               budget = std::make_shared<MemoryBudget>(available_memory());
  std::vector<std::optional<MachineRates>> rates;
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

/// How a rate is shown.
struct ShownRate {
  double Rates::*value;
  const char*    name;
  const char*    unit;
  double         scale;
};
constexpr ShownRate shown_rates[] = {
    {&Rates::sent, "copied to the GPU", "GB/s", 1e-9},
    {&Rates::uploaded, "from memory that is not pinned", "GB/s", 1e-9},
    {&Rates::pinned, "pinned", "GB/s", 1e-9},
    {&Rates::copied, "of mapped files", "GB/s", 1e-9},
    {&Rates::gathered, "gathered by the CPU", "GB/s", 1e-9},
    {&Rates::gathered_chunks, "rows", "M/s", 1e-6},
    {&Rates::read, "read in place", "GB/s", 1e-9},
    {&Rates::read_chunks, "rows", "M/s", 1e-6},
    {&Rates::visited, "edges visited, values in cache", "G/s", 1e-9},
    {&Rates::visited_far, "values beyond it", "G/s", 1e-9},
    {&Rates::atomics, "atomic updates, values in cache", "G/s", 1e-9},
    {&Rates::atomics_far, "values beyond it", "G/s", 1e-9},
    {&Rates::decoded, "edges decoded", "G/s", 1e-9},
    {&Rates::coded_edges, "edges compressed", "G/s", 1e-9},
    {&Rates::coded_rows, "rows", "M/s", 1e-6},
    {&Rates::reordered, "edges put in another order", "G/s", 1e-9},
    {&Rates::host_visited, "edges visited by the CPU, in cache", "G/s", 1e-9},
    {&Rates::host_visited_far, "values beyond it", "G/s", 1e-9},
    {&Rates::host_iteration, "iteration on the CPU", "us", 1e6},
    {&Rates::barrier, "fused iteration", "us", 1e6},
    {&Rates::latency, "reading in place, more", "us", 1e6},
    {&Rates::step, "iteration with transfers", "us", 1e6},
    {&Rates::windows, "windows made ready", "ms", 1e3},
    {&Rates::context, "first use in a process", "ms", 1e3},
};

void print_rates(const CudaDevices& cuda, const std::vector<std::optional<MachineRates>>& all) {
  if (all.empty()) return;
  fmt::print("\nmeasured once{}, and corrected by what runs took\n",
             rates_path().empty() ? "" : ", kept in " + printable(rates_path()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) {
      fmt::print("{} could not be measured: not enough free memory, or in use by others\n", cuda.devices[i].name);
      continue;
    }
    fmt::print("{:<34} {:<6} {:>10} {:>10}\n", cuda.devices[i].name, "unit", "measured", "corrected");
    for (const ShownRate& shown : shown_rates)
      fmt::print("{:<34} {:<6} {:>10.4g} {:>10.4g}\n", shown.name, shown.unit,
                 all[i]->measured.*shown.value * shown.scale, all[i]->corrected.*shown.value * shown.scale);
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
      if (i == 0) continue;
      list.back()["rates"]           = rates[i - 1] ? rates_json(rates[i - 1]->measured) : Json(nullptr);
      list.back()["corrected_rates"] = rates[i - 1] ? rates_json(rates[i - 1]->corrected) : Json(nullptr);
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
