#include "cli/parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace spillway::cli {

Option& Option::required() { return option_->required(), *this; }
Option& Option::one_of(std::vector<std::string> words) {
  return option_->check(CLI::IsMember(std::move(words))), *this;
}
Option& Option::between(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::group(const std::string& heading) { return option_->group(heading), *this; }
Option& Option::value_name(const std::string& name) { return option_->type_name(name), *this; }

Command Command::subcommand(const std::string& name, const std::string& help) {
  return Command{app_->add_subcommand(name, help)};
}
void Command::require_subcommand() { app_->require_subcommand(1); }
void Command::footer(const std::string& text) { app_->footer(text); }
void Command::on_parsed(std::function<void()> action) { app_->callback(std::move(action)); }

Option Command::option(const std::string& names, std::string& target, const std::string& help) {
  return Option{app_->add_option(names, target, help)};
}
Option Command::option(const std::string& names, std::optional<std::string>& target, const std::string& help) {
  return Option{app_->add_option(names, target, help)};
}
Option Command::option(const std::string& names, std::vector<std::string>& target, const std::string& help) {
  return Option{app_->add_option(names, target, help)};
}
Option Command::option(const std::string& names, int& target, const std::string& help) {
  return Option{app_->add_option(names, target, help)};
}
Option Command::option(const std::string& names, unsigned& target, const std::string& help) {
  return Option{app_->add_option(names, target, help)};
}
Option Command::option(const std::string& names, const std::function<void(const std::string&)>& take,
                       const std::string& help) {
  return Option{app_->add_option_function<std::string>(names, take, help)};
}
Option Command::repeatable(const std::string& names, std::function<void(const std::string&)> take,
                           const std::string& help) {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& values) {
    for (const std::string& value : values) take(value);
  };
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>(names, take_all, help);
  // What follows the value may be a word by its place.
  return Option{option->expected(1)->take_all()->allow_extra_args(false)->type_name("TEXT")};
}
Option Command::flag(const std::string& names, bool& target, const std::string& help) {
  return Option{app_->add_flag(names, target, help)};
}
void Command::remove_option(const std::string& name) { app_->remove_option(app_->get_option(name)); }

std::string Command::name() const { return app_->get_name(); }
bool Command::has_option(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }
bool Command::takes_value(const std::string& name) const { return app_->get_option(name)->get_expected_min() > 0; }
bool Command::was_given(const std::string& name) const { return app_->count(name) > 0; }

namespace {

std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

/// The command that was being parsed when an error came up.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.back());
}

/// The likeliest cause of whatever else is missing is a word that no option takes: it is named, and what was
/// probably meant.
std::string unknown_word(const CLI::App& command, const std::string& taker, const std::string& word) {
  const auto near = nearest_word(word, words_of(command));
  // --source-column is not what --source was meant to be.
  const bool        meant = near && !near->starts_with(word + "-");
  const std::string hint  = meant ? fmt::format(" (did you mean '{}'?)", *near) : std::string{};
  if (!taker.empty()) return fmt::format("{} takes no {}{}", taker, printable(word), hint);
  const char* const what = word.starts_with('-') ? "option" : command.get_parent() ? "argument" : "command";
  return fmt::format("unknown {} '{}'{}", what, printable(word), hint);
}

/// CLI11 counts the values of an option; a person forgot one, or repeated the option.
std::string mismatch(const std::string& text) {
  const std::string option = text.substr(0, text.find(':'));
  return fmt::format("{} {}", option,
                     text.find("At Most") != std::string::npos ? "is given twice" : "needs a value");
}

std::string message_of(const CLI::App& command, const std::string& taker, const CLI::ParseError& error) {
  const auto unknown = command.remaining();
  if (!unknown.empty()) return unknown_word(command, taker, unknown.front());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return mismatch(error.what());
  return error.what();
}

int usage_exit(const CLI::App& app, const std::string& taker, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    app.exit(error);
    if (std::cout.flush().fail()) throw system_error("write", "standard output");
    return 0;
  }
  const CLI::App& command = deepest(app);
  std::string     name    = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
    name.insert(0, parent->get_name() + " ");
  if (!taker.empty()) name += " " + taker;
  throw usage_error("{}\n`{} --help` lists what it takes.", message_of(command, taker, error), name);
}

}  // namespace

/// An algorithm's own options come first; those for study only where all are asked for.
class HelpFormatter : public CLI::Formatter {
 public:
  bool all = false;

  std::string make_positionals(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_positionals(app);
    for (const std::string& group : app->get_groups())
      if (is_own(group))
        text += CLI::Formatter::make_group(group, false, app->get_options([&](const CLI::Option* option) {
          return option->get_group() == group && option->nonpositional();
        }));
    return text;
  }

  std::string make_group(std::string group, bool by_place,
                         std::vector<const CLI::Option*> options) const override {
    if (is_own(group) || (group == for_study && !all)) return {};
    return CLI::Formatter::make_group(group, by_place, options);
  }

 private:
  static bool is_own(const std::string& group) { return group.starts_with("Options of "); }
};

namespace {

CommandInfo::OptionInfo option_info(const CLI::Option& option) {
  const bool by_place = option.get_positional();
  return {.names     = by_place ? option.get_name(true) : option.get_name(false, true),
          .value     = option.get_expected_min() > 0 ? option.get_type_name() : "",
          .help      = option.get_description(),
          .for_study = option.get_group() == for_study,
          .by_place  = by_place};
}

CommandInfo command_info(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(), .help = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options()) info.options.push_back(option_info(*option));
  for (const CLI::App* command : app.get_subcommands({})) info.commands.push_back(command_info(*command));
  return info;
}

}  // namespace

Parser::Parser(const std::string& name, const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)), formatter_(std::make_shared<HelpFormatter>()) {
  formatter_->column_width(32);
  app_->formatter(formatter_);
  app_->set_version_flag("--version", name + " " + version);
  app_->require_subcommand(1);
}
Parser::~Parser() = default;

Command     Parser::root() { return Command{app_.get()}; }
std::string Parser::help() const { return app_->help(); }
CommandInfo Parser::description() const { return command_info(*app_); }
void        Parser::show_all() { formatter_->all = true; }

bool Parser::has_command(const std::string& name) const {
  const auto commands =
      app_->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return !commands.empty();
}

std::optional<int> Parser::parse(std::vector<std::string> words, const std::string& taker) {
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return usage_exit(*app_, taker, error);
  }
  return std::nullopt;
}

}  // namespace spillway::cli
