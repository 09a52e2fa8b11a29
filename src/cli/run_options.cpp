// Options that say how a run is to be made; `plan` takes them, too.
#include <fmt/format.h>

#include <climits>
#include <filesystem>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/reading.hpp"
#include "cli/run.hpp"
#include "cli/run_memory.hpp"
#include "devices/devices.hpp"
#include "io/format.hpp"
#include "supply/methods.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

/// "auto, cpu, cuda or cuda:N", of what is registered.
std::string device_help() {
  std::string names{DeviceKind{} -> name};
  for (const DeviceKind kind : device_kinds()) {
    names += fmt::format(", {}", kind->name);
    if (kind->numbered) names += fmt::format(" or {}:N", kind->name);
  }
  return names + " (default: auto)";
}

}  // namespace

DeviceChoice device_of(const RunArguments& arguments) {
  DeviceChoice choice = device_choice(arguments.device, *arguments.algorithm);
  choice.memory       = size_argument("--device-memory", arguments.device_memory);
  return choice;
}

namespace {

CudaTuning cuda_tuning_of(const RunArguments& arguments) {
  CudaTuning tuning;
  tuning.filter       = arguments.filter == "online"   ? Filter::online
                        : arguments.filter == "ballot" ? Filter::ballot
                        : arguments.filter == "batch"  ? Filter::batch
                                                       : Filter::just_in_time;
  tuning.fusion       = arguments.fusion == "none"       ? Fusion::none
                        : arguments.fusion == "pushpull" ? Fusion::push_pull
                                                         : Fusion::all;
  tuning.order        = arguments.order == "degree"    ? VertexOrder::degree
                        : arguments.order == "natural" ? VertexOrder::natural
                                                       : VertexOrder::automatic;
  tuning.bin_entries  = arguments.bin_entries;
  tuning.bucket_queue = arguments.bucket_queue;
  tuning.aggregate    = arguments.aggregate;
  tuning.streams      = arguments.streams;
  tuning.edge_values  = arguments.edge_values == "shared"   ? EdgeValues::shared
                        : arguments.edge_values == "stored" ? EdgeValues::stored
                                                            : EdgeValues::global;
  tuning.edge_block   = arguments.edge_block;
  tuning.edge_passes  = arguments.edge_passes;
  if (arguments.hub_sums) {
    const auto hubs = parse_number(*arguments.hub_sums);
    if (!hubs) throw usage_error("--hub-sums takes a number, not '{}'", printable(*arguments.hub_sums));
    tuning.hub_sums = static_cast<unsigned>(*hubs);
  }
  tuning.page_cache = arguments.page_cache == "lru" ? PageCache::lru : PageCache::first;
  return tuning;
}

std::string method_help() {
  std::string text = "Where edges are: ";
  for (const Method method : methods()) text += fmt::format("{} ({}); ", method->help, method->name);
  return text + fmt::format("auto (default): {} where all fits, else what `spillway plan` predicts to be fastest",
                            resident_edges()->name);
}

std::vector<std::string> method_words() {
  std::vector<std::string> words{"auto"};
  for (const Method method : methods()) words.emplace_back(method->name);
  return words;
}

Method method_of(const RunArguments& arguments) { return method_named(arguments.method); }

/// "auto", "bins", "split:K", "thread", "warp:N" or "hybrid".
BalanceTuning balance_of(const RunArguments& arguments) {
  constexpr struct {
    std::string_view name;
    Balance          kind;
  } kinds[]                    = {{"auto", Balance::automatic}, {"bins", Balance::bins}, {"split", Balance::split},
                                  {"thread", Balance::thread},  {"warp", Balance::warp}, {"hybrid", Balance::hybrid}};
  const std::string_view text  = arguments.balance;
  const auto             colon = text.find(':');
  const auto             kind =
      std::ranges::find_if(kinds, [&](const auto& each) { return each.name == text.substr(0, colon); });
  const bool sized = colon != text.npos;
  if (kind == std::end(kinds) || (sized && kind->kind != Balance::split && kind->kind != Balance::warp))
    throw usage_error("--balance takes auto, bins, split[:K], thread, warp[:N] or hybrid, not '{}'",
                      printable(text));
  BalanceTuning balance{.kind = kind->kind};
  const auto    size = sized ? parse_number(text.substr(colon + 1)) : std::nullopt;
  if (sized && kind->kind == Balance::split) {
    if (!size || *size < 2 || *size > max_vertices)
      throw usage_error("--balance split:K takes a K of 2 to 4,294,967,295, the edges of a virtual node, not '{}'",
                        printable(text.substr(colon + 1)));
    balance.split.degree_bound = *size;
  }
  if (sized && kind->kind == Balance::warp) {
    if (!size || (*size != 4 && *size != 8 && *size != 16 && *size != 32))
      throw usage_error("--balance warp:N takes 4, 8, 16 or 32 lanes, not '{}'",
                        printable(text.substr(colon + 1)));
    balance.lanes = static_cast<unsigned>(*size);
  }
  balance.split.coalesced = arguments.split_edges == "coalesced";
  balance.split.array     = arguments.split_mapping == "array";
  balance.split.worklist  = arguments.worklist == "on";
  return balance;
}

SupplyOptions supply_of(const RunArguments& arguments) {
  SupplyOptions supply;
  supply.compress = arguments.compress == "on"    ? Compress::on
                    : arguments.compress == "off" ? Compress::off
                                                  : Compress::automatic;
  if (arguments.resident) supply.resident = size_argument("--resident", arguments.resident, 0);
  supply.async = arguments.async == "on" ? Async::on : arguments.async == "off" ? Async::off : Async::automatic;
  supply.all_parts  = arguments.all_partitions;
  supply.successors = arguments.successors == "all"    ? Successors::all
                      : arguments.successors == "none" ? Successors::none
                                                       : Successors::changed;
  if (arguments.state_chunks) supply.state_chunks = number_argument("--state-chunks", *arguments.state_chunks, 1);
  return supply;
}

/// An option that would change nothing is a mistake somewhere: it is better told than overlooked.
void check_gpu_options(const RunArguments& arguments) {
  if (arguments.device != "cpu" || arguments.gpu_options.empty()) return;
  const std::string& option = arguments.gpu_options.front();
  if (option == "--balance")
    throw usage_error("--balance {} is for GPUs; the CPU has bins and split", printable(arguments.balance));
  throw usage_error("{} is for GPUs{}: leave it out, or do not say --device cpu", option,
                    option == "--resident" ? " and methods that transfer edges" : "");
}

Direction direction_of(const RunArguments& arguments) {
  return arguments.direction == "push"   ? Direction::push
         : arguments.direction == "pull" ? Direction::pull
                                         : Direction::automatic;
}

void add_parameters(Command& command, RunArguments& arguments) {
  const Algorithm& algorithm = *arguments.algorithm;
  for (const Parameter& parameter : algorithm.parameters) {
    const std::string name = "--" + parameter.name;
    if (command.has_option(name))
      throw bad_input("{}: its parameter '{}' has the name of an option of run; rename it", arguments.named,
                      parameter.name);
    const bool listed = parameter.kind == ParameterKind::source || parameter.kind == ParameterKind::vertices;
    const auto take   = [&arguments, listed, key = parameter.name](const std::string& value) {
      if (listed)
        arguments.lists[key].push_back(value);
      else
        arguments.given[key] = value;
    };
    Option option = listed ? command.repeatable(name, take, with_default(parameter))
                           : command.option(name, take, with_default(parameter));
    option.group("Options of " + algorithm.name);
    if (parameter.kind == ParameterKind::flag) option.value_name("[yes|no]");
  }
}

/// Options that concern GPUs alone, if some were given.
void note_gpu_options(const Command& command, RunArguments& arguments) {
  for (const char* name : {"--compress", "--filter", "--bin-entries", "--bucket-queue", "--aggregate", "--fusion",
                           "--order", "--streams", "--page-cache", "--split-edges", "--split-mapping",
                           "--worklist", "--edge-values", "--edge-block", "--edge-passes"})
    if (command.was_given(name)) arguments.gpu_options.emplace_back(name);
  if (arguments.balance.starts_with("thread") || arguments.balance.starts_with("warp") ||
      arguments.balance == "hybrid")
    arguments.gpu_options.emplace_back("--balance");
  if (command.was_given("--resident") && !sends(arguments)) arguments.gpu_options.emplace_back("--resident");
}

/// Where the words name an algorithm, its parameters become options. Returns the words to parse.
std::vector<std::string> add_algorithm_options(Command& command, RunArguments& arguments, Context& context,
                                               std::vector<std::string> words) {
  const auto name = algorithm_word(command, words);
  if (!name) return words;
  arguments.named     = *name;
  arguments.algorithm = &(is_plugin_path(*name) ? load_plugin(*name) : algorithm_named(*name));
  context.taker       = arguments.algorithm->name;
  add_parameters(command, arguments);
  command.footer(fmt::format("{}: {}\nOptions for study: spillway {} {} --help-all", arguments.algorithm->name,
                             arguments.algorithm->summary, command.name(), *name));
  return with_flags_spelled_out(*arguments.algorithm, std::move(words));
}

/// What results do not depend on, and hardly anybody needs.
void add_study_options(Command& command, RunArguments& arguments) {
  command
      .flag("--all-partitions", arguments.all_partitions,
            fmt::format("--method {} transfers all of them, also those without active vertices",
                        whole_partitions()->name))
      .group(for_study);
  command
      .option("--successors", arguments.successors,
              fmt::format("--method {}, in chunks: edges of earlier chunks that each is concatenated with, those "
                          "that lead on from what it changed (changed, default), from all it leads to, or none",
                          unsorted_edges()->name))
      .one_of({"changed", "all", "none"})
      .group(for_study);
  command
      .option(
          "--edge-values", arguments.edge_values,
          fmt::format("Of --method {} on a GPU: updates go to the vertices one by one (global, default), or meet "
                      "in shared memory, block of edges by block: the vertices get what they came to at the end "
                      "of each block (shared) or when all blocks are done (stored)",
                      unsorted_edges()->name))
      .one_of({"global", "shared", "stored"})
      .group(for_study);
  command
      .option(
          "--edge-block", arguments.edge_block,
          fmt::format("Edges of a block whose updates meet in shared memory (default: {})", arguments.edge_block))
      .between(1, SharedIndex::most_edges)
      .group(for_study);
  command
      .option(
          "--edge-passes", arguments.edge_passes,
          fmt::format("Of --method {} on a GPU, where all vertices are active: passes over the edges, each for "
                      "the updates of a part of the vertices (default: as its cache suggests)",
                      unsorted_edges()->name))
      .between(1, 64)
      .group(for_study);
  command
      .option("--filter", arguments.filter,
              "How a GPU makes its frontiers: jit (default), online, ballot or batch")
      .one_of({"jit", "online", "ballot", "batch"})
      .group(for_study);
  command
      .option(
          "--bin-entries", arguments.bin_entries,
          fmt::format("Entries of a GPU thread's bin in the online filter (default: {})", arguments.bin_entries))
      .between(1, 1 << 20)
      .group(for_study);
  command
      .option("--bucket-queue", arguments.bucket_queue,
              fmt::format("Vertices of a bucket that a GPU block keeps and pushes again without a grid barrier, 0 "
                          "to 256 (default: {}; 0: none)",
                          arguments.bucket_queue))
      .between(0, CudaTuning::most_bucket_queue)
      .group(for_study);
  command
      .option("--hub-sums", arguments.hub_sums,
              fmt::format(
                  "Where all vertices pull along undirected edges: so many hubs, at most, get what they are sent "
                  "in a GPU's shared memory, 0 to 16384 (default: {}, if they have an eighth of the edges)",
                  CudaTuning::usual_hub_sums))
      .between(0, 1 << 14)
      .group(for_study);
  command
      .flag("--aggregate", arguments.aggregate, "GPU lanes combine updates to the same vertex before the atomic")
      .group(for_study);
  command
      .option(
          "--streams", arguments.streams,
          fmt::format("Of graphs in pages: streams in which they reach a GPU (default: {})", arguments.streams))
      .between(1, 32)
      .group(for_study);
  command
      .option("--page-cache", arguments.page_cache,
              "Of graphs in pages: those that stay on a GPU are the first that come (default), or those used last "
              "(lru)")
      .one_of({"first", "lru"})
      .group(for_study);
  command
      .option("--balance", arguments.balance,
              fmt::format(
                  "Which thread works on which edge: by the length of rows (bins), a virtual node of at most K "
                  "edges to a thread (split[:K], default {}); on GPUs also a row to a thread (thread) or to N "
                  "lanes (warp[:N], default {}; pulls: 8 or 32), and in windows and pages either of them "
                  "(hybrid); or auto "
                  "(default)",
                  SplitTuning{}.degree_bound, BalanceTuning{}.lanes))
      .group(for_study);
  command
      .option("--split-edges", arguments.split_edges,
              "Of --balance split on a GPU: the virtual nodes of a row take turns with its edges (coalesced, "
              "default), "
              "or each has edges that lie side by side (consecutive)")
      .one_of({"coalesced", "consecutive"})
      .group(for_study);
  command
      .option(
          "--split-mapping", arguments.split_mapping,
          "Of --balance split on a GPU: virtual nodes are found by the degrees (dynamic, default), or kept in an "
          "array")
      .one_of({"dynamic", "array"})
      .group(for_study);
  command
      .option("--worklist", arguments.worklist,
              "Of --balance split on a GPU: off scans all virtual nodes for active ones (default: on)")
      .one_of({"on", "off"})
      .group(for_study);
  command
      .option("--fusion", arguments.fusion,
              "Iterations fused into one GPU kernel: none, those of one direction (pushpull) or all (default)")
      .one_of({"none", "pushpull", "all"})
      .group(for_study);
  command
      .option(
          "--order", arguments.order,
          "Order of vertices on a GPU: natural, degree (for programs with all vertices active), or auto (default)")
      .one_of({"auto", "natural", "degree"})
      .group(for_study);
  command
      .option(
          "--state-chunks", arguments.state_chunks,
          "Of graphs in pages: chunks of vertices whose state is in memory, or on the GPU, one after the other, "
          "each with a pass over the pages (default: 1 where it fits, else as few as do)")
      .group(for_study);
}

}  // namespace

