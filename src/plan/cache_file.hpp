// Small files that spare later processes some work: what they hold can be made again, and who cannot write them
// goes on without.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace spillway {

/// spillway/NAME in XDG_CACHE_HOME or ~/.cache; empty where there is no such place.
std::string cache_path(const std::string& name);

/// What is no such file is an empty object.
nlohmann::ordered_json read_cache(const std::string& path);

/// Nothing is said of a failure.
void write_cache(const std::string& path, const nlohmann::ordered_json& cache);

}  // namespace spillway
