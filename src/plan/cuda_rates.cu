// Rates of a GPU and its bus: small parts of what runs do, timed.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "engine/cuda/compressed_windows.hpp"
#include "engine/cuda/event.hpp"
#include "engine/cuda/grid.cuh"
#include "engine/cuda/host_memory.hpp"
#include "engine/cuda/order.hpp"
#include "engine/cuda/staging.hpp"
#include "generate/random.hpp"
#include "plan/rates.hpp"
#include "supply/windows.hpp"

#include <spillway/engine/cuda/warp.cuh>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>
#include "engine/cuda/device_graph.hpp"

namespace spillway {
namespace {

using namespace cuda;

constexpr auto          what_for   = "measuring the machine";
constexpr std::uint64_t most_bytes = 512u << 20, least_bytes = 128u << 20;  // more than any cache on the way
constexpr std::uint64_t copied          = 16u << 20;                        // at once, as windows are
constexpr std::uint64_t room_to_measure = 1u << 30;                         // on the device
constexpr unsigned      long_segment = 1024, short_segment = 8;             // edges
constexpr unsigned      wide   = 8;                                         // short ones are one of so many
constexpr unsigned      times  = 5;  // of which the median counts, or the best
constexpr EdgeIndex     staged = staged_bytes / sizeof(Vertex);
static_assert(least_bytes / 4 >= stages_at_once * staged_bytes);

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// body(k) the first time wakes things up.
template <class Body>
double usual_seconds(Body&& body) {
  std::array<double, times> taken{};
  for (unsigned k = 0; k <= times; ++k) {
    const double start = now();
    body(k);
    if (k > 0) taken[k - 1] = now() - start;
  }
  std::ranges::sort(taken);
  return taken[times / 2];
}

SPILLWAY_HD constexpr std::uint64_t anywhere(std::uint64_t i, std::uint64_t below) {
  return RandomStream{1, RandomUse::samples}.below(i, below);
}

/// Pieces of so many edges, one in every `spread` times as many, anywhere in it, as the rows of active vertices
/// lie. Long ones are read by whole lines, so one more. Four reads of a lane are under way.
__global__ void read_segments(const Vertex* from, std::uint64_t segments, unsigned edges, unsigned spread,
                              Vertex* to) {
  constexpr unsigned  ahead = 4;
  const unsigned      width = edges < warp_lanes ? edges : edges + warp_lanes;
  const std::uint64_t reads = segments * width, stride = item_stride(), among = std::uint64_t{edges} * spread;
  Vertex              sum = 0;
  for (std::uint64_t base = first_item(); base < reads; base += ahead * stride) {
    Vertex read[ahead] = {};
    for (unsigned k = 0; k < ahead; ++k) {
      const std::uint64_t i = base + k * stride, segment = i / width;
      std::uint64_t       at = anywhere(segment, among - edges + 1);
      if (edges >= warp_lanes) at -= at % warp_lanes;
      if (i < reads) read[k] = from[segment * among + at + i % width];
    }
    for (const Vertex value : read) sum += value;
  }
  if (sum == no_vertex) *to = sum;  // so that somebody wants to know
}

/// Rows of so many edges, one behind the other, each by a warp: lines that two rows share are fetched twice.
__global__ void read_rows(const Vertex* from, std::uint64_t rows, unsigned edges, Vertex* to) {
  Vertex sum = 0;
  for (std::uint64_t row = first_item() / warp_lanes; row < rows; row += item_stride() / warp_lanes)
    for (unsigned i = lane_index(); i < edges; i += warp_lanes) sum += from[row * edges + i];
  if (sum == no_vertex) *to = sum;
}

/// Values anywhere in a table, as edges lead to them.
__global__ void gather_values(const Vertex* table, std::uint64_t size, std::uint64_t reads, Vertex* to) {
  constexpr unsigned  ahead  = 8;
  const std::uint64_t stride = item_stride();
  Vertex              sum    = 0;
  for (std::uint64_t base = first_item(); base < reads; base += ahead * stride) {
    Vertex read[ahead];
    for (unsigned k = 0; k < ahead; ++k) read[k] = __ldg(table + anywhere(base + k * stride, size));
    for (const Vertex value : read) sum += value;
  }
  if (sum == no_vertex) *to = sum;
}

/// Updates of values anywhere in a table, as pushes make them: what was there before is asked for.
template <bool adds>
__global__ void update_values(Vertex* table, std::uint64_t size, std::uint64_t updates, Vertex* to) {
  Vertex sum = 0;
  for (std::uint64_t i = first_item(); i < updates; i += item_stride()) {
    Vertex* const place = table + anywhere(i, size);
    const auto    value = static_cast<Vertex>(updates - i);
    sum += adds ? atomicAdd(place, value) : atomicMin(place, value);
  }
  if (sum == no_vertex) *to = sum;
}

__global__ void do_nothing() {}

__global__ void grid_barriers(unsigned count) {
  for (unsigned i = 0; i < count; ++i) cooperative_groups::this_grid().sync();
}

/// One read after the other, each of a place that depends on the last.
__global__ void follow(const Vertex* from, std::uint64_t edges, unsigned reads, Vertex* to) {
  Vertex read = 0;
  for (unsigned i = 0; i < reads; ++i)
    read = *static_cast<const volatile Vertex*>(from + anywhere(i + read, edges));
  *to = read;
}

/// A mapped file in memory.
class MappedCopy {
 public:
  MappedCopy(const void* data, std::uint64_t bytes) : bytes_(bytes) {
    const int file = memfd_create("spillway", MFD_CLOEXEC);
    if (file < 0) return;
    if (write(file, data, bytes) == static_cast<ssize_t>(bytes))
      data_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  ~MappedCopy() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  MappedCopy(const MappedCopy&)            = delete;
  MappedCopy& operator=(const MappedCopy&) = delete;

  const void* data() const { return data_ == MAP_FAILED ? nullptr : data_; }

 private:
  std::uint64_t bytes_;
  void*         data_ = MAP_FAILED;
};

class Measuring {
 public:
  Measuring(cuda::Device& device, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget)
      : device_(device),
        edges_(bytes / sizeof(Vertex)),
        lists_(budget, what_for),
        memory_(bytes, budget, what_for) {
    lists_.raise_to(bytes / 4);  // of the shortest segments, about
    std::memset(memory_.data(), 0, bytes);
    const double start = now();
    pinned_            = {memory_.data(), bytes, budget, what_for};
    pinning_seconds_   = now() - start;
    window_            = {device, copied / sizeof(Vertex), what_for};
  }

