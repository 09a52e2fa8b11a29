// Getting graphs in: text to rows, generator to file, looking at a stored graph.
#pragma once

#include <filesystem>
#include <functional>

#include "measure.hpp"

namespace spillway::bench {

/// Hands each entry to `add` as it is measured. Files are made in `folder`.
void measure_graphs_in(const GraphSpec& spec, const std::filesystem::path& folder, int repeats,
                       const std::function<void(Json)>& add);

}  // namespace spillway::bench
