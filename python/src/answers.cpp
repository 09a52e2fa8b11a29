#include "answers.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/plugin.hpp>

#include "base/fail.hpp"
#include "base/id_lists.hpp"
#include "convert.hpp"
#include "devices/devices.hpp"
#include "io/result_writer.hpp"
#include "work.hpp"

namespace spillway::python {
namespace {

const char* word_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::flag:
      return "flag";
    case ParameterKind::source:
      return "source";
    case ParameterKind::vertices:
      return "vertices";
    case ParameterKind::value:
      break;
  }
  return "value";
}

const char* word_of(ColumnOrder order) {
  switch (order) {
    case ColumnOrder::smallest_first:
      return "smallest";
    case ColumnOrder::by_group:
      return "groups";
    case ColumnOrder::largest_first:
      break;
  }
  return "largest";
}

nb::dict described(const Algorithm& algorithm) {
  nb::list parameters, columns;
  for (const Parameter& each : algorithm.parameters)
    parameters.append(nb::make_tuple(each.name, each.help, each.default_value, word_of(each.kind)));
  for (const ColumnInfo& each : algorithm.columns)
    columns.append(nb::make_tuple(each.name, each.meaning, word_of(each.order)));
  nb::dict facts;
  facts["name"]          = algorithm.name;
  facts["summary"]       = algorithm.summary;
  facts["reference"]     = algorithm.reference;
  facts["parameters"]    = parameters;
  facts["columns"]       = columns;
  facts["makes_a_graph"] = algorithm.makes_a_graph;
  facts["on_gpu"]        = algorithm.on_gpu;
  facts["needs_weights"] = algorithm.weights == WeightUse::needed;
  facts["aliases"]       = algorithm.aliases;
  return facts;
}

nb::list described_algorithms() {
  nb::list all;
  for (const Algorithm& each : algorithms()) all.append(described(each));
  return all;
}

nb::list load(const std::string& path) {
  nb::list all;
  for (const Algorithm& each : load_plugin_algorithms(path)) all.append(described(each));
  return all;
}

/// Values as a person types them: each is a string, or a list of them, which are ids of vertices.
ParameterValues values_of(const nb::dict& given) {
  ParameterValues values;
  for (const auto& [name, value] : given) {
    const bool listed = nb::isinstance<nb::list>(value);
    nb::list   strings;
    if (listed)
      strings = nb::borrow<nb::list>(value);
    else
      strings.append(value);
    const Names names = names_of(strings);
    values[nb::cast<std::string>(name)] =
        listed ? list_of({names.views.begin(), names.views.end()}) : std::string{names.views.front()};
  }
  return values;
}

RunOptions run_options(const nb::dict& options, const Algorithm& algorithm) {
  RunOptions run;
  run.threads       = option(options, "threads", 0);
  run.deterministic = option(options, "deterministic", false);
  run.device        = device_choice(option<std::string>(options, "device", "auto"), algorithm);
  run.device.memory = size_option(options, "device_memory");
  run.method        = method_named(option<std::string>(options, "method", "auto"));
  run.leave_answer  = true;
  return run;
}

using SharedResult = std::shared_ptr<Result>;

/// What an algorithm has answered. Arrays that Python has of it keep it alive.
struct Answer {
  SharedResult                  result;
  std::shared_ptr<MemoryBudget> budget;
  std::shared_ptr<std::mutex>   fetching;  ///< what a GPU has left there
};

Answer run(const Graph& graph, const std::string& name, const nb::dict& given, const nb::dict& options,
           nb::handle tick) {
  const Algorithm&      algorithm = algorithm_named(name);
  const ParameterValues values    = completed_parameters(algorithm, values_of(given));
  return work(tick,
              [&algorithm, graph, values, how = run_options(options, algorithm)](Progress& progress) mutable {
                how.progress      = &progress;
                const auto result = std::make_shared<Result>(algorithm.run(graph, values, how));
                check_columns(*result, graph, algorithm.name);  // a plug-in may have made them
                return Answer{result, graph.budget(), std::make_shared<std::mutex>()};
              });
}

