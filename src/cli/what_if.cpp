#include "cli/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "devices/devices.hpp"
#include "plan/rates.hpp"
#include "plan/streaming.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/transfer.hpp>

namespace spillway::cli {
namespace {

struct Key {
  const char* name;
  double WhatIf::*value;
  double          least;
  double          most = 1e18;
};

constexpr std::array known{Key{"vertices", &WhatIf::vertices, 1},
                           Key{"edges", &WhatIf::edges, 1},
                           Key{"bytes-an-edge", &WhatIf::bytes_an_edge, 0.1},
                           Key{"state", &WhatIf::state, 1},
                           Key{"page", &WhatIf::page, 4096},
                           Key{"iterations", &WhatIf::iterations, 1},
                           Key{"gpus", &WhatIf::gpus, 1, 1e6},
                           Key{"gpu-memory", &WhatIf::gpu_memory, 1},
                           Key{"bus-rate", &WhatIf::bus_rate, 1},
                           Key{"copy-rate", &WhatIf::copy_rate, 1},
                           Key{"edge-rate", &WhatIf::edge_rate, 1},
                           Key{"ssds", &WhatIf::ssds, 0},
                           Key{"ssd-rate", &WhatIf::ssd_rate, 1},
                           Key{"host-memory", &WhatIf::host_memory, 0}};

/// "4G", "1.5T", "64GiB", "2500": decimal, but for …iB.
double number_of(const std::string& key, const std::string& text) {
  static const std::map<std::string, double> units{
      {"", 1},     {"K", 1e3},  {"M", 1e6},   {"G", 1e9},      {"T", 1e12},     {"B", 1},        {"KB", 1e3},
      {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  std::size_t end   = 0;
  double      value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const auto unit = units.find(text.substr(end));
  if (end == 0 || unit == units.end() || !std::isfinite(value))
    throw usage_error("--what-if: {}={} is no number; write 4G, 64GiB or 2.5e9", key, printable(text));
  return value * unit->second;
}

/// Of traversals, the share of all pages that each level visits, about: those of a search over a Kronecker graph.
constexpr std::array levels{StreamedLevel{0.0}, StreamedLevel{0.15}, StreamedLevel{1.0}, StreamedLevel{0.3},
                            StreamedLevel{0.02}};

std::string seconds_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

std::string bytes_text(double bytes) { return human_bytes(static_cast<std::uint64_t>(bytes)); }

/// Of this machine's first GPU, and where they are from.
struct RatesHere {
  Rates       rates;
  std::string source = "an H200's; there is no GPU here to measure";
};

RatesHere rates_here(const Common& common) {
  const CudaDevices cuda = cuda_devices();
  if (cuda.devices.empty()) return {.rates = {}};
  const auto budget = std::make_shared<MemoryBudget>(available_memory());
  const auto found  = rates_of_gpu(0, thread_count(common.threads), budget);
  if (!found) return {.rates = {}, .source = "an H200's; this GPU has no room to measure in"};
  return {found->corrected, "measured on " + cuda.devices.front().name + ", " + cuda.devices.front().model};
}

}  // namespace

std::string WhatIf::keys() {
  std::string names;
  for (const Key& key : known) names += (names.empty() ? "" : ", ") + std::string{key.name};
  return names;
}

WhatIf WhatIf::of(const std::string& text, const Rates& rates) {
  WhatIf                asked{.rates = rates};
  std::set<std::string> seen;
  std::istringstream    words{text};
  for (std::string word; words >> word;) {
    const std::size_t at   = word.find('=');
    const std::string name = word.substr(0, at);
    const auto        key = std::ranges::find(known, name, [](const Key& each) { return std::string{each.name}; });
    if (at == std::string::npos || key == known.end())
      throw usage_error("--what-if: '{}' is not KEY=NUMBER; keys are {}", printable(word), keys());
    if (!seen.insert(name).second) throw usage_error("--what-if: {} is given twice", name);
    asked.*key->value = number_of(name, word.substr(at + 1));
    if (asked.*key->value > key->most)
      throw usage_error("--what-if: {}={} is too large; at most {:g} is possible", name, word.substr(at + 1),
                        key->most);
    if (asked.*key->value < key->least)
      throw usage_error("--what-if: {}={} is too small; at least {} is needed", name, word.substr(at + 1),
                        key->least);
  }
  for (const char* needed : {"vertices", "edges"})
    if (!seen.contains(needed)) throw usage_error("--what-if: {}=NUMBER is missing", needed);
  if (asked.bus_rate == 0) asked.bus_rate = rates.sent;
  if (asked.copy_rate == 0) asked.copy_rate = rates.sent;
  // Decoded, and pushed to vertices that lie anywhere.
  if (asked.edge_rate == 0) asked.edge_rate = 1 / (1 / rates.decoded + 1 / rates.atomics_far);
  asked.gpus = std::floor(asked.gpus), asked.ssds = std::floor(asked.ssds);
  return asked;
}

WhatIfAnswer answer_of(const WhatIf& asked, bool traversal) {
  constexpr double batch = 8u << 20;  // bytes of pages that kernels are launched for: one to decode, one to visit
  const double     call  = 2 * asked.rates.barrier + asked.rates.latency;
  WhatIfAnswer     answer;
  answer.pages_bytes       = asked.edges * asked.bytes_an_edge + asked.vertices * 6;  // a degree and a slot
  answer.pages             = std::ceil(answer.pages_bytes / asked.page);
  answer.state_bytes       = asked.vertices * asked.state;
  answer.hits              = std::min(1.0, asked.host_memory / answer.pages_bytes);
  const bool       divides = answer.state_bytes > asked.gpu_memory && asked.gpus > 1;
  StreamingMachine machine{.gpus          = static_cast<unsigned>(asked.gpus),
                           .chunk_rate    = asked.copy_rate,
                           .stream_rate   = asked.bus_rate,
                           .edge_rate     = asked.edge_rate,
                           .call          = call,
                           .divides_state = divides};
  const double     room = divides ? asked.gpus * asked.gpu_memory : asked.gpu_memory;
  answer.passes         = std::max(1.0, std::ceil(answer.state_bytes / room));
  answer.strategy =
      answer.passes > 1 ? fmt::format("in {:.0f} chunks, each with a pass over the pages", answer.passes)
      : divides         ? fmt::format("divided among {:.0f} GPUs, to each of which all pages go", asked.gpus)
      : asked.gpus > 1  ? fmt::format("on each of {:.0f} GPUs, among which pages are divided", asked.gpus)
                        : std::string{"on the GPU"};
  // What host memory does not keep comes from disk; all of it goes over the buses.
  const double from_disk = answer.pages_bytes * (1 - answer.hits), disks = asked.ssds * asked.ssd_rate;
  if (from_disk > 0 && disks == 0)
    throw usage_error("--what-if: host memory holds {:.0f} % of the pages, and there are no ssds for the others",
                      100 * answer.hits);
  if (from_disk > 0) machine.disk_rate = disks / (1 - answer.hits);
  // State that stays goes there and back once, chunks of it in every iteration.
  const StreamedGraph graph{.written = answer.passes > 1 ? answer.state_bytes / answer.passes : 0,
                            .pages   = answer.pages_bytes,
                            .count   = answer.pages_bytes / batch,
                            .edges   = asked.edges};
  const double        state = answer.passes > 1 ? 0 : 2 * answer.state_bytes / asked.copy_rate;
  answer.iteration_s =
      answer.passes * (traversal ? traversal_seconds(graph, machine, levels) : scan_seconds(graph, machine));
  answer.total_s = state + (traversal ? answer.iteration_s : asked.iterations * answer.iteration_s);
  switch (bound_of(graph, machine)) {
    case StreamingBound::buses:
      answer.bound = "the bus";
      break;
    case StreamingBound::disks:
      answer.bound = "the disks";
      break;
    case StreamingBound::kernels:
      answer.bound = "the kernels";
      break;
  }
  return answer;
}

void tell_what_if(const Algorithm& algorithm, const std::string& text, const Common& common) {
  // What starts from somewhere goes level by level, unless it is asked for a number of iterations.
  const auto has = [&](const char* name) {
    return std::ranges::find(algorithm.parameters, name, &Parameter::name) != algorithm.parameters.end();
  };
  const bool traversal = has("source") && !has("iterations");
  if (!algorithm.vertex_program)
    throw usage_error("{} is not a vertex program: pages are not streamed for it", algorithm.name);
  static_cast<void>(WhatIf::of(text));  // what is wrong with it is said before anything is measured
  const RatesHere    here   = rates_here(common);
  const WhatIf       asked  = WhatIf::of(text, here.rates);
  const WhatIfAnswer answer = answer_of(asked, traversal);
  if (common.json)
    return print_json(
        Json{{"algorithm", algorithm.name},
             {"pages", {{"bytes", answer.pages_bytes}, {"count", answer.pages}, {"kept", answer.hits}}},
             {"state_bytes", answer.state_bytes},
             {"state", answer.strategy},
             {"passes", answer.passes},
             {"predicted_s", {{"iteration", answer.iteration_s}, {"run", answer.total_s}}},
             {"rates", here.source},
             {"bound", answer.bound}});
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<12} {}\n", name, value); };
  line("what if",
       fmt::format("{} on {:.4g} vertices and {:.4g} edges", algorithm.name, asked.vertices, asked.edges));
  line("pages", fmt::format("{}, {:.0f} of them; host memory keeps {:.0f} %", bytes_text(answer.pages_bytes),
                            answer.pages, 100 * answer.hits));
  line("state", fmt::format("{}, {}", bytes_text(answer.state_bytes), answer.strategy));
  if (traversal)
    line("run",
         fmt::format("{}, with levels as a search over a Kronecker graph has them", seconds_text(answer.total_s)));
  else
    line("run", fmt::format("{} an iteration, {} for {:.0f}", seconds_text(answer.iteration_s),
                            seconds_text(answer.total_s), asked.iterations));
  line("bound by", answer.bound);
  line("rates", here.source);
}

}  // namespace spillway::cli