  Rates rates(int threads, const std::shared_ptr<MemoryBudget>& budget) {
    Rates rates;
    measure_host(rates, threads);
    rates.pinned = static_cast<double>(edges_ * sizeof(Vertex)) / std::max(pinning_seconds_, 1e-6);
    rates.sent   = static_cast<double>(edges_ * sizeof(Vertex)) / usual_seconds([&](unsigned) { send_all(); });
    const double read_edge = seconds_to_read_rows();
    rates.read             = std::min(sizeof(Vertex) / read_edge, rates.sent);
    rates.read_chunks      = 1 / std::max(seconds_to_read(short_segment) - short_segment * read_edge, 1e-10);
    const auto [gathered_edge, gathered_chunk] =
        shares([&](unsigned edges) { return seconds_to_gather(edges, threads); });
    rates.gathered        = std::min(sizeof(Vertex) / gathered_edge, rates.sent);
    rates.gathered_chunks = 1 / gathered_chunk;
    rates.step            = steps_of_an_iteration * usual_seconds([&](unsigned) {
                   SPILLWAY_LAUNCH(do_nothing, 1, 32);
                   Vertex some = 0;
                   device_.download(&some, window_.data(), sizeof(some));
                 });
    rates.copied          = bytes_copied_a_second(budget);
    rates.uploaded        = bytes_uploaded_a_second();
    rates.barrier         = barriers_of_an_iteration * seconds_of_a_barrier();
    rates.latency         = reads_of_an_iteration * seconds_to_follow();
    rates.cache           = static_cast<double>(device_.cache_bytes());
    rates.windows         = seconds_to_make_windows();
    rates.visited         = gathers_a_second(device_.cache_bytes() / 4, rates.visited);
    rates.visited_far     = gathers_a_second(8 * device_.cache_bytes(), rates.visited_far);
    rates.atomics         = updates_a_second(device_.cache_bytes() / 4, rates.atomics);
    rates.atomics_far     = updates_a_second(8 * device_.cache_bytes(), rates.atomics_far);
    if (seconds_to_start() > 0) rates.context = seconds_to_start();
    try {
      measure_coding(rates, threads, budget);
    } catch (const Error&) {  // no room: as it is elsewhere
    }
    return rates;
  }

