#include "graphs.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "convert.hpp"
#include "work.hpp"

namespace spillway::python {
namespace {

using InputArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// One of the words, whose places in the list are values of the enumeration.
template <class Enum>
Enum word_option(const nb::dict& options, const char* name, const std::vector<std::string>& words) {
  const auto word  = option<std::string>(options, name, words.front());
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) throw usage_error("{} is one of {}, not '{}'", name, joined(words), printable(word));
  return static_cast<Enum>(found - words.begin());
}

/// A column by its name, or by its position from 1.
std::string column_option(const nb::dict& options, const char* name) {
  const nb::handle value = PyDict_GetItemString(options.ptr(), name);
  return !value.is_valid() || value.is_none() ? "" : nb::cast<std::string>(nb::str(value));
}

LoadOptions load_options(const nb::dict& options) {
  LoadOptions load;
  load.format        = option<std::string>(options, "format", "auto");
  load.ids           = word_option<IdMode>(options, "ids", {"auto", "dense", "sparse", "string"});
  load.header        = word_option<HeaderMode>(options, "header", {"auto", "yes", "no"});
  load.source_column = column_option(options, "source");
  load.target_column = column_option(options, "target");
  load.weight_column = column_option(options, "weight");
  if (const auto vertices = option<std::int64_t>(options, "vertices", -1); vertices >= 0)
    load.vertices = static_cast<std::uint64_t>(vertices);
  if (!option<std::string>(options, "weight_type", "").empty())
    load.weight_type = word_option<WeightType>(options, "weight_type", {"none", "u32", "f32"});
  load.transform   = {.undirected = option(options, "undirected", false),
                      .symmetrize = option(options, "symmetrize", false),
                      .dedup      = option(options, "dedup", false),
                      .drop_loops = option(options, "drop_loops", false)};
  load.edges       = option(options, "edges", false);
  load.host_memory = size_option(options, "host_memory");
  load.temporary   = option<std::string>(options, "temporary", "");
  load.threads     = option(options, "threads", 0);
  return load;
}

Graph read(const std::string& path, const nb::dict& options, nb::handle tick) {
  return work(tick, [path, load = load_options(options)](Progress& progress) mutable {
    load.progress = &progress;
    return open(path, load);
  });
}

template <class T>
IdArray strided(const InputArray& array) {
  return Strided<T>{static_cast<const T*>(array.data()), array.shape(0), array.stride(0)};
}

/// Python has made one of four types of all numbers.
IdArray numbers_of(const InputArray& array) {
  if (array.dtype() == nb::dtype<std::uint32_t>()) return strided<std::uint32_t>(array);
  if (array.dtype() == nb::dtype<std::int32_t>()) return strided<std::int32_t>(array);
  if (array.dtype() == nb::dtype<std::uint64_t>()) return strided<std::uint64_t>(array);
  if (array.dtype() == nb::dtype<std::int64_t>()) return strided<std::int64_t>(array);
  throw nb::type_error("ids are whole numbers of 32 or 64 bits, or strings");
}

/// Ids of Python's, with what holds their memory.
struct HeldIds {
  std::optional<InputArray> array;
  Names                     names;

  explicit HeldIds(nb::handle ids) {
    if (nb::isinstance<nb::list>(ids))
      names = names_of(nb::borrow<nb::list>(ids));
    else
      array = nb::cast<InputArray>(ids);
  }
  IdArray view() const { return array ? numbers_of(*array) : std::span<const std::string_view>{names.views}; }
};

/// Weights as they are kept: 32 bits each, side by side.
struct HeldWeights {
  std::optional<InputArray> array;
  WeightType                type = WeightType::none;