/// Whether the entries that stand for something are small enough for a signed type of the same width.
template <class T>
bool has_room_for_sign(std::span<const T> values) {
  constexpr T none = std::numeric_limits<T>::max();
  return std::all_of(values.begin(), values.end(), [](T value) { return value == none || value <= none / 2; });
}

/// The largest value stands for none, which is -1 in the signed type of the same bits.
template <class T>
nb::object with_none(const Array<T>& values, const SharedResult& keeper) {
  using Signed = std::make_signed_t<T>;
  if (has_room_for_sign(values.span()) || sizeof(T) == sizeof(std::int64_t))
    return array_of(std::span{reinterpret_cast<const Signed*>(values.data()), values.size()}, keeper);
  std::vector<std::int64_t> wide(values.size());
  std::transform(values.begin(), values.end(), wide.begin(), [](T value) {
    return value == std::numeric_limits<T>::max() ? -1 : static_cast<std::int64_t>(value);
  });
  return array_of(std::move(wide));
}

template <class T>
nb::object with_infinity(const Array<T>& values) {
  std::vector<double> wide(values.size());
  std::transform(values.begin(), values.end(), wide.begin(), [](T value) {
    return value == std::numeric_limits<T>::max() ? std::numeric_limits<double>::infinity()
                                                  : static_cast<double>(value);
  });
  return array_of(std::move(wide));
}

nb::object entries_of(const Column& column, const SharedResult& keeper) {
  return std::visit(
      [&]<class T>(const Array<T>& values) -> nb::object {
        if constexpr (std::is_integral_v<T>) {
          if (column.vertices || column.missing == Missing::blank) return with_none(values, keeper);
          if (column.missing == Missing::infinite) return with_infinity(values);
        }
        return array_of(values.span(), keeper);
      },
      column.values);
}

/// (name, whether its entries are vertices) of each column.
nb::list columns_of(const Answer& answer) {
  nb::list all;
  for (const Column& column : answer.result->columns) all.append(nb::make_tuple(column.name, column.vertices));
  return all;
}

/// The i-th, which comes to the host now if a GPU has left it there.
nb::object column_of(const Answer& answer, std::size_t i) {
  Column& column = answer.result->columns.at(i);
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock       lock{*answer.fetching};
    fetch(column, answer.budget);
  }
  return entries_of(column, answer.result);
}

/// Where a GPU has left the i-th.
std::shared_ptr<const ColumnOnDevice> left_of(const Answer& answer, std::size_t i) {
  const nb::gil_scoped_release released;
  const std::scoped_lock       lock{*answer.fetching};
  return answer.result->columns.at(i).on_device;
}

/// The i-th where a GPU has left it, for those who know DLPack; None: it is on the host. Entries that stand for
/// none, and numbers of vertices, are -1 and fit a signed type where there are no more vertices than that has
/// numbers.
nb::object column_on_gpu(const Answer& answer, std::size_t i) {
  const Column& column = answer.result->columns.at(i);
  const auto    there  = left_of(answer, i);
  if (!there) return nb::none();
  const bool is_signed = (column.vertices || column.missing == Missing::blank) && there->size() <= std::uint64_t{1}
                                                                                                       << 31;
  using Keeper = std::shared_ptr<const ColumnOnDevice>;
  const nb::capsule owner{new Keeper{there}, [](void* held) noexcept { delete static_cast<Keeper*>(held); }};
  const auto        array = [&]<class T>(T) {
    return nb::cast(nb::ndarray<nb::array_api, T, nb::ndim<1>, nb::device::cuda>{const_cast<void*>(there->data()),
                                                                                 {there->size()},
                                                                                 owner,
                                                                                 {},
                                                                                 nb::dtype<T>(),
                                                                                 nb::device::cuda::value,
                                                                                 there->device()});
  };
  return std::visit(
      [&]<class T>(const Array<T>&) {
        if constexpr (std::is_integral_v<T>)
          if (is_signed) return array(std::make_signed_t<T>{});
        return array(T{});
      },
      column.values);
}

nb::dict facts_of(const Result& result) {
  nb::dict facts;
  for (const Fact& fact : result.facts)
    std::visit([&](const auto& value) { facts[text_of(fact.name)] = value; }, fact.value);
  return facts;
}

