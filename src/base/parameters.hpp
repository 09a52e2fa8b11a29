// The text values of parameters, completed from their list and read as what they should be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <spillway/parameters.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// The given values and the defaults of the rest. A name that is not in the list, or a value that is missing, is
/// Error{usage}; `owner` is who takes the parameters.
ParameterValues completed(std::string_view owner, const std::vector<Parameter>& parameters,
                          const ParameterValues& given);

/// Every reading throws Error{usage} with the parameter, its value and what is allowed.
class Parameters {
 public:
  Parameters(std::string_view owner, const ParameterValues& values) : owner_(owner), values_(values) {}

  std::uint64_t number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  double        real(const std::string& name, double least, double most) const;
  bool          yes(const std::string& name) const;

  /// A number of vertices, at least one.
  std::uint64_t vertices(const std::string& name = "vertices") const { return number(name, 1, max_vertices); }
  /// Edges a vertex. The bound keeps its product with any number of vertices within 64 bits.
  std::uint64_t degree() const { return number("degree", 1, max_vertices); }

 private:
  const std::string& text(const std::string& name) const;

  std::string_view       owner_;
  const ParameterValues& values_;
};

}  // namespace spillway