 private:
  /// Edges that a kernel looks up a second in a table of so many bytes; `usual` where there is no room for it.
  double gathers_a_second(std::uint64_t bytes, double usual) {
    constexpr std::uint64_t reads = 1u << 26;
    if (device_.room() < 2 * bytes) return usual;
    DeviceArray<Vertex> table{device_, bytes / sizeof(Vertex), what_for};
    table.clear();
    return static_cast<double>(reads) / usual_seconds([&](unsigned) {
             SPILLWAY_LAUNCH(gather_values, blocks_for(1u << 18), block_threads, table.data(), table.size(), reads,
                             window_.data());
             device_.wait();
           });
  }

  /// Atomic minima or sums, whichever take longer, in a table of so many bytes.
  double updates_a_second(std::uint64_t bytes, double usual) {
    constexpr std::uint64_t updates = 1u << 24;
    if (device_.room() < 2 * bytes) return usual;
    DeviceArray<Vertex> table{device_, bytes / sizeof(Vertex), what_for};
    table.clear();
    double longest = 0;
    for (const auto kernel : {update_values<false>, update_values<true>})
      longest = std::max(longest, usual_seconds([&](unsigned) {
                           SPILLWAY_LAUNCH(kernel, blocks_for(1u << 18), block_threads, table.data(), table.size(),
                                           updates, window_.data());
                           device_.wait();
                         }));
    return static_cast<double>(updates) / longest;
  }

  /// What a run's first windows wait for: pinned buffers, and their places on the device.
  double seconds_to_make_windows() {
    const double        start = now();
    StagingRing         stages{stages_at_once, staged_bytes};
    DeviceArray<Vertex> slot{device_, copied / sizeof(Vertex), what_for};
    device_.wait();
    return now() - start;
  }

  /// The CPU, alone: values anywhere in little and in much memory, and threads that have nothing to do.
  void measure_host(Rates& rates, int threads) {
    constexpr unsigned      tasks_of_an_iteration = 3;
    constexpr std::uint64_t little                = 1u << 16;
    rates.host_visited                            = host_gathers_a_second(little, 1u << 27, threads);
    rates.host_visited_far                        = host_gathers_a_second(edges_, 1u << 24, threads);
    if (const auto bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0)
      rates.host_cache = static_cast<double>(bytes);
    rates.host_iteration = tasks_of_an_iteration * usual_seconds([&](unsigned) {
                             for_each_share(threads, 1u << 20, [](std::uint64_t, std::uint64_t, int) {});
                           });
  }

  double host_gathers_a_second(std::uint64_t among, std::uint64_t reads, int threads) {
    const auto* const table = reinterpret_cast<const Vertex*>(memory_.data());
    return static_cast<double>(reads) / usual_seconds([&](unsigned) {
             for_each_share(threads, reads, [&](std::uint64_t begin, std::uint64_t end, int) {
               Vertex sum = 0;
               for (std::uint64_t i = begin; i < end; ++i) sum += table[scattered(i) % among];
               [[maybe_unused]] volatile Vertex result = sum;  // or nothing would be read
             });
           });
  }

  static std::uint64_t scattered(std::uint64_t i) { return (i * 0x9E3779B97F4A7C15u) >> 20; }

  /// Rows of so many ascending targets, in memory that the device reads.
  Rows made_rows(std::uint64_t rows, unsigned edges, int threads, DeviceArray<EdgeIndex>& offsets) {
    std::vector<EdgeIndex> begin(rows + 1);
    for (std::uint64_t v = 0; v <= rows; ++v) begin[v] = v * edges;
    offsets = {device_, rows + 1, what_for};
    offsets.upload(begin.data());
    auto* const         targets = reinterpret_cast<Vertex*>(memory_.data());
    const std::uint64_t gap     = rows / edges;
    for_each_share(threads, rows, [&](std::uint64_t first, std::uint64_t last, int) {
      for (std::uint64_t i = first * edges; i < last * edges; ++i)
        targets[i] = static_cast<Vertex>((i % edges) * gap + scattered(i) % gap);
    });
    device_.wait();
    return {offsets.data(), pinned_.as<Vertex>(), nullptr};
  }

  struct CodingSeconds {
    double compressing, decoding, reordering;
  };

