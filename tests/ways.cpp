#include "ways.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include <spillway/engine/transfer.hpp>

#if defined(SPILLWAY_EMULATED)
/// Looking for leaks takes seconds at the end of each process; one test asks for it (tests/CMakeLists.txt).
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace spillway::testing {
namespace {

/// Columns of a row of levels.
enum Factor {
  method,
  device,
  memory,
  resident,
  async,
  windows,
  direction,
  sizes,
  threads,
  deterministic,
  compress,
  filter,
  fusion,
  order,
  aggregate,
  queue,
  hubs,
  balance,
  factor_count
};

/// As they are registered, those of other test files included; pages and lists of edges have matrices of their
/// own.
const std::vector<Method>& all_methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> of_graphs_in_memory = methods();
    std::erase_if(of_graphs_in_memory,
                  [](Method method) { return method->streams_pages || method->of_edge_lists; });
    return of_graphs_in_memory;
  }();
  return all;
}

/// On the CPU, which tests may have added some to.
const std::vector<DeviceKind>& host_devices() {
  static const std::vector<DeviceKind> all = [] {
    std::vector<DeviceKind> found = device_kinds();
    std::erase(found, cuda_kind());
    return found;
  }();
  return all;
}

constexpr Async       asyncs[]        = {Async::off, Async::automatic, Async::on};
constexpr Direction   directions[]    = {Direction::automatic, Direction::push, Direction::pull};
constexpr int         thread_counts[] = {1, 2, 3, 7};
constexpr Filter      filters[]       = {Filter::just_in_time, Filter::online, Filter::ballot, Filter::batch};
constexpr Fusion      fusions[]       = {Fusion::all, Fusion::push_pull, Fusion::none};
constexpr unsigned    queues[]        = {CudaTuning::most_bucket_queue, 3, 0};
constexpr VertexOrder orders[]        = {VertexOrder::automatic, VertexOrder::natural, VertexOrder::degree};

constexpr std::optional<unsigned> hub_sums[] = {std::nullopt, 32};

constexpr SplitTuning nodes_of(std::uint64_t degree_bound, bool coalesced = true, bool array = false,
                               bool worklist = true) {
  return {.degree_bound = degree_bound, .coalesced = coalesced, .array = array, .worklist = worklist};
}
/// The CPU has the first ones.
constexpr BalanceTuning balances[] = {
    {},
    {.kind = Balance::split, .split = nodes_of(2)},
    {.kind = Balance::split, .split = nodes_of(10)},
    {.kind = Balance::thread},
    {.kind = Balance::warp, .lanes = 4},
    {.kind = Balance::warp, .lanes = 16},
    {.kind = Balance::hybrid},
    {.kind = Balance::split, .split = nodes_of(3, false)},
    {.kind = Balance::split, .split = nodes_of(3, true, true)},
    {.kind = Balance::split, .split = nodes_of(4, true, false, false)},
    {.kind = Balance::split, .split = nodes_of(2, false, true, false)},
};
constexpr int host_balances = 3;
/// Bytes of edges: none, not an edge for each vertex, some, all.
constexpr std::uint64_t residents[] = {0, 64, 200, std::uint64_t{1} << 30};
/// More than any graph of the zoo needs, less than what is free.
constexpr std::uint64_t bounded = 16u << 20;

#if defined(SPILLWAY_TEST_ON_GPU)
constexpr bool on_a_gpu = true;
#else
constexpr bool on_a_gpu = false;
#endif

template <class T, std::size_t N>
constexpr int size_of(const T (&)[N]) {
  return static_cast<int>(N);
}

bool sends(Method method) { return method->transfers; }

}  // namespace

/// The CPU does without methods that require a GPU, and the GPU's options are none of its.
std::vector<int> level_counts() {
  std::vector<int> counts(factor_count, 1);
  counts[method] = static_cast<int>(all_methods().size()), counts[memory] = 2,
  counts[resident] = size_of(residents);
  counts[async] = size_of(asyncs), counts[windows] = 2, counts[direction] = size_of(directions);
  counts[sizes] = 2, counts[threads] = size_of(thread_counts), counts[deterministic] = 2;
  if (!on_a_gpu) counts[device] = static_cast<int>(host_devices().size());
  counts[balance] = on_a_gpu ? size_of(balances) : host_balances;
  if (!on_a_gpu) return counts;
  counts[compress] = 2, counts[filter] = size_of(filters), counts[fusion] = size_of(fusions);
  counts[order] = size_of(orders), counts[aggregate] = 2, counts[queue] = size_of(queues);
  counts[hubs] = size_of(hub_sums);
  return counts;
}