  explicit HeldWeights(nb::handle weights) {
    if (weights.is_none()) return;
    array = nb::cast<InputArray>(weights);
    type  = array->dtype() == nb::dtype<float>() ? WeightType::f32 : WeightType::u32;
  }
  std::span<const std::uint32_t> view() const {
    if (!array) return {};
    return {static_cast<const std::uint32_t*>(array->data()), array->shape(0)};
  }
};

Graph graph_from_edges(nb::handle sources, nb::handle targets, nb::handle weights, nb::handle listed,
                       const nb::dict& options, nb::handle tick) {
  struct Input {
    HeldIds     sources, targets, listed;
    HeldWeights weights;
    LoadOptions load;
  };
  const auto input = std::make_shared<Input>(
      Input{HeldIds{sources}, HeldIds{targets}, HeldIds{listed}, HeldWeights{weights}, load_options(options)});
  return work(tick, [input](Progress& progress) {
    input->load.progress = &progress;
    return from_edges(input->sources.view(), input->targets.view(), input->weights.view(), input->weights.type,
                      input->load, input->listed.view());
  });
}

/// What vertices are called, kept when the graph is gone.
struct Ids {
  IdMap         map;
  std::uint64_t count = 0;
};

Ids ids_of(const Graph& graph) { return {graph.ids(), graph.vertex_count()}; }

/// Of vertices in an order of their own: their places among all ids are looked up.
std::vector<std::uint64_t> numbers_in_order(const Ids& ids) {
  std::vector<std::uint64_t> numbers(ids.count);
  for (std::uint64_t v = 0; v < ids.count; ++v) {
    const Vertex place = ids.map.order()[v];
    numbers[v] = ids.map.kind() == IdMap::Kind::numbers ? ids.map.number_table()[place] : ids.map.first() + place;
  }
  return numbers;
}

/// Of ids that are consecutive; none: they are not.
std::optional<std::uint64_t> first_of(const Ids& ids) {
  if (ids.map.kind() != IdMap::Kind::consecutive || !ids.map.order().empty()) return std::nullopt;
  return ids.map.first();
}

/// Where they begin, if they are consecutive; or all of them, as an array or a list of names.
nb::object table_of(const Ids& ids) {
  if (ids.map.kind() == IdMap::Kind::strings) {
    nb::list names;
    for (std::uint64_t v = 0; v < ids.count; ++v) names.append(text_of(ids.map.string(static_cast<Vertex>(v))));
    return names;
  }
  if (const auto first = first_of(ids)) return nb::int_(*first);
  if (!ids.map.order().empty()) return array_of(numbers_in_order(ids));
  return array_of(ids.map.number_table().span(), std::make_shared<const IdMap>(ids.map));
}

/// Rows of the graph as they are in memory.
nb::tuple rows_of(const Graph& graph, nb::handle tick) {
  const Csr  rows    = work(tick, [graph](Progress&) { return graph.out(); });
  const auto keeper  = std::make_shared<const Csr>(rows);
  nb::object weights = nb::none();
  if (graph.weight_type() == WeightType::f32)
    weights =
        array_of(std::span{reinterpret_cast<const float*>(rows.weights.data()), rows.weights.size()}, keeper);
  if (graph.weight_type() == WeightType::u32) weights = array_of(rows.weights.span(), keeper);
  return nb::make_tuple(array_of(rows.offsets.span(), keeper), array_of(rows.targets.span(), keeper), weights);
}

nb::dict report_of(const Graph& graph) {
  const LoadReport& report = graph.report();
  nb::dict          said;
  said["format"]     = report.format;
  said["seconds"]    = (report.read_ms + report.build_ms) / 1000;
  said["peak_bytes"] = report.peak_bytes;
  nb::list notes;
  for (const std::string& note : report.notes) notes.append(text_of(note));
  said["notes"] = notes;
  return said;
}

Graph generated(const std::string& kind, const nb::dict& given, const nb::dict& options, nb::handle tick) {
  ParameterValues values;
  for (const auto& [name, value] : given) values[nb::cast<std::string>(name)] = nb::cast<std::string>(value);
  GenerateOptions how;
  how.seed        = option<std::uint64_t>(options, "seed", how.seed);
  how.transform   = load_options(options).transform;
  how.weight_type = word_option<WeightType>(options, "weight_type", {"none", "u32", "f32"});
  how.weight_min  = option(options, "weight_min", how.weight_min);
  how.weight_max  = option(options, "weight_max", how.weight_max);
  how.host_memory = size_option(options, "host_memory");
  how.threads     = option(options, "threads", 0);
  return work(tick, [kind, values, how](Progress& progress) mutable {
    how.progress = &progress;
    return generate(kind, values, how);
  });
}

}  // namespace

void add_graphs(nb::module_& module) {
  const auto ticks   = nb::arg("tick").none();
  const auto weights = nb::arg("weights").none();
  const auto options = nb::arg("options");
  nb::class_<Graph>(module, "Graph")
      .def_prop_ro("vertex_count", &Graph::vertex_count)
      .def_prop_ro("arc_count", &Graph::arc_count)
      .def_prop_ro("symmetric", &Graph::symmetric)
      .def_prop_ro("weights", [](const Graph& graph) { return std::string{to_string(graph.weight_type())}; })
      .def_prop_ro("name", [](const Graph& graph) { return text_of(graph.name()); })
      .def_prop_ro("memory", [](const Graph& graph) { return graph.budget()->used(); })
      .def_prop_ro("report", &report_of)
      .def("ids", &ids_of)
      .def("rows", &rows_of, ticks)
      .def(
          "with_unit_weights",
          [](const Graph& graph, int threads, nb::handle tick) {
            return work(tick, [=](Progress&) { return with_unit_weights(graph, threads); });
          },
          nb::arg("threads"), ticks)
      .def(
          "with_random_weights",
          [](const Graph& graph, std::uint64_t seed, std::uint32_t least, std::uint32_t most, int threads,
             nb::handle tick) {
            return work(tick, [=](Progress&) { return with_random_weights(graph, seed, least, most, threads); });
          },
          nb::arg("seed"), nb::arg("least"), nb::arg("most"), nb::arg("threads"), ticks)
      .def(
          "save",
          [](const Graph& graph, const std::string& path, const std::string& format, nb::handle tick) {
            return work(tick, [=](Progress& progress) { return save(graph, path, format, &progress); });
          },
          nb::arg("path"), nb::arg("format"), ticks);
  nb::class_<Ids>(module, "Ids")
      .def_ro("count", &Ids::count)
      .def_prop_ro("first", &first_of)
      .def("table", &table_of);
  module.def("read", &read, nb::arg("path"), options, ticks);
  module.def("from_edges", &graph_from_edges, nb::arg("sources"), nb::arg("targets"), weights, nb::arg("listed"),
             options, ticks);
  module.def("generate", &generated, nb::arg("kind"), nb::arg("parameters"), options, ticks);
}

}  // namespace spillway::python
