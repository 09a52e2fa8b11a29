// Names of vertices that a person may have meant as something else: missing values, totals, lists, look-alikes.
#pragma once

#include <string>
#include <vector>

#include <spillway/ids.hpp>

namespace spillway {

struct OddName {
  const char* what;    ///< was guessed: ids, header
  std::string clause;  ///< of a note
};

/// The first of each sort. `comments`: a name that begins with # or % may be one.
std::vector<OddName> odd_names(const IdMap& ids, std::uint64_t vertices, bool comments);

}  // namespace spillway