bool sends(const RunArguments& arguments) {
  return method_of(arguments)->transfers || method_of(arguments)->of_edge_lists;
}

RunOptions run_options_of(const RunArguments& arguments, const Common& common, Progress& progress,
                          std::uint64_t runs) {
  return {.threads       = common.threads,
          .deterministic = arguments.deterministic,
          .direction     = direction_of(arguments),
          .progress      = &progress,
          .tuning        = {},
          .device        = device_of(arguments),
          .cuda          = cuda_tuning_of(arguments),
          .balance       = balance_of(arguments),
          .method        = method_of(arguments),
          .supply        = supply_of(arguments),
          .history       = arguments.no_history ? History::off : History::kept,
          .runs          = static_cast<unsigned>(std::min<std::uint64_t>(runs, UINT_MAX))};
}

void check_ways(const RunArguments& arguments) {
  check_asked_weights(arguments);
  balance_of(arguments);
  if (method_of(arguments)->requires_gpu && arguments.device == "cpu")
    throw usage_error("--method {} requires a GPU; leave out --device cpu", arguments.method);
  check_gpu_options(arguments);
  const Method method = method_of(arguments);
  for (const char* option : {"--edge-values", "--edge-block", "--edge-passes"})
    if (std::ranges::find(arguments.gpu_options, option) != arguments.gpu_options.end() && !method->of_edge_lists)
      throw usage_error("{} goes with --method {}: add that, or leave {} out", option, unsorted_edges()->name,
                        option);
  if (sends(arguments) && arguments.direction == "pull")
    throw usage_error("--method {} pushes along edges as they come; leave out --direction pull", arguments.method);
  check_method_options({.method = method, .supply = supply_of(arguments)});
  device_of(arguments);
  if (method->requires_cpu && !arguments.device.empty() && arguments.device != "auto" && arguments.device != "cpu")
    throw usage_error("--method {} computes on the CPU; leave out --device {}", method->name, arguments.device);
  if (method->requires_gpu)
    if (const CudaDevices found = cuda_devices(); found.devices.empty())
      throw usage_error("--method {} requires a GPU, and none can be used here ({}); leave it out", method->name,
                        found.absence);
}

