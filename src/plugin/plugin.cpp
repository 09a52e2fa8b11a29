#include <spillway/plugin.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

using PluginFunction = const char* (*)(const char* host_abi, void* list);

/// A loaded library; unloaded again unless it is kept.
struct Unload {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, Unload>;

constexpr std::string_view build_again = "build it again with `spillway build`";

struct Names {
  std::string path;
  std::string algorithm;  ///< empty: the only one
};

/// "PATH" or "PATH:NAME". A file whose own name has a colon is a path.
Names split(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos || file_exists(text))
    return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void check_file(const std::string& path) {
  constexpr std::string_view magic = "\177ELF";
  std::string                start(magic.size(), '\0');
  if (!file_exists(path) || is_regular_file(path)) {
    const FileHandle file = open_for_reading(path);
    if (file_size(file, path) >= start.size()) read_at(file, path, 0, start.data(), start.size());
  }
  if (start != magic)
    throw bad_input("{}: not a shared object; `spillway build` makes one from a C++ source file", path);
}

/// What the system says of a library that it cannot load, with what it probably means.
Error cannot_load(const std::string& path) {
  const std::string reason = dlerror();
  const bool        stale =
      reason.find("libspillway.so") != std::string::npos || reason.find("undefined symbol") != std::string::npos;
  return bad_input("{}: cannot load it: {}{}", path, reason,
                   stale ? fmt::format("; if it was built for another Spillway, {}", build_again) : std::string{});
}

/// The system's loader lets no exception through: one that is thrown while a library starts ends the process.
/// While this lives, it ends with a word on whose exception it was.
class NamedEnd {
 public:
  explicit NamedEnd(const std::string& path) : before_(std::set_terminate(end)) { loading = &path; }
  NamedEnd(const NamedEnd&)            = delete;
  NamedEnd& operator=(const NamedEnd&) = delete;
  ~NamedEnd() { std::set_terminate(before_); }

 private:
  [[noreturn]] static void end() {
    const std::string text = fmt::format("error: {}: it threw an exception while it was loaded\n", *loading);
    std::fputs(text.c_str(), stderr);
    std::_Exit(static_cast<int>(ExitCode::bad_input));
  }

  static inline const std::string* loading = nullptr;  ///< under the lock of load_plugin_algorithms
  std::terminate_handler           before_;
};

Library open_library(const std::string& path) {
  check_file(path);
  // Without a slash the system would look in its own folders.
  const std::string whole = std::filesystem::absolute(path).string();
  const NamedEnd    end{path};
  Library           library{dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (!library) throw cannot_load(path);
  return library;
}

/// What the plug-in hands over, once both sides agree on what they hand over.
std::vector<Algorithm> offered(const Library& library, const std::string& path) {
  const auto ask = reinterpret_cast<PluginFunction>(dlsym(library.get(), "spillway_plugin"));
  if (!ask)
    throw bad_input(
        "{}: not a Spillway plug-in; its source needs one line SPILLWAY_PLUGIN(...) that says what it "
        "offers (spillway/plugin.hpp)",
        path);
  std::vector<Algorithm> algorithms;
  std::string            abi;
  try {
    abi = ask(SPILLWAY_ABI, &algorithms);
  } catch (const std::exception& error) {  // its code may lie in the library, which is about to go
    throw bad_input("{}: cannot say what it offers: {}", path, error.what());
  } catch (...) {
    throw bad_input("{}: cannot say what it offers: it threw something that is no std::exception", path);
  }
  if (abi != SPILLWAY_ABI)
    throw bad_input("{}: built for Spillway {}, and this is {}; {}", path, printable(abi, 80), SPILLWAY_ABI,
                    build_again);
  return algorithms;
}

/// A word that the command line can take as an option.
bool is_option_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), fits);
}

/// Parameters and columns are told apart by their names.
void check_names(const Algorithm& algorithm, const std::string& path) {
  const auto add = [&](std::vector<std::string>& taken, const std::string& name, std::string_view what) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end())
      throw bad_input("{}: '{}' has two {} '{}'", path, algorithm.name, what, printable(name));
    taken.push_back(name);
  };
  std::vector<std::string> parameters, columns{"vertex"};
  for (const Parameter& parameter : algorithm.parameters) {
    if (!is_option_name(parameter.name))
      throw bad_input("{}: '{}' is no name for a parameter of '{}': letters, digits, - and _", path,
                      printable(parameter.name), algorithm.name);
    add(parameters, parameter.name, "parameters");
  }
  for (const ColumnInfo& column : algorithm.columns) add(columns, column.name, "columns");
}

void check_offer(const std::vector<Algorithm>& offer, const std::string& path) {
  if (offer.empty()) throw bad_input("{}: offers no algorithm", path);
  std::vector<std::string> taken;
  for (const Algorithm& algorithm : algorithms()) taken.push_back(algorithm.name);
  for (const Algorithm& algorithm : offer) {
    if (algorithm.name.empty() || !algorithm.run)
      throw bad_input("{}: an algorithm without {}", path,
                      algorithm.name.empty() ? "a name" : "a function to run");
    if (std::find(taken.begin(), taken.end(), algorithm.name) != taken.end())
      throw bad_input("{}: there is an algorithm '{}' already; give this one another name", path, algorithm.name);
    taken.push_back(algorithm.name);
    check_names(algorithm, path);
  }
}

}  // namespace

bool is_plugin_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".so") ||
         text.find(".so:") != std::string_view::npos;
}

std::span<const Algorithm> load_plugin_algorithms(const std::string& path) {
  static std::mutex                                  mutex;
  static std::map<void*, std::span<const Algorithm>> loaded;
  const std::scoped_lock                             lock{mutex};
  Library                                            library = open_library(path);
  if (const auto known = loaded.find(library.get()); known != loaded.end()) return known->second;
  std::vector<Algorithm> offer = offered(library, path);
  check_offer(offer, path);
  void* const handle = library.release();  // from here on the registry points into it
  const auto  first  = algorithms().size();
  for (Algorithm& algorithm : offer) add_algorithm(std::move(algorithm));
  return loaded[handle] = std::span{algorithms()}.subspan(first);
}

const Algorithm& load_plugin(const std::string& path) {
  const Names              names = split(path);
  const auto               all   = load_plugin_algorithms(names.path);
  std::vector<std::string> offers;
  for (const Algorithm& algorithm : all) {
    if (algorithm.name == names.algorithm || (names.algorithm.empty() && all.size() == 1)) return algorithm;
    offers.push_back(algorithm.name);
  }
  if (names.algorithm.empty())
    throw usage_error("{} offers several algorithms ({}); say which, as in {}:{}", names.path, joined(offers),
                      names.path, offers.front());
  throw usage_error("{} offers no '{}'; {}", names.path, printable(names.algorithm),
                    advice(names.algorithm, offers));
}

}  // namespace spillway
