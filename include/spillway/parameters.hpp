// What a generator or an algorithm can be told, as text: the command line and the documentation read the same
// list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <spillway/types.hpp>

namespace spillway {

class Graph;

enum class ParameterKind {
  value,
  flag,      ///< "yes" or "no"; on the command line its bare name is a yes
  source,    ///< one vertex, under the user's id; the command line takes several and runs once for each
  vertices,  ///< a list of vertices (`ids_in_list`); on the command line the option can be repeated
};

struct Parameter {
  std::string   name;
  std::string   help;
  std::string   default_value = {};  ///< empty: the caller must give one
  ParameterKind kind          = ParameterKind::value;
};

/// Values as a person types them, by the names of the parameters.
using ParameterValues = std::map<std::string, std::string>;

/// The given values and the defaults of the rest. A name that is not in the list is Error{usage}; `owner` is who
/// takes the parameters.
ParameterValues completed(std::string_view owner, const std::vector<Parameter>& parameters,
                          const ParameterValues& given);

/// "1,5,9" as ids. An id that holds a comma or begins with @ stands in double quotes, with quotes in it doubled;
/// @FILE stands for the ids in a file. Where `graph` has a vertex of the whole text's name, that is the one.
std::vector<std::string> ids_in_list(std::string_view text, const Graph* graph = nullptr);
/// One id on each line; # starts a comment, unless `graph` has a vertex of the whole line's name.
std::vector<std::string> ids_in_file(const std::string& path, const Graph* graph = nullptr);

/// Reads values as what they should be. Every reading throws Error{usage} with the parameter, its value and what
/// is allowed; a vertex that the graph does not have is Error{bad_input}.
class Parameters {
 public:
  Parameters(std::string_view owner, const ParameterValues& values) : owner_(owner), values_(values) {}

  const std::string& text(const std::string& name) const;
  std::uint64_t      number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  double             real(const std::string& name, double least, double most) const;
  bool               yes(const std::string& name) const;
  /// One of the words in `choices`.
  const std::string& choice(const std::string& name, const std::vector<std::string>& choices) const;
  /// The vertex that the user's id names.
  Vertex vertex(const Graph& graph, const std::string& name = "source") const;
  /// Of a list of ids, each vertex once.
  std::vector<Vertex> vertex_list(const Graph& graph, const std::string& name) const;

  /// A number of vertices, at least one.
  std::uint64_t vertices(const std::string& name = "vertices") const { return number(name, 1, max_vertices); }
  /// Edges a vertex. The bound keeps its product with any number of vertices within 64 bits.
  std::uint64_t degree() const { return number("degree", 1, max_vertices); }

 private:
  std::string_view       owner_;
  const ParameterValues& values_;
};

}  // namespace spillway