  /// Compressing, of few and many edges, of short and of long rows: what each adds; decoding; and another order of
  /// the vertices. What many take more than few is theirs: the rest is taken by launches and allocations.
  void measure_coding(Rates& rates, int threads, const std::shared_ptr<MemoryBudget>& budget) {
    constexpr std::uint64_t many = 1u << 24, few = 1u << 22;
    constexpr unsigned      short_row = 16, long_row = 256;
    if (many * 2 > edges_ || device_.room() < 12 * many) return;
    const CodingSeconds of_short = seconds_to_code(many, short_row, threads, budget);
    const CodingSeconds of_few   = seconds_to_code(few, long_row, threads, budget);
    const CodingSeconds of_many  = seconds_to_code(many, long_row, threads, budget);
    const auto          an_edge  = [&](double CodingSeconds::*of) {
      return std::max((of_many.*of - of_few.*of) / (many - few), 1e-12);
    };
    const double a_row =
        std::max((of_short.compressing - of_many.compressing) / (many / short_row - many / long_row), 1e-10);
    rates.coded_rows  = 1 / a_row;
    rates.coded_edges = 1 / std::max(an_edge(&CodingSeconds::compressing) - a_row / long_row, 1e-11);
    rates.decoded     = 1 / an_edge(&CodingSeconds::decoding);
    rates.reordered   = 1 / an_edge(&CodingSeconds::reordering);
  }

  /// The second time: kernels are loaded when they are first used. In batches as large as those of graphs that are
  /// worth compressing.
  CodingSeconds seconds_to_code(std::uint64_t edges, unsigned row, int threads,
                                const std::shared_ptr<MemoryBudget>& budget) {
    constexpr std::uint64_t          batch_arcs = 1u << 22;
    const std::uint64_t              rows       = edges / row;
    DeviceArray<EdgeIndex>           offsets;
    const Rows                       from  = made_rows(rows, row, threads, offsets);
    double                           taken = 0;
    std::shared_ptr<const VertexMap> order;
    std::shared_ptr<CompressedBlock> block;
    for (int time = 0; time < 2; ++time) {
      block.reset();
      const double start = now();
      order = std::make_shared<VertexMap>(order_by_degree(device_, offsets.data(), rows, EdgeIndex{edges}));
      block = std::make_shared<CompressedBlock>(device_, from, rows, edges, false, order, budget, batch_arcs);
      device_.wait();
      taken = now() - start;
    }
    return {taken, seconds_to_decode(block, offsets.data(), rows, edges),
            seconds_to_reorder(offsets, rows, edges, *order)};
  }

  double seconds_to_decode(const std::shared_ptr<CompressedBlock>& block, const EdgeIndex* offsets,
                           std::uint64_t rows, std::uint64_t edges) {
    CompressedWindows   windows{device_, block, offsets, rows};
    const auto          cuts = windows.cut({block->words() + 1, edges});
    DeviceArray<Vertex> to{device_, edges, what_for};
    windows.keep(block->words());
    return usual_seconds([&](unsigned) {
      for (std::size_t part = 0; part + 1 < cuts.size(); ++part)
        windows.decode(part, windows.kept(part), {to.data() + windows.edges_of(part).first, nullptr});
      device_.wait();
    });
  }

  double seconds_to_reorder(const DeviceArray<EdgeIndex>& offsets, std::uint64_t rows, std::uint64_t edges,
                            const VertexMap& order) {
    DeviceArray<Vertex> targets{device_, edges, what_for};
    targets.upload(reinterpret_cast<const Vertex*>(memory_.data()));
    const Rows from{offsets.data(), targets.data(), nullptr};
    return usual_seconds([&](unsigned) {
      order_by_degree(device_, offsets.data(), rows, EdgeIndex{edges});
      reordered(device_, from, rows, edges, false, order);
      device_.wait();
    });
  }

  /// A fused iteration of next to nothing takes 7.1 us where a grid barrier takes 1.0, and 2.4 more if it reads
  /// over the bus, where a read takes 1.3 (docs/experiments.md).
  static constexpr double barriers_of_an_iteration = 7, reads_of_an_iteration = 2;

  double seconds_of_a_barrier() {
    constexpr unsigned barriers   = 256;
    int                processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device_.index()), what_for);
    return usual_seconds([&](unsigned) {
             launch_together(grid_barriers, static_cast<unsigned>(processors), block_threads, barriers);
             device_.wait();
           }) /
           barriers;
  }

  double seconds_to_follow() {
    constexpr unsigned reads = 256;
    return usual_seconds([&](unsigned) {
             SPILLWAY_LAUNCH(follow, 1, 1, pinned_.as<Vertex>(), edges_, reads, window_.data());
             device_.wait();
           }) /
           reads;
  }

