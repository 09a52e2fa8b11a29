// The text values of a generator's parameters, read as what they should be.
#pragma once

#include <string_view>

#include <spillway/generate.hpp>

namespace spillway {

/// Every reading throws Error{usage} with the parameter, its value and what is allowed.
class Parameters {
 public:
  Parameters(std::string_view kind, const GeneratorValues& values) : kind_(kind), values_(values) {}

  std::uint64_t number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  double        real(const std::string& name, double least, double most) const;
  bool          yes(const std::string& name) const;

  /// A number of vertices, at least one.
  std::uint64_t vertices(const std::string& name = "vertices") const { return number(name, 1, max_vertices); }
  /// Edges a vertex. The bound keeps its product with any number of vertices within 64 bits.
  std::uint64_t degree() const { return number("degree", 1, max_vertices); }

 private:
  const std::string& text(const std::string& name) const;

  std::string_view       kind_;
  const GeneratorValues& values_;
};

}  // namespace spillway
