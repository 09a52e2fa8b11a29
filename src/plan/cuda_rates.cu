// Rates of a GPU and its bus: small pieces of what runs do, timed.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "engine/cuda/grid.cuh"
#include "engine/cuda/host_memory.hpp"
#include "plan/rates.hpp"
#include "supply/windows.hpp"

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/warp.cuh>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway {
namespace {

using namespace cuda;

constexpr auto          what_for    = "measuring the machine";
constexpr std::uint64_t most_bytes  = 256u << 20, least_bytes = 32u << 20;  // more than any cache on the way
constexpr std::uint64_t copied      = 16u << 20;                            // at once, as windows are
constexpr unsigned      long_piece = 256, short_piece = 8;                  // edges
constexpr int           times      = 3;                                     // the best counts

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Body>
double best_seconds(Body&& body) {
  double best = 1e9;
  for (int i = 0; i <= times; ++i) {  // the first wakes things up
    const double start = now();
    body();
    if (i > 0) best = std::min(best, now() - start);
  }
  return best;
}

/// Where the i-th of `count` places is, in no order.
SPILLWAY_HD std::uint64_t scattered(std::uint64_t i, std::uint64_t count) {
  return i * 2654435761u % count;  // a prime beyond every count
}

/// Pieces of `edges` (a divisor or a multiple of 32), side by side or scattered; four reads of a lane under way.
__global__ void read_pieces(const Vertex* from, std::uint64_t pieces, unsigned edges, bool scatter, Vertex* to) {
  constexpr unsigned  ahead = 4;
  const std::uint64_t reads = pieces * edges, stride = item_stride();
  Vertex              sum   = 0;
  for (std::uint64_t base = first_item(); base < reads; base += ahead * stride) {
    Vertex read[ahead] = {};
    for (unsigned k = 0; k < ahead; ++k) {
      const std::uint64_t i = base + k * stride, piece = i / edges;
      if (i < reads) read[k] = from[(scatter ? scattered(piece, pieces) : piece) * edges + i % edges];
    }
    for (const Vertex value : read) sum += value;
  }
  if (sum == no_vertex) *to = sum;  // so that somebody wants to know
}

__global__ void do_nothing() {}

class Measuring {
 public:
  Measuring(cuda::Device& device, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget)
      : device_(device), edges_(bytes / sizeof(Vertex)), memory_(bytes, budget, what_for) {
    std::memset(memory_.data(), 0, bytes);
    pinned_ = {memory_.data(), bytes, budget, what_for};
    window_ = {device, copied / sizeof(Vertex), what_for};
  }

  Rates rates(int threads) {
    Rates rates;
    rates.sent = static_cast<double>(edges_ * sizeof(Vertex)) / best_seconds([&] { send_all(); });
    rates.read = static_cast<double>(edges_ * sizeof(Vertex)) / best_seconds([&] { read(long_piece, false); });
    rates.read_pieces = static_cast<double>(edges_ / short_piece / 4) / best_seconds([&] { read(short_piece, true); });
    set_gathered(rates, threads);
    rates.step = launches_of_an_iteration * best_seconds([&] {
      SPILLWAY_LAUNCH(do_nothing, 1, 32);
      Vertex some = 0;
      device_.download(&some, window_.data(), sizeof(some));
    });
    return rates;
  }

 private:
  /// Five launches, each with something that the host wants to know or tells.
  static constexpr double launches_of_an_iteration = 5;

  void send_all() {
    for (std::uint64_t at = 0; at < edges_; at += window_.size())
      check(cudaMemcpyAsync(window_.data(), pinned_.on_host<Vertex>() + at,
                            std::min(window_.size(), edges_ - at) * sizeof(Vertex), cudaMemcpyHostToDevice, nullptr),
            what_for);
    device_.wait();
  }

  void read(unsigned edges, bool scatter) {
    const std::uint64_t pieces = edges_ / edges / (scatter ? 4 : 1);
    SPILLWAY_LAUNCH(read_pieces, blocks_for(1u << 18), block_threads, pinned_.as<Vertex>(), pieces, edges, scatter,
                    window_.data());
    check(cudaGetLastError(), what_for);
    device_.wait();
  }

  /// Rows of so many edges, every fourth of which is active.
  double seconds_to_gather(unsigned edges, int threads) {
    const std::uint64_t    rows = edges_ / 2 / edges, active = rows / 4;
    std::vector<EdgeIndex> offsets(rows + 1), starts(active + 1);
    std::vector<LaidPiece> entries(active);
    for (std::uint64_t i = 0; i <= rows; ++i) offsets[i] = i * edges;
    for (std::uint64_t i = 0; i <= active; ++i) starts[i] = i * edges;
    for (std::uint64_t i = 0; i < active; ++i) entries[i] = {static_cast<Vertex>(4 * i), 0};
    const Rows   from{offsets.data(), pinned_.on_host<Vertex>(), nullptr};
    Vertex*      to     = reinterpret_cast<Vertex*>(memory_.data()) + edges_ / 2;
    const Pieces pieces{entries, starts.data(), long_piece};
    return best_seconds([&] { gather_edges(from, pieces, 0, active * edges, threads, {to, nullptr}); }) /
           static_cast<double>(active);
  }

  /// Long and short pieces: what an edge takes, and what a piece does.
  void set_gathered(Rates& rates, int threads) {
    const double of_long = seconds_to_gather(long_piece, threads), of_short = seconds_to_gather(short_piece, threads);
    const double an_edge = std::max((of_long - of_short) / (long_piece - short_piece), of_long / long_piece / 2);
    rates.gathered        = std::min(sizeof(Vertex) / an_edge, rates.sent);
    rates.gathered_pieces = 1 / std::max(of_short - short_piece * an_edge, 1e-10);
  }

  cuda::Device&       device_;
  std::uint64_t       edges_;
  Pages               memory_;
  HostReadable        pinned_;
  DeviceArray<Vertex> window_;
};

std::string name_of(int index, int threads) {
  cudaDeviceProp properties{};
  char           bus[32] = {};
  check(cudaGetDeviceProperties(&properties, index), what_for);
  check(cudaDeviceGetPCIBusId(bus, sizeof(bus), index), what_for);
  return std::string{properties.name} + " at " + bus + ", " + std::to_string(threads) + " threads";
}

/// Nothing where there is no room to measure in, or memory cannot be pinned: whoever runs will say so.
std::optional<Rates> measured(cuda::Device& device, int threads, const std::shared_ptr<MemoryBudget>& budget) {
  std::uint64_t bytes = most_bytes;
  while (bytes >= least_bytes && !budget->has_room(2 * bytes)) bytes /= 2;
  if (bytes < least_bytes || device.room() < 2 * copied) return std::nullopt;
  try {
    return Measuring{device, bytes, budget}.rates(threads);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Rates rates_of(cuda::Device& device, int threads, const std::shared_ptr<MemoryBudget>& budget, bool again) {
  static std::mutex                   mutex;
  static std::map<std::string, Rates> known;
  const std::scoped_lock              lock{mutex};
  const std::string                   machine = name_of(device.index(), threads), path = rates_path();
  if (!again) {
    if (const auto found = known.find(machine); found != known.end()) return found->second;
    if (const auto rates = kept_rates(path, machine)) return known[machine] = *rates;
  }
  const auto rates = measured(device, threads, budget);
  if (!rates) return {};
  keep_rates(path, machine, *rates);
  return known[machine] = *rates;
}

}  // namespace

#if defined(SPILLWAY_EMULATED)
Rates cuda::rates_of(Device&, int, const std::shared_ptr<MemoryBudget>&) { return {}; }
#else
Rates cuda::rates_of(Device& device, int threads, const std::shared_ptr<MemoryBudget>& host) {
  return spillway::rates_of(device, threads, host, false);
}
#endif

Rates rates_of_gpu(int index, int threads, const std::shared_ptr<MemoryBudget>& budget, bool again) {
  cuda::Device device{index, 4 * copied};
  device.enter();
  return rates_of(device, threads, budget, again);
}

}  // namespace spillway
