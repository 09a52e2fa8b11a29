// How the graph that is asked about is read: as rows, or, of a fresh list of edges, as it lies.
#include "cli/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/run.hpp"
#include "cli/run_memory.hpp"
#include "devices/devices.hpp"
#include "io/format.hpp"
#include "plan/rates.hpp"
#include "supply/methods.hpp"

#include <spillway/edge_list.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway::cli {
namespace {

/// The seed of "random:SEED"; nothing of "unit".
std::optional<std::uint64_t> weight_seed(const std::string& text) {
  if (text == "unit") return std::nullopt;
  const auto seed = text.starts_with("random:") ? parse_number(text.substr(7)) : std::nullopt;
  if (!seed) throw usage_error("--weights takes unit or random:SEED, not '{}'", printable(text));
  return seed;
}

Graph with_asked_weights(const Graph& graph, const RunArguments& arguments, const Common& common) {
  if (!arguments.weights) return graph;
  if (graph.weight_type() != WeightType::none) note(common, "--weights replaces the weights that the graph has");
  if (const auto seed = weight_seed(*arguments.weights))
    return with_random_weights(graph, *seed, 1, 64, common.threads);
  return with_unit_weights(graph, common.threads);
}

void check_weights(const Algorithm& algorithm, const Graph& graph) {
  if (algorithm.weights != WeightUse::needed || graph.weight_type() != WeightType::none || graph.arc_count() == 0)
    return;
  throw bad_input(
      "{} needs weights and the graph has none; --weights unit gives every arc weight 1, --weights random:SEED "
      "random "
      "weights from 1 to 64",
      algorithm.name);
}

DeviceKind asked_device(const RunArguments& arguments) {
  return device_kind_named(arguments.device.substr(0, arguments.device.find(':')));
}

bool is_compressed(const std::string& path) {
  const std::string suffix = std::filesystem::path{path}.extension();
  return suffix == ".gz" || suffix == ".zst" || suffix == ".zip" || suffix == ".bz2" || suffix == ".xz";
}

/// Whether a file is read as a list, for a GPU to sort its edges into rows: so large a one that a GPU is used
/// whatever is asked of it, unless that is another device. Edges that are read both ways may have been listed from
/// both ends, which shows while the CPU builds rows.
bool has_gpu_build_rows(const RunArguments& arguments, const LoadOptions& options) {
  constexpr std::uint64_t asked_for = 1u << 26, large = 1u << 31;  // bytes
  const DeviceKind        device     = asked_device(arguments);
  const Transform&        change     = options.transform;
  const bool              by_program = arguments.algorithm->on_gpu && arguments.algorithm->vertex_program;
  if (!by_program || !(device.automatic() || device == cuda_kind()) || arguments.temporary) return false;
  if (change.undirected || change.dedup || change.symmetrize || is_compressed(arguments.load.path)) return false;
  std::error_code     none;
  const std::uint64_t bytes = std::filesystem::file_size(arguments.load.path, none);
  if (none || bytes < (device.automatic() ? large : asked_for)) return false;
  constexpr std::uint64_t beside_file = 4;  // times its size, at most, with the rows that are built
  const std::uint64_t     memory      = options.host_memory > 0 ? options.host_memory : MemoryBudget{}.limit();
  if (memory / beside_file < bytes) return false;
  return !cuda_devices().devices.empty();
}

/// Whoever says how a run is to be made has chosen, also who says something of GPUs; what verifies, or keeps runs,
/// has rows built.
bool leaves_form_open(const RunArguments& arguments, const Transform& change) {
  const bool by_default = arguments.method == "auto" && arguments.balance == "auto" && arguments.async == "auto" &&
                          arguments.compress == "auto" && arguments.direction != "pull" && !arguments.resident &&
                          arguments.gpu_options.empty();
  const bool wants_rows = arguments.verify || arguments.deterministic || arguments.device_memory ||
                          arguments.checkpoint || arguments.temporary || arguments.weights;
  return by_default && !wants_rows && !change.dedup && !change.symmetrize &&
         list_passes(arguments.algorithm->name, 1, 1, 0);
}

double answers_asked(const RunArguments& arguments) {
  const double times = static_cast<double>(parse_number(arguments.repeat).value_or(1));
  return arguments.lists.empty() ? times : times * static_cast<double>(questions(arguments).size());
}

/// The GPU's memory, if one is to be used that there is.
double gpu_memory(const RunArguments& arguments) {
  const CudaDevices found = cuda_devices();
  const auto        index = static_cast<std::size_t>(device_of(arguments).index);
  return index < found.devices.size() ? static_cast<double>(found.devices[index].memory_free) : 0;
}

/// The forms of a list, priced for what is asked of it. GPUs are asked for only if the CPU would not be done
/// before one is ready.
std::vector<FormPrice> priced(const RunArguments& arguments, const LoadOptions& options, FreshList list) {
  const Algorithm& algorithm = *arguments.algorithm;
  const auto       given     = [&](const char* name) {
    const auto found = arguments.given.find(name);
    return found == arguments.given.end() ? std::string{} : found->second;
  };
  const DeviceKind asked  = asked_device(arguments);
  const double     arcs   = list.edges * (list.both_ways ? 2 : 1);
  const ListPasses passes = list_passes(algorithm.name, list.vertices, arcs,
                                        static_cast<double>(parse_number(given("iterations")).value_or(0)));
  list.passes = passes.edges, list.row_passes = passes.rows, list.gathers = passes.gathers;
  list.hooks       = algorithm.name == "cc" && given("form") != "propagate";
  list.weighted    = algorithm.weights == WeightUse::needed;
  list.runs        = answers_asked(arguments);
  list.threads     = thread_count(options.threads);
  list.cpu         = asked.automatic() || asked == cpu_kind();
  list.gpu_started = asked == cuda_kind();
  std::vector<FormPrice> forms;
  if (list.cpu) forms = priced_forms(list);
  const bool gpu = algorithm.on_gpu && (asked.automatic() || asked == cuda_kind());
  if (!gpu || (list.cpu && forms.front().seconds < startup_facts(rates_path(), list.threads).context))
    return forms;
  list.gpu_memory = gpu_memory(arguments);
  return priced_forms(list);
}

/// Less is read in no time either way.
constexpr std::uint64_t least_bytes = 1u << 24;

/// Lists that are not mapped take memory, and so do rows beside them.
bool has_memory(const RunArguments& arguments, const LoadOptions& options, const FormPrice& best, bool text) {
  constexpr std::uint64_t beside_file = 4;  // times its size, at most
  const std::uint64_t     memory      = options.host_memory > 0 ? options.host_memory : MemoryBudget{}.limit();
  std::error_code         none;
  return (best.form == ListForm::edges && !text) ||
         std::filesystem::file_size(arguments.load.path, none) < memory / beside_file;
}

std::vector<FormPrice> forms_of_file(const RunArguments& arguments, const LoadOptions& options) {
  const std::string& path   = arguments.load.path;
  const Transform&   change = options.transform;
  std::error_code    none;
  if (!leaves_form_open(arguments, change) || !std::filesystem::is_regular_file(path, none)) return {};
  if (const auto bytes = std::filesystem::file_size(path, none); none || bytes < least_bytes) return {};
  const auto sample = list_sample(path, options);
  if (!sample) return {};
  auto forms = priced(arguments, options,
                      {.edges     = sample->edges,
                       .vertices  = sample->vertices,
                       .ascending = sample->ascending,
                       .text      = sample->text,
                       .both_ways = change.undirected});
  if (!has_memory(arguments, options, forms.front(), sample->text)) forms.clear();
  return forms;
}

/// Of a graph that is kept as a list.
std::vector<FormPrice> forms_of_list(const RunArguments& arguments, const LoadOptions& options,
                                     const EdgeList& list) {
  const EdgeRun run = list.unchecked();
  if (!leaves_form_open(arguments, options.transform) || run.bytes() < least_bytes) return {};
  constexpr std::uint64_t looked_at = 1u << 15;
  std::uint64_t           steady    = 0;
  for (std::uint64_t i = 1; i < looked_at; ++i) steady += run.source(i) >= run.source(i - 1);
  return priced(arguments, options,
                {.edges     = static_cast<double>(run.count),
                 .vertices  = static_cast<double>(list.vertex_count()),
                 .ascending = steady * 10 >= looked_at * 9,
                 .both_ways = list.both_ways()});
}

void take_form(RunArguments& arguments, const FormPrice& best) {
  if (best.form != ListForm::edges) return;
  arguments.method   = unsorted_edges()->name;
  const bool has_gpu = std::ranges::any_of(arguments.forms, &FormPrice::on_gpu);
  if (!best.on_gpu && has_gpu && arguments.device == "auto") arguments.device = "cpu";
}

/// To this GPU edges go while they are read, if it is sure to be used: waking it takes longer than some questions.
std::optional<DeviceChoice> gpu_for_edges(const RunArguments& arguments, bool on_gpu) {
  if (!arguments.algorithm->on_gpu || !(on_gpu || asked_device(arguments) == cuda_kind())) return std::nullopt;
  if (arguments.planned || arguments.weights) return std::nullopt;  // nothing is run, or not on these words
  DeviceChoice choice = device_of(arguments);
  choice.kind         = cuda_kind();
  return choice;
}

/// Lists take more memory than rows while they are read: where there is none, rows are built.
std::optional<Graph> as_list_if_best(RunArguments& arguments, LoadOptions options) {
  arguments.forms = forms_of_file(arguments, options);
  if (arguments.forms.empty() || arguments.forms.front().form == ListForm::rows_by_cpu) return std::nullopt;
  options.edges    = true;
  options.edges_to = gpu_for_edges(arguments, arguments.forms.front().on_gpu);
  try {
    Graph graph = open(arguments.load.path, options);
    if (graph.edges()) take_form(arguments, arguments.forms.front());
    return graph;
  } catch (const LoadRefusal&) {
    arguments.forms.clear();
    return std::nullopt;
  }
}

Graph loaded_graph(RunArguments& arguments, const Common& common, Progress& progress) {
  LoadOptions options = arguments.load.options(common, progress);
  options.temporary   = arguments.temporary.value_or("");
  if (auto list = as_list_if_best(arguments, options)) return *std::move(list);
  const bool priced     = !arguments.forms.empty();
  const bool gpu_builds = !priced && has_gpu_build_rows(arguments, options);
  options.edges         = method_named(arguments.method)->of_edge_lists || gpu_builds;
  if (options.edges) options.edges_to = gpu_for_edges(arguments, gpu_builds);
  Graph graph = open(arguments.load.path, options);
  if (graph.edges() && !priced) {
    arguments.forms = forms_of_list(arguments, options, *graph.edges());
    if (!arguments.forms.empty()) take_form(arguments, arguments.forms.front());
  }
  return graph;
}

}  // namespace

void check_asked_weights(const RunArguments& arguments) {
  if (arguments.weights) weight_seed(*arguments.weights);
}

std::string text_of_forms(const RunArguments& arguments) {
  std::string text;
  for (const FormPrice& each : arguments.forms)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name_of(each),
                        each.excluded.empty() ? fmt::format("{:.2g} s", each.seconds) : each.excluded);
  return "predicted, after reading: " + text;
}

Graph asked_graph(RunArguments& arguments, const Common& common, Progress& progress) {
  const InterruptWatch watch{progress};
  const Graph          loaded = [&] {
    try {
      return loaded_graph(arguments, common, progress);
    } catch (const LoadRefusal& refusal) {
      throw explained(refusal, arguments, common);
    }
  }();
  Graph graph = [&] {
    const std::uint64_t held = loaded.budget()->used();
    try {
      return with_asked_weights(loaded, arguments, common);
    } catch (const MemoryRefusal& refusal) {
      throw explained(refusal, arguments, completed_parameters(*arguments.algorithm, arguments.given), loaded,
                      held, common, Weights::to_come);
    }
  }();
  note_all(common, loaded.report().notes);
  check_weights(*arguments.algorithm, graph);
  return graph;
}

}  // namespace spillway::cli
