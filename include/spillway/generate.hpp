// Graphs made from a few numbers. A kind, its parameters and a seed give the same graph on every machine,
// whatever the number of threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/graph.hpp>
#include <spillway/parameters.hpp>

namespace spillway {

class RowSink;

struct GenerateOptions {
  std::uint64_t seed        = 1;
  Transform     transform   = {};
  WeightType    weight_type = WeightType::none;
  double        weight_min  = 1;
  double        weight_max  = 64;     ///< may occur with u32; f32 weights stay below it
  std::uint64_t host_memory = 0;      ///< bytes that generating may hold; 0: what the machine has free
  bool          in_edges    = false;  ///< they will be asked for: a graph that leaves no room for them is refused
  bool          edges       = false;  ///< without rows, in the order that they are made in
  int           threads     = 0;      ///< 0: all cores
  Progress*     progress    = nullptr;
  /// Takes the rows of a graph that memory does not hold, of which all but the rows is then returned.
  RowSink* rows = nullptr;
};

struct Generator {
  std::string            name;
  std::string            help;
  std::vector<Parameter> parameters;
  /// Wants a value for every parameter; `generate` below fills in the defaults.
  std::function<Graph(const ParameterValues&, const GenerateOptions&)> make;
};

/// Every kind there is; the command line and the documentation read this list.
const std::vector<Generator>& generators();

/// A kind or parameter that does not exist, or a value out of range, is Error{usage}.
Graph generate(const std::string& kind, const ParameterValues& values, const GenerateOptions& options = {});

}  // namespace spillway