  /// From memory like any other, by way of staging buffers.
  double bytes_uploaded_a_second() {
    constexpr std::uint64_t bytes = 2 * copied;
    if (device_.room() < bytes) return Rates{}.uploaded;
    DeviceArray<Vertex> there{device_, bytes / sizeof(Vertex), what_for};
    const auto*         from = reinterpret_cast<const Vertex*>(memory_.data());
    return static_cast<double>(bytes) / usual_seconds([&](unsigned) {
             there.upload(from);
             device_.wait();
           });
  }

  /// From a mapped file, as graphs lie in, to memory that is not there yet.
  double bytes_copied_a_second(const std::shared_ptr<MemoryBudget>& budget) {
    const std::uint64_t bytes = edges_ * sizeof(Vertex) / 4;
    Charge              charge{budget, what_for};
    charge.raise_to(bytes);
    const MappedCopy file{memory_.data(), bytes};
    if (!file.data()) return Rates{}.copied;
    const double       start = now();
    const HostReadable copy{file.data(), bytes, budget, what_for};
    return static_cast<double>(bytes) / (now() - start);
  }

  /// A small iteration in windows takes 0.16 to 0.18 ms where such a step takes 15 to 21 us (docs/experiments.md):
  /// five launches, what the host is told after each, and what it tells the device.
  static constexpr double steps_of_an_iteration = 9;

  void send_all() {
    for (std::uint64_t at = 0; at < edges_; at += window_.size())
      check(
          cudaMemcpyAsync(window_.data(), pinned_.on_host<Vertex>() + at,
                          std::min(window_.size(), edges_ - at) * sizeof(Vertex), cudaMemcpyHostToDevice, nullptr),
          what_for);
    device_.wait();
  }

  /// What an edge takes, and what a segment does beside its edges, as long and short segments tell.
  template <class Seconds>
  static std::pair<double, double> shares(Seconds&& seconds) {
    constexpr double nothing  = 1e-10;
    const double     of_short = seconds(short_segment), of_long = seconds(long_segment);
    const double     an_edge =
        std::max((of_long - of_short) / (long_segment - short_segment), of_long / long_segment / 2);
    return {an_edge, std::max(of_short - short_segment * an_edge, nothing)};
  }

  /// An edge of rows of common length.
  double seconds_to_read_rows() {
    constexpr unsigned  common = 47;
    const std::uint64_t rows   = edges_ / common;
    return usual_seconds([&](unsigned) {
             SPILLWAY_LAUNCH(read_rows, blocks_for(1u << 18), block_threads, pinned_.as<Vertex>(), rows, common,
                             window_.data());
             device_.wait();
           }) /
           static_cast<double>(rows * common);
  }

  double seconds_to_read(unsigned edges) {
    const unsigned      spread   = edges < warp_lanes ? wide : 2;
    const std::uint64_t segments = edges_ / edges / spread - 1;  // the last one reads a line more
    return usual_seconds([&](unsigned) {
             SPILLWAY_LAUNCH(read_segments, blocks_for(1u << 18), block_threads, pinned_.as<Vertex>(), segments,
                             edges, spread, window_.data());
             check(cudaGetLastError(), what_for);
             device_.wait();
           }) /
           static_cast<double>(segments);
  }

  /// Rows of so many edges, of which one among some is active; each time others, which no cache has. As in a run,
  /// some are sent while others are gathered.
  double seconds_to_gather(unsigned edges, int threads) {
    const unsigned               spread = edges < warp_lanes ? wide : 4;
    const std::uint64_t          rows = edges_ / 4 * 3 / edges, active = rows / spread;
    std::vector<EdgeIndex>       offsets(rows + 1), starts(active + 1);
    std::vector<ChunkDescriptor> entries(active);
    for (std::uint64_t i = 0; i <= rows; ++i) offsets[i] = i * edges;
    for (std::uint64_t i = 0; i <= active; ++i) starts[i] = i * edges;
    const Rows    from{offsets.data(), pinned_.on_host<Vertex>(), nullptr};
    Vertex* const stages = reinterpret_cast<Vertex*>(memory_.data()) + edges_ / 4 * 3;
    double        best   = 1e9;
    for (unsigned time = 0; time <= times; ++time) {
      for (std::uint64_t i = 0; i < active; ++i)
        entries[i] = {static_cast<Vertex>(i * spread + anywhere(time * active + i, spread)), 0};
      const ChunkLayout segments{entries.data(), starts.data(), active, long_segment};
      const double      start = now();
      unsigned          turn  = 0;
      for (EdgeIndex at = 0; at < active * edges; at += staged, ++turn) {
        const EdgeIndex last  = std::min<EdgeIndex>(at + staged, active * edges);
        const unsigned  which = turn % stages_at_once;
        Vertex* const   stage = stages + which * staged;
        sent_[which].wait();
        gather_edges(from, segments, at, last, threads, {stage, nullptr});
        check(
            cudaMemcpyAsync(window_.data(), stage, (last - at) * sizeof(Vertex), cudaMemcpyHostToDevice, nullptr),
            what_for);
        sent_[which].record(nullptr);
      }
      device_.wait();
      if (time > 0) best = std::min(best, now() - start);
    }
    return best / static_cast<double>(active);
  }

