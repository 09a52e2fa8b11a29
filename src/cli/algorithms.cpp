// spillway algorithms [NAME]: the registry, one of it, or what a plug-in adds to it, as a table.
#include <fmt/format.h>

#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

Json to_json(const Algorithm& algorithm) {
  Json columns = Json::array(), parameters = Json::array();
  for (const ColumnInfo& column : algorithm.columns)
    columns.push_back({{"name", column.name}, {"meaning", column.meaning}});
  for (const Parameter& parameter : algorithm.parameters)
    parameters.push_back(
        {{"name", parameter.name}, {"help", parameter.help}, {"default", parameter.default_value}});
  return {{"name", algorithm.name},
          {"aliases", algorithm.aliases},
          {"summary", algorithm.summary},
          {"reference", algorithm.reference},
          {"on_gpu", algorithm.on_gpu},
          {"parameters", parameters},
          {"columns", columns}};
}

void print_text(const Algorithm& algorithm) {
  fmt::print("{:<12} {}{}\n", algorithm.name, algorithm.summary, algorithm.on_gpu ? " (also on a GPU)" : "");
  if (!algorithm.aliases.empty()) fmt::print("{:<12}   also: {}\n", "", joined(algorithm.aliases));
  for (const Parameter& parameter : algorithm.parameters)
    fmt::print("{:<12}   --{:<14} {}\n", "", parameter.name, with_default(parameter));
  for (const ColumnInfo& column : algorithm.columns)
    fmt::print("{:<12}   {:<16} {}\n", "", column.name, column.meaning);
}

/// All, those of a plug-in, or one by its name.
std::span<const Algorithm> listed(const std::string& name) {
  if (name.empty()) return algorithms();
  if (is_plugin_path(name)) return load_plugin_algorithms(name);
  return {&algorithm_named(name), 1};
}

void list_algorithms(const std::string& name, const Common& common) {
  Json list = Json::array();
  for (const Algorithm& algorithm : listed(name))
    common.json ? list.push_back(to_json(algorithm)) : print_text(algorithm);
  if (common.json) print_json(Json{{"algorithms", list}});
}

}  // namespace

void add_algorithms(Command& app, Context& context) {
  Command command = app.subcommand("algorithms", "What can be run, with parameters and result columns");
  auto    name    = std::make_shared<std::string>();
  command.option("NAME", *name, "Only this one, or those of a plug-in: ./mine.so");
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, name] { context.action = [&context, name] { list_algorithms(*name, context.common); }; });
}

}  // namespace spillway::cli