bool fits(const Levels& row) {
  const auto is = [&](Factor factor, auto&& test) { return row[factor] == undecided || test(row[factor]); };
  const auto of = [](int level) { return all_methods()[static_cast<std::size_t>(level)]; };
  if (!on_a_gpu && row[method] != undecided && of(row[method])->requires_gpu) return false;
  if (row[method] == undecided) return true;
  const Method how = of(row[method]);
  // What is made of executors has all edges at hand, and pushes.
  if (row[device] != undecided && row[device] != 0 && (!how->all_resident || !is(direction, [](int level) {
        return directions[level] != Direction::pull;
      }) || !is(deterministic, [](int level) { return level == 0; })))
    return false;
  if (how->all_resident && !is(resident, [](int level) { return level == 0; })) return false;
  if (!how->compresses && !is(compress, [](int level) { return level == 0; })) return false;
  if (sends(how) && row[compress] == 1 && !is(async, [](int level) { return asyncs[level] != Async::on; }))
    return false;
  if (!sends(how) && !is(windows, [](int level) { return level == 0; })) return false;
  // An array of virtual nodes, and a scan of all of them, are of rows that are all there.
  if (!how->all_resident &&
      !is(balance, [](int level) { return !balances[level].split.array && balances[level].split.worklist; }))
    return false;
  // A scan of all nodes makes no lists.
  const auto without_lists = [](int level) {
    return filters[level] == Filter::just_in_time || filters[level] == Filter::ballot;
  };
  if (on_a_gpu && !is(filter, without_lists) &&
      !is(balance, [](int level) { return balances[level].split.worklist; }))
    return false;
  // Compressed rows have bins.
  if (row[compress] == 1 && !is(balance, [](int level) { return level == 0; })) return false;
  // Sums of floats come out the same only if nobody adds up parts of rows.
  if (row[deterministic] == 1 && !is(balance, [](int level) { return balances[level].kind != Balance::split; }))
    return false;
  if (sends(how) && !is(deterministic, [](int level) { return level == 0; })) return false;
  return how->asynchronous || is(async, [](int level) { return asyncs[level] != Async::on; });
}

namespace {

SupplyOptions supply_of(const Levels& row) {
  SupplyOptions supply{.compress = row[compress] == 1 ? Compress::on : Compress::off, .async = asyncs[row[async]]};
  const Method  how = all_methods()[static_cast<std::size_t>(row[method])];
  if (!how->all_resident) supply.resident = residents[row[resident]];
  if (row[compress] == 1) supply.coding_batch_arcs = row[sizes] == 1 ? 24 : 0;
  // Pieces of small windows are told of and gathered in several turns.
  if (row[windows] == 1) supply.window = 128, supply.chunk = 3, supply.staged = 40, supply.descriptors = 7;
  if (how->transfers && how->reads_in_place) supply.rates = balanced();
  return supply;
}

RunOptions way_of(const Levels& row) {
  RunOptions way{.threads       = thread_counts[row[threads]],
                 .deterministic = row[deterministic] == 1,
                 .direction     = directions[row[direction]]};
  way.method        = all_methods()[static_cast<std::size_t>(row[method])];
  way.device.kind   = on_a_gpu ? cuda_kind() : host_devices()[static_cast<std::size_t>(row[device])];
  way.device.memory = row[memory] == 1 ? bounded : 0;
  way.supply        = supply_of(row);
  way.balance       = balances[row[balance]];
  if (row[sizes] == 1) way.tuning = tiny();
  if (!on_a_gpu) return way;
  way.cuda           = on_gpu(filters[row[filter]], fusions[row[fusion]], row[sizes] == 1);
  way.cuda.order     = orders[row[order]];
  way.cuda.aggregate = row[aggregate] == 1, way.cuda.bucket_queue = queues[row[queue]];
  way.cuda.hub_sums = hub_sums[row[hubs]];
  return way;
}

std::uint64_t hash_of(const std::string& text) { return std::hash<std::string>{}(text); }

/// Where the direction that was asked for is not the program's to choose.
bool direction_is_free(const RunOptions& way, const std::string& algorithm) {
  static const std::set<std::string> sums{"bc", "bp", "pagerank", "ppr", "radius", "ssnsp"};
  if (way.deterministic && sums.contains(algorithm)) return false;  // always pulled
  if (sends(way.method)) return false;                              // what is sent is pushed, mostly
  return algorithm != "sssp";                                       // buckets are settled as they must be
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* const   given = std::getenv("SPILLWAY_SEED");
    const std::uint64_t seed  = given && *given ? std::strtoull(given, nullptr, 10) : 1;
    if (given && *given && std::to_string(seed) != given) {
      std::printf("SPILLWAY_SEED is '%s', which is no seed: a number below 2^64 is\n", given);
      std::exit(2);
    }
    std::printf("seed: %llu (SPILLWAY_SEED sets it)\n", static_cast<unsigned long long>(seed));
    return seed;
  }();
  return value;
}

