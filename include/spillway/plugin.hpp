// Algorithms from outside: what a plug-in offers, and how a program loads one. `spillway build` compiles a source
// file into a plug-in, and the command line takes its path wherever it takes the name of an algorithm.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <spillway/algorithms.hpp>
#include <spillway/api.hpp>
#include <spillway/error.hpp>
#include <spillway/version.hpp>

/// Once in a plug-in, outside all functions: the algorithms it offers, separated by commas. The one function that
/// it makes speaks C until both sides know that they were compiled against the same Spillway; only then are C++
/// objects handed over.
#define SPILLWAY_PLUGIN(...)                                                                                     \
  extern "C" SPILLWAY_API const char* spillway_plugin(const char* host_abi, void* list) {                        \
    if (std::strcmp(host_abi, SPILLWAY_ABI) == 0)                                                                \
      *static_cast<std::vector<::spillway::Algorithm>*>(list) = std::vector<::spillway::Algorithm>{__VA_ARGS__}; \
    return SPILLWAY_ABI;                                                                                         \
  }

namespace spillway {

static_assert(sizeof(Vertex) == 4, "SPILLWAY_ABI says 32-bit vertices");

/// Whether a person who writes this means a plug-in rather than the name of an algorithm.
bool is_plugin_path(std::string_view text);

/// All that a plug-in offers, added to `algorithms()`. It stays loaded as long as the process lives; loading it
/// again costs nothing, and a file that was rebuilt meanwhile is not read again. What cannot be used is
/// Error{bad_input}. Not while another thread reads the registry.
std::span<const Algorithm> load_plugin_algorithms(const std::string& path);

/// The algorithm of a plug-in that offers one, or with "PATH:NAME" one of several.
const Algorithm& load_plugin(const std::string& path);

}  // namespace spillway
