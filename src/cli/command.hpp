// What the commands share: their options, their exits, and how they speak.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/parser.hpp"
#include "store/spill_file.hpp"
#include "trace/progress_bar.hpp"

#include <spillway/graph.hpp>
#include <spillway/parameters.hpp>

namespace spillway::cli {

using Json = nlohmann::ordered_json;

/// Options that every command takes.
struct Common {
  bool json    = false;
  bool quiet   = false;
  int  threads = 0;
};

/// What the command line collected; `action` is set by the command that was named.
struct Context {
  Common                common;
  std::function<void()> action;
  std::string           taker;  ///< who takes the options, where it is not the command alone: an algorithm
};

void add_common_options(Command& command, Common& common);

/// Options of every command that opens a graph, as text until they are all there.
struct LoadArguments {
  std::string                path;
  std::string                format = "auto";
  std::string                ids    = "auto";
  std::string                source_column, target_column, weight_column, weight_type, header = "auto";
  std::optional<std::string> vertices, host_memory;
  Transform                  transform;

  void        add_to(Command& command);
  LoadOptions options(const Common& common, Progress& progress) const;
};

/// The help of a parameter, and what it is if it is left out.
std::string with_default(const Parameter& parameter);

/// Names of the formats that are read, or of those that are written.
std::vector<std::string> format_names(bool written = false);

void add_transform_options(Command& command, Transform& transform);

/// "--host-memory 4GiB" as bytes; nothing given is 0.
std::uint64_t size_argument(const std::string& option, const std::optional<std::string>& text,
                            std::uint64_t least = 1);

/// A whole number of an option, from `least` on; anything else is Error{usage}.
std::uint64_t number_argument(const std::string& option, const std::string& text, std::uint64_t least = 0);

/// The version of all objects that --json prints (docs/json.md): a field that goes or changes its meaning makes a
/// new one, a field that is added does not.
inline constexpr int json_schema = 1;

/// One object on standard output, with the schema's version and the notes that were made. What is not UTF-8 in it
/// is replaced, never an error.
void print_json(const Json& document);
/// The object of an error.
std::string error_json(const std::string& kind, int exit, const std::string& message);
/// The object that --json prints of an error, unless an object was printed already.
void print_error_json(const std::string& kind, int exit, const std::string& message);

/// A line on standard error, after what standard output was told before. It never fails: nobody may be there to
/// read it.
void complain(const std::string& line);

/// A warning tells of a loss, which --quiet does not hide.
void warn(const std::string& text);

/// One line on standard error, unless --quiet.
void note(const Common& common, const std::string& text);
void note_all(const Common& common, const std::vector<std::string>& notes);

/// Where a graph is written to.
struct GraphPlace {
  std::string                       path;
  std::string                       format = "auto";
  std::optional<std::string>        id_map = {};  ///< file for the user's id of every vertex
  std::optional<store::PageOptions> pages  = {};  ///< edges in pages; none: in rows
};

/// How a .spill file is to hold the graph.
struct LayoutArguments {
  std::string                layout = "auto", record_ids, order = "ids";
  std::optional<std::string> page_size, stripe;
  bool                       compress = false;

  void add_to(Command& command);
  /// Whether the file may have pages though they were not asked for: where memory does not hold the graph.
  bool may_have_pages(const std::string& output, const std::string& format) const;
  /// Whether edges are to stay in the order of the input; Error{usage} where the format has no place for them.
  bool edges(const std::string& output, const std::string& format) const;
  /// Such pages.
  static store::PageOptions pages_beyond_memory() { return {.compressed = true}; }
  /// Pages, if they are asked for; Error{usage} where the format has none, or options do not go together.
  std::optional<store::PageOptions> pages(const std::string& output, const std::string& format) const;

 private:
  std::vector<std::string> stripe_folders() const;
};

/// The user's id of every vertex, one a line.
void write_id_map(const IdMap& ids, std::uint64_t vertices, OutputFile& file);

/// Writes a graph and says what the format could not hold.
void save_graph(const Graph& graph, const GraphPlace& place, const Common& common, Progress& progress);

/// The graph as the "graph" object of --json.
Json graph_json(const Graph& graph);

/// The "memory" object of --json: what was counted against the budget at most, and what the process held of the
/// machine's memory at most, mapped files included.
Json memory_json(const Graph& graph);
Json memory_json(const MemoryBudget& budget);

/// Where the file is mapped, which the budget does not count: ", 1.2 GiB resident at most"; else nothing.
std::string words_on_residence(const Graph& graph);

/// The most physical memory that this process has held, in bytes.
std::uint64_t resident_peak();

/// A bar that draws when standard error is a terminal and nothing asked for silence.
ProgressBar progress_bar(const Common& common);

void                     add_build(Command& app, Context& context);
void                     add_convert(Command& app, Context& context);
void                     add_generate(Command& app, Context& context);
void                     add_info(Command& app, Context& context);
void                     add_verify(Command& app, Context& context);
void                     add_devices(Command& app, Context& context);
std::vector<std::string> add_plan(Command& app, Context& context, std::vector<std::string> words);
/// `words` are those after the program's name: options depend on the algorithm they name. Returns those to parse.
std::vector<std::string> add_run(Command& app, Context& context, std::vector<std::string> words);
void                     add_algorithms(Command& app, Context& context);
/// `help`, `man` and `completions`; `parser` describes all commands when one of them is run.
void add_help(Command& app, Context& context, const Parser& parser);
/// `help X` is `X --help`, and --help-all is --help with the options for study.
std::vector<std::string> help_spelled_out(std::vector<std::string> words, Parser& parser);

}  // namespace spillway::cli