bool full_matrix() {
  const char* const given = std::getenv("SPILLWAY_FULL_MATRIX");
  return given != nullptr && *given != '\0' && std::string_view{given} != "0";
}

HostTuning tiny() {
  return {.vertex_grain   = 64,
          .edge_grain     = 8,
          .push_grain     = 1,
          .hub_degree     = 4,
          .serial_work    = 0,
          .fusion_entries = 3,
          .bin_vertices   = 64,
          .bin_entries    = 4};
}

CudaTuning on_gpu(Filter filter, Fusion fusion, bool tiny) {
  CudaTuning tuning{.filter = filter, .fusion = fusion};
  if (tiny)
    tuning.large_degree = 4, tuning.hub_degree = 8, tuning.probes = 1, tuning.build_from = 0,
    tuning.line_edges = 2;
  // The online filter by itself fails where bins are too small.
  if (filter == Filter::online)
    tuning.bin_entries = 1u << 20;
  else if (tiny)
    tuning.bin_entries = 1;
  return tuning;
}

Rates balanced() {
  return {.sent = 1e9, .gathered = 0.5e9, .gathered_chunks = 1e9, .read = 1e9, .read_chunks = 1e8, .step = 0};
}

const std::vector<RunOptions>& all_ways() {
  static const std::vector<RunOptions> ways = [] {
    std::vector<RunOptions> made;
    for (const Levels& row : Pairwise{level_counts(), fits, seed()}.rows()) made.push_back(way_of(row));
    return made;
  }();
  return ways;
}

RunOptions for_any_program(RunOptions way) {
  if (way.supply.async == Async::on) way.supply.async = Async::automatic;
  return way;
}

std::vector<RunOptions> some_ways() {
  constexpr std::size_t   some = 10;
  const auto* const       test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::vector<RunOptions> ways;
  Turns                   turns{all_ways().size(), some, std::string{test ? test->name() : ""}};
  for (const std::size_t i : turns.next()) ways.push_back(for_any_program(all_ways()[i]));
  // What is made of executors has no buckets in place, and does not add up votes.
  for (RunOptions& way : ways)
    if (way.device.kind->of_cpu_executors) way.device.kind = cpu_kind();
  return ways;
}

std::string as_text(const RunOptions& way) {
  const auto        number = [](auto value) { return std::to_string(static_cast<std::uint64_t>(value)); };
  const auto        index  = [](auto level) { return std::to_string(static_cast<int>(level)); };
  const std::string supply =
      way.method->all_resident ? ""
                               : (way.supply.compress == Compress::on ? ", compressed" : "") + std::string{", "} +
                                     number(way.supply.resident.value_or(0)) + " bytes resident, async " +
                                     index(way.supply.async) + ", windows of " + number(way.supply.window);
  const std::string cuda =
      on_a_gpu
          ? ", filter " + index(way.cuda.filter) + ", fusion " + index(way.cuda.fusion) + ", order " +
                index(way.cuda.order) + ", bins " + number(way.cuda.bin_entries) + ", queue " +
                number(way.cuda.bucket_queue) + (way.cuda.aggregate ? ", aggregated" : "") +
                (way.cuda.edge_values == EdgeValues::global ? ""
                                                            : ", edge values " + number(way.cuda.edge_values)) +
                (way.cuda.edge_passes > 0 ? ", passes " + number(way.cuda.edge_passes) : "") +
                (way.cuda.hub_sums ? ", hubs " + number(*way.cuda.hub_sums) : "")
          : "";
  const SplitTuning& split   = way.balance.split;
  const std::string  balance = ", balance " + name_of(way.balance) + (split.coalesced ? "" : ", consecutive") +
                              (split.array ? ", array" : "") + (split.worklist ? "" : ", no worklist");
  return " with --device " + std::string{way.device.kind->name} + " --method " + std::string{way.method->name} +
         ", " + number(way.threads) + " threads, " + std::string{to_string(way.direction)} +
         (way.deterministic ? ", deterministic" : "") + (way.tuning.serial_work == 0 ? ", tiny" : "") + supply +
         cuda + balance + (way.device.memory > 0 ? ", bounded" : "");
}