void add_way_options(Command& command, RunArguments& arguments) {
  command.option("--device", arguments.device, device_help());
  command.option("--device-memory,--gpu-memory", arguments.device_memory,
                 fmt::format("Device memory limit, e.g. 4GiB (default: what is free); on the CPU with --method {}",
                             names_of(&MethodFacts::takes_arena)));
  command.option("--method", arguments.method, method_help()).one_of(method_words());
  command
      .option(
          "--compress", arguments.compress,
          fmt::format(
              "Compress edges that do not fit the GPU, with --method {}: half the bytes for some time before the "
              "run. on, off or auto (default: where it amortizes)",
              names_of(&MethodFacts::compresses)))
      .one_of({"auto", "on", "off"});
  command.option(
      "--resident", arguments.resident,
      "Of edges that do not fit, how much to keep resident on the device, e.g. 1GiB (default: what fits)");
  command.option(
      "--temporary", arguments.temporary,
      "Folder for the state of vertices that memory does not hold, of graphs in pages (default: $TMPDIR, "
      "or /var/tmp)");
  command
      .option("--async", arguments.async,
              "Run each transferred subgraph to a local fixed point: on, off, or auto (default): where that is "
              "predicted to be faster; on the CPU, on graphs of low degree")
      .one_of({"auto", "on", "off"});
  command.option("--weights", arguments.weights, "Give every arc weight 1: unit; or random ones: random:SEED");
  command.flag("--deterministic", arguments.deterministic,
               "Floating-point results that are the same bit for bit in every run, at some cost");
  command.flag("--no-history", arguments.no_history,
               "Plan as if nothing had ever run over this graph, and leave no record of this run");
  command
      .option("--direction", arguments.direction,
              "push or pull in all iterations, or auto (default): the one with less work")
      .one_of({"auto", "push", "pull"});
  add_study_options(command, arguments);
}

void add_question(Command& command, const std::shared_ptr<RunArguments>& arguments) {
  command.option("ALGORITHM", arguments->word, "One that `spillway algorithms` lists, or a plug-in: ./mine.so")
      .required();
  arguments->load.add_to(command);
}

std::vector<std::string> asked_by(Command& command, Context& context,
                                  const std::shared_ptr<RunArguments>& arguments, std::vector<std::string> words,
                                  std::function<void()> action) {
  command.footer(fmt::format("An algorithm's own options: spillway {} ALGORITHM --help", command.name()));
  command.on_parsed([&context, command, arguments, action = std::move(action)] {
    if (arguments->word != arguments->named)
      throw usage_error("'{}' was read as the algorithm; put the algorithm before its options",
                        printable(arguments->named));
    note_gpu_options(command, *arguments);
    context.action = action;
  });
  if (words.empty() || words.front() != command.name()) return words;
  words.erase(words.begin());
  words = add_algorithm_options(command, *arguments, context, std::move(words));
  words.insert(words.begin(), command.name());
  return words;
}

}  // namespace spillway::cli
