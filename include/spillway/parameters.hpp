// What a generator or an algorithm can be told, as text: the command line and the documentation read the same
// list.
#pragma once

#include <map>
#include <string>

namespace spillway {

struct Parameter {
  std::string name;
  std::string help;
  std::string default_value;  ///< empty: the caller must give one
};

/// Values as a person types them, by the names of the parameters.
using ParameterValues = std::map<std::string, std::string>;

}  // namespace spillway