Turns::Turns(std::size_t members, std::size_t at_once, const std::string& salt)
    : order_(members), uses_(members), at_once_(std::min(at_once, members)) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::mt19937_64 random{seed() ^ hash_of(salt)};
  std::ranges::shuffle(order_, random);
}

std::vector<std::size_t> Turns::next() {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < at_once_; ++i) chosen.push_back(order_[at_++ % order_.size()]);
  return chosen;
}

std::vector<std::size_t> Turns::unused() const {
  std::vector<std::size_t> without;
  for (std::size_t i = 0; i < uses_.size(); ++i)
    if (uses_[i] == 0) without.push_back(i);
  return without;
}

std::string Turns::as_text() const {
  const auto [least, most] = std::ranges::minmax(uses_);
  return std::to_string(uses_.size()) + " ways, each used " + std::to_string(least) + " to " +
         std::to_string(most) + " times";
}

namespace {

/// Filters and fusion of the GPU engine.
std::string deviation_on_gpu(const CudaTuning& asked, const RunStatistics& statistics) {
  const RunCounters& counters = statistics.counters;
  if (asked.filter != Filter::batch && counters.batched > 0) return "the batch filter was used";
  const bool fuses =
      asked.bucket_queue > 0 && asked.filter == Filter::just_in_time && asked.fusion != Fusion::none;
  if (!fuses && counters.fused_rounds > 0) return "blocks went on within a bucket";
  if (asked.hub_sums.value_or(counters.summed_hubs) < counters.summed_hubs)
    return "more hubs were summed than asked";
  if (asked.fusion == Fusion::none && counters.kernel_launches < statistics.iterations)
    return "a kernel had several iterations";
  return {};
}

}  // namespace

std::string deviation(const RunOptions& way, const RunStatistics& statistics, const std::string& algorithm) {
  const std::string method = statistics.method.empty() ? std::string{resident_edges()->name} : statistics.method;
  if (method != way.method->name) return "the method was " + method;
  if (statistics.compressed != (way.supply.compress == Compress::on))
    return statistics.compressed ? "edges were compressed" : "edges were not compressed";
  if (way.supply.resident && statistics.edges_resident > *way.supply.resident)
    return std::to_string(statistics.edges_resident) + " bytes of edges were resident";
  if (way.balance.kind != Balance::automatic && statistics.balance != name_of(way.balance))
    return "the balance was " + statistics.balance;
  // Several executors for one device count for themselves; a source without edges visits none.
  const bool visits =
      statistics.iterations > 1 && statistics.edges_processed > 100 && !way.device.kind->of_cpu_executors;
  const bool split = way.balance.kind == Balance::split;
  if (const std::uint64_t nodes = statistics.counters.virtual_nodes; split ? visits && nodes == 0 : nodes > 0)
    return std::to_string(nodes) + " virtual nodes were visited";
  if (way.supply.async == Async::off && statistics.counters.local_rounds > 0)
    return "windows were gone through again";
  if (const std::string problem = on_a_gpu ? deviation_on_gpu(way.cuda, statistics) : ""; !problem.empty())
    return problem;
  if (way.direction == Direction::automatic || !direction_is_free(way, algorithm)) return {};
  for (const IterationStatistics& iteration : statistics.per_iteration)
    if (iteration.direction != way.direction)
      return "an iteration went " + std::string{to_string(iteration.direction)};
  return {};
}

}  // namespace spillway::testing
