// The processor that the host runs on.
#include <unistd.h>

#include <fstream>

#include "devices/devices.hpp"
#include "devices/kinds.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

/// The processor's own name: x86 states it in words; ARM by number only, where the architecture must do.
std::string cpu_model() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
#if defined(__aarch64__)
  return "ARM 64-bit processor";
#else
  return "processor";
#endif
}

std::string huge_pages() {
  std::ifstream setting{"/sys/kernel/mm/transparent_hugepage/enabled"};
  std::string   line;
  std::getline(setting, line);
  const auto open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return "huge pages: unknown";
  return "huge pages: " + line.substr(open + 1, close - open - 1);
}

}  // namespace

DeviceInfo cpu_device() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return {.name         = "cpu",
          .model        = cpu_model(),
          .memory_total = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
          .memory_free  = available_memory(),
          .cores        = thread_count(),
          .detail       = huge_pages()};
}

const DeviceEntry& cpu_entry() {
  static const DeviceEntry entry{{.name = "cpu", .help = "the processor"}, nullptr};
  return entry;
}

DeviceKind cpu_kind() { return DeviceKind{cpu_entry()}; }

}  // namespace spillway
