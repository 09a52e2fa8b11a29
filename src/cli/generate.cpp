// spillway generate KIND [parameters] OUT
#include <fmt/format.h>

#include <memory>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/interrupt_watch.hpp"
#include "graph/arc_spill.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"

#include <spillway/generate.hpp>

namespace spillway::cli {
namespace {

struct GenerateArguments {
  std::string                kind, output, to = "auto", weights = "none", seed = "1";
  std::optional<std::string> weight_range, host_memory;
  Transform                  transform;
  ParameterValues            values;
  LayoutArguments            layout;
};

void set_weights(GenerateOptions& options, const GenerateArguments& arguments) {
  options.weight_type = arguments.weights == "u32"   ? WeightType::u32
                        : arguments.weights == "f32" ? WeightType::f32
                                                     : WeightType::none;
  if (!arguments.weight_range) return;
  if (options.weight_type == WeightType::none) throw usage_error("--weight-range needs --weights u32 or f32");
  const std::string& range = *arguments.weight_range;
  const auto         colon = range.find(':');
  try {
    std::size_t used = 0;
    if (colon == std::string::npos) throw std::invalid_argument{""};
    options.weight_min = std::stod(range.substr(0, colon), &used);
    if (used != colon) throw std::invalid_argument{""};
    const std::string high = range.substr(colon + 1);
    options.weight_max     = std::stod(high, &used);
    if (used != high.size()) throw std::invalid_argument{""};
  } catch (const std::exception&) {
    throw usage_error("--weight-range takes LOW:HIGH, such as 1:64, not '{}'", printable(range));
  }
}

/// Pages of a graph that memory does not hold, written while it is made.
class PagesApart {
 public:
  PagesApart(const store::PageOptions& pages, const std::string& path, GenerateOptions& options,
             Progress& progress)
      : file_(path),
        stripes_(path, pages.stripes),
        spill_(folder_of(followed(path)), MemoryBudget{options.host_memory}.limit() / share),
        output_(pages, file_, spill_, thread_count(options.threads), progress, /*in_edges=*/false, &stripes_) {
    options.rows = &output_.rows();
  }

  bool in_use() const { return output_.in_use(); }
  /// The file as a graph, with what generating it took.
  Graph finish(const Graph& graph, const std::string& path) {
    output_.finish(graph.out().offsets, graph.ids(), graph.weight_type(), graph.symmetric());
    store::commit(file_, stripes_);
    Graph::Parts parts = store::SpillFile{path}.parts();
    parts.report       = graph.report();
    parts.budget       = graph.budget();
    return Graph{std::move(parts)};
  }

 private:
  static constexpr std::uint64_t share = 3;  // of the memory is for rows that wait to be ordered

  OutputFile          file_;
  store::StripeOutput stripes_;
  ArcSpill            spill_;
  store::PagedOutput  output_;
};

void generate_to_file(const GenerateArguments& arguments, const Common& common) {
  if (common.json && arguments.output == "-")
    throw usage_error("--json and the graph cannot both go to standard output");
  format_to_write(arguments.output, arguments.to);
  const auto pages = arguments.layout.pages(arguments.output, arguments.to);
  check_can_write(arguments.output);
  ProgressBar     bar = progress_bar(common);
  GenerateOptions options;
  options.seed        = number_argument("--seed", arguments.seed);
  options.transform   = arguments.transform;
  options.host_memory = size_argument("--host-memory", arguments.host_memory);
  options.in_edges    = format_to_write(arguments.output, arguments.to).writes_in;
  options.edges       = arguments.layout.edges(arguments.output, arguments.to);
  options.threads     = common.threads;
  options.progress    = &bar;
  set_weights(options, arguments);

  Stopwatch                 clock;
  std::optional<PagesApart> apart;
  if (pages) apart.emplace(*pages, arguments.output, options, bar);
  Graph graph = [&] {
    std::optional<InterruptWatch> watch;
    if (!apart) watch.emplace(bar);  // a file may be open for writing otherwise
    try {
      return generate(arguments.kind, arguments.values, options);
    } catch (const MemoryRefusal&) {
      if (arguments.layout.may_have_pages(arguments.output, arguments.to))
        note(common,
             "--layout pages makes a graph in pages on disk, of which memory need not hold more than a part");
      throw;
    }
  }();
  check_cancelled(bar);
  const double make_ms = clock.lap();
  if (apart && apart->in_use())
    graph = apart->finish(graph, arguments.output);
  else
    save_graph(graph, {.path = arguments.output, .format = arguments.to, .pages = pages}, common, bar);
  const double write_ms = clock.lap();
  if (common.json) {
    print_json(Json{{"kind", arguments.kind},
                    {"seed", options.seed},
                    {"graph", graph_json(graph)},
                    {"output", arguments.output},
                    {"time_ms",
                     {{"generate", graph.report().read_ms},
                      {"build", graph.report().build_ms},
                      {"make", make_ms},
                      {"write", write_ms}}},
                    {"memory", memory_json(graph)}});
  } else if (arguments.output != "-" && !common.quiet) {
    fmt::print("{}: {}, {}; generated in {:.2f} s, written in {:.2f} s\n", arguments.output,
               counted(graph.vertex_count(), "vertex", "vertices"), counted(graph.arc_count(), "arc", "arcs"),
               make_ms / 1000, write_ms / 1000);
  }
}

}  // namespace

void add_generate(Command& app, Context& context) {
  Command command = app.subcommand("generate", "Make a graph: kron, uniform, grid, star and others");
  command.require_subcommand();
  for (const Generator& generator : generators()) {
    Command kind      = command.subcommand(generator.name, generator.help);
    auto    arguments = std::make_shared<GenerateArguments>();
    arguments->kind   = generator.name;
    for (const Parameter& parameter : generator.parameters) {
      const std::string help   = parameter.default_value.empty()
                                     ? parameter.help
                                     : fmt::format("{} (default: {})", parameter.help, parameter.default_value);
      Option            option = kind.option(
                     "--" + parameter.name,
                     [arguments, name = parameter.name](const std::string& value) { arguments->values[name] = value; }, help);
      if (parameter.default_value.empty()) option.required();
    }
    kind.option("OUT", arguments->output, "File to write; its suffix names the format").required();
    kind.option("--to", arguments->to, "Format of the output (default: by suffix)");
    kind.option("--seed", arguments->seed, "Same seed, same graph (default: 1)");
    kind.option("--weights", arguments->weights, "none, u32 or f32 (default: none)")
        .one_of({"none", "u32", "f32"});
    kind.option("--weight-range", arguments->weight_range, "LOW:HIGH of the weights (default: 1:64)");
    add_transform_options(kind, arguments->transform);
    arguments->layout.add_to(kind);
    kind.option("--host-memory", arguments->host_memory, "Host memory limit, e.g. 4GiB (default: what is free)");
    add_common_options(kind, context.common);
    kind.on_parsed([&context, arguments] {
      context.action = [&context, arguments] { generate_to_file(*arguments, context.common); };
    });
  }
}

}  // namespace spillway::cli
