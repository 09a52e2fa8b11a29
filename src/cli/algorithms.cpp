// spillway algorithms [PLUGIN]: the registry, or what a plug-in adds to it, as a table.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

void list_algorithms(std::span<const Algorithm> listed, const Common& common) {
  if (common.json) {
    Json list = Json::array();
    for (const Algorithm& algorithm : listed) {
      Json columns = Json::array(), parameters = Json::array();
      for (const ColumnInfo& column : algorithm.columns)
        columns.push_back({{"name", column.name}, {"meaning", column.meaning}});
      for (const Parameter& parameter : algorithm.parameters)
        parameters.push_back(
            {{"name", parameter.name}, {"help", parameter.help}, {"default", parameter.default_value}});
      list.push_back({{"name", algorithm.name},
                      {"summary", algorithm.summary},
                      {"parameters", parameters},
                      {"columns", columns}});
    }
    print_json(list);
    return;
  }
  for (const Algorithm& algorithm : listed) {
    fmt::print("{:<12} {}\n", algorithm.name, algorithm.summary);
    for (const Parameter& parameter : algorithm.parameters)
      fmt::print("{:<12}   --{:<14} {} (default: {})\n", "", parameter.name, parameter.help,
                 parameter.default_value);
    for (const ColumnInfo& column : algorithm.columns)
      fmt::print("{:<12}   {:<16} {}\n", "", column.name, column.meaning);
  }
}

}  // namespace

void add_algorithms(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("algorithms", "What can be run, with parameters and result columns");
  auto  plugin  = std::make_shared<std::string>();
  command->add_option("PLUGIN", *plugin, "Only those of this plug-in");
  add_common_options(*command, context.common);
  command->callback([&context, plugin] {
    context.action = [&context, plugin] {
      list_algorithms(plugin->empty() ? algorithms() : load_plugin_algorithms(*plugin), context.common);
    };
  });
}

}  // namespace spillway::cli