nb::dict statistics_of(const Result& result) {
  const RunStatistics& of = result.statistics;
  nb::dict             all;
  all["seconds"]          = of.run_ms / 1000;
  all["prepare_seconds"]  = of.prepare_ms / 1000;
  all["transfer_seconds"] = of.transfer_ms / 1000;
  all["device"]           = of.device;
  all["method"]           = of.method;
  all["iterations"]       = of.iterations;
  all["edges_processed"]  = of.edges_processed;
  all["device_bytes"]     = of.device_bytes;
  all["note"]             = of.device_note;
  return all;
}

nb::dict candidate_of(const PlanCandidate& each) {
  nb::dict facts;
  facts["device"]           = each.device;
  facts["method"]           = std::string{each.method->name};
  facts["compressed"]       = each.compressed;
  facts["asynchronous"]     = each.asynchronous;
  facts["prepare_seconds"]  = each.prepare_ms / 1000;
  facts["transfer_seconds"] = each.transfer_ms / 1000;
  facts["compute_seconds"]  = each.compute_ms / 1000;
  facts["seconds"]          = each.run_ms / 1000;
  facts["device_bytes"]     = each.device_bytes;
  facts["bus_bytes"]        = each.bus_bytes;
  facts["excluded"]         = each.excluded;
  return facts;
}

nb::dict plan(const Graph& graph, const std::string& name, const nb::dict& given, const nb::dict& options,
              nb::handle tick) {
  const Algorithm&      algorithm = algorithm_named(name);
  const ParameterValues values    = completed_parameters(algorithm, values_of(given));
  const Plan            found =
      work(tick, [&algorithm, graph, values, how = run_options(options, algorithm)](Progress& progress) mutable {
        how.progress = &progress;
        how.explain  = true;
        return plan_of(algorithm, graph, values, how);
      });
  nb::list candidates;
  for (const PlanCandidate& each : found.candidates) candidates.append(candidate_of(each));
  nb::dict facts;
  facts["device"]       = found.device;
  facts["method"]       = found.method;
  facts["compressed"]   = found.compressed;
  facts["why"]          = found.why;
  facts["state_bytes"]  = found.state_bytes;
  facts["state_chunks"] = found.state_chunks;
  facts["edge_bytes"]   = found.edge_bytes;
  facts["candidates"]   = candidates;
  return facts;
}

nb::list described_devices() {
  nb::list   all;
  const auto add = [&](const DeviceInfo& device) {
    nb::dict facts;
    facts["name"]         = device.name;
    facts["model"]        = device.model;
    facts["memory_total"] = device.memory_total;
    facts["memory_free"]  = device.memory_free;
    facts["cores"]        = device.cores;
    all.append(facts);
  };
  add(cpu_device());
  for (const DeviceInfo& device : cuda_devices().devices) add(device);
  return all;
}

}  // namespace

void add_answers(nb::module_& module) {
  nb::class_<Answer>(module, "Answer")
      .def_prop_ro("columns", &columns_of)
      .def("column", &column_of)
      .def("column_on_gpu", &column_on_gpu)
      .def("is_on_gpu", [](const Answer& answer, std::size_t i) { return left_of(answer, i) != nullptr; })
      .def_prop_ro("facts", [](const Answer& answer) { return facts_of(*answer.result); })
      .def_prop_ro("statistics", [](const Answer& answer) { return statistics_of(*answer.result); })
      .def_prop_ro("graph", [](const Answer& answer) -> nb::object {
        return answer.result->graph ? nb::cast(*answer.result->graph) : nb::none();
      });
  module.def("algorithms", &described_algorithms);
  module.def("load_plugin", &load);
  const auto ticks = nb::arg("tick").none();
  module.def("run", &run, nb::arg("graph"), nb::arg("algorithm"), nb::arg("values"), nb::arg("options"), ticks);
  module.def("plan", &plan, nb::arg("graph"), nb::arg("algorithm"), nb::arg("values"), nb::arg("options"), ticks);
  module.def("devices", &described_devices);
}

}  // namespace spillway::python