  cuda::Device&       device_;
  std::uint64_t       edges_;
  Charge              lists_;
  Pages               memory_;
  double              pinning_seconds_ = 0;
  HostReadable        pinned_;
  DeviceArray<Vertex> window_;
  Event               sent_[stages_at_once];
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
    return Measuring{device, bytes, budget}.rates(threads, budget);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What is known of machines in this process.
class Known {
 public:
  static Known& instance() {
    static Known known;
    return known;
  }

  /// What could not be measured is not tried again.
  std::optional<MachineRates> find_or_measure(cuda::Device& device, int threads,
                                              const std::shared_ptr<MemoryBudget>& budget, bool again) {
    const std::scoped_lock lock{mutex_};
    const std::string      machine = name_of(device.index(), threads);
    if (!again && find(machine)) return known_[machine];
    const auto rates = measured(device, threads, budget);
    known_[machine]  = rates ? std::optional{MachineRates{*rates, *rates}} : std::nullopt;
    if (rates) keep_rates(rates_path(), machine, *known_[machine]);
    return known_[machine];
  }

  std::optional<MachineRates> find_only(cuda::Device& device, int threads) {
    const std::scoped_lock lock{mutex_};
    const std::string      machine = name_of(device.index(), threads);
    return find(machine) ? known_[machine] : std::nullopt;
  }

  void correct(cuda::Device& device, int threads, std::span<const RateObservation> observations, bool keep) {
    const std::scoped_lock lock{mutex_};
    const auto             found = known_.find(name_of(device.index(), threads));
    if (found == known_.end() || !found->second) return;
    MachineRates& rates = *found->second;
    const Rates   was   = rates.corrected;
    rates.corrected     = corrected(rates, observations);
    const auto moved    = [&](const RateField& field) {
      constexpr double about = 0.03;
      return std::abs(rates.corrected.*field.value - was.*field.value) > about * was.*field.value;
    };
    if (keep && std::ranges::any_of(rate_fields, moved)) keep_rates(rates_path(), found->first, rates);
  }

 private:
  bool find(const std::string& machine) {
    if (known_.contains(machine)) return true;
    const auto kept = kept_rates(rates_path(), machine);
    if (kept) known_[machine] = kept;
    return kept.has_value();
  }

  std::mutex                                         mutex_;
  std::map<std::string, std::optional<MachineRates>> known_;
};

}  // namespace

#if defined(SPILLWAY_EMULATED)
namespace {

/// On a GPU that is none, the CPU is not to be chosen.
Rates of_emulator() { return {.host_visited = 1, .host_visited_far = 1}; }

}  // namespace

Rates cuda::rates_of(Device&, int, const std::shared_ptr<MemoryBudget>&) { return of_emulator(); }
Rates cuda::known_rates_of(Device&, int) { return of_emulator(); }
void  cuda::correct_rates(Device&, int, std::span<const RateObservation>, bool) {}
#else
Rates cuda::rates_of(Device& device, int threads, const std::shared_ptr<MemoryBudget>& host) {
  const auto found = Known::instance().find_or_measure(device, threads, host, false);
  return found ? found->corrected : Rates{};
}

Rates cuda::known_rates_of(Device& device, int threads) {
  const auto found = Known::instance().find_only(device, threads);
  return found ? found->corrected : Rates{};
}

void cuda::correct_rates(Device& device, int threads, std::span<const RateObservation> observations, bool keep) {
  Known::instance().correct(device, threads, observations, keep);
}
#endif

std::optional<MachineRates> rates_of_gpu(int index, int threads, const std::shared_ptr<MemoryBudget>& budget,
                                         bool again) {
  try {
    cuda::Device device{index, room_to_measure};
    device.enter();
    return Known::instance().find_or_measure(device, threads, budget, again);
  } catch (const DeviceError&) {  // somebody else has it
    return std::nullopt;
  }
}

}  // namespace spillway
