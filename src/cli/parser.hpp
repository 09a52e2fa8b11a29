// The parser of the command line. CLI11 stays behind it: wherever its headers are seen, seconds of compiling go
// by.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spillway::cli {

class HelpFormatter;

/// The heading of options that few need: help leaves them to --help-all.
inline constexpr const char* for_study = "Options for study";

/// An option that was added to a command; what it takes can be narrowed down.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& one_of(std::vector<std::string> words);
  Option& between(int least, int most);
  Option& group(const std::string& heading);
  /// What help shows for its value.
  Option& value_name(const std::string& name);

 private:
  CLI::Option* option_;
};

/// A command and its options. Copies are of the same command, which the parser owns.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command subcommand(const std::string& name, const std::string& help);
  void    require_subcommand();
  void    footer(const std::string& text);
  /// Called when the command was named and all its words are understood.
  void on_parsed(std::function<void()> action);

  /// A name without dashes is a word by its place. The target must live until all is parsed.
  Option option(const std::string& names, std::string& target, const std::string& help);
  Option option(const std::string& names, std::optional<std::string>& target, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  Option option(const std::string& names, int& target, const std::string& help);
  Option option(const std::string& names, unsigned& target, const std::string& help);
  Option option(const std::string& names, const std::function<void(const std::string&)>& take,
                const std::string& help);
  /// Can be given several times, with one value each.
  Option repeatable(const std::string& names, std::function<void(const std::string&)> take,
                    const std::string& help);
  Option flag(const std::string& names, bool& target, const std::string& help);
  void   remove_option(const std::string& name);

  std::string name() const;
  bool        has_option(const std::string& name) const;
  /// Of an option that there is: whether a value must follow.
  bool takes_value(const std::string& name) const;
  bool was_given(const std::string& name) const;

 private:
  CLI::App* app_;
};

/// A command as help, the manual page and completions show it.
struct CommandInfo {
  struct OptionInfo {
    std::string names;  ///< "-o,--output", or of a word by its place "GRAPH"
    std::string value;  ///< what follows it; empty: nothing does
    std::string help;
    bool        for_study = false;
    bool        by_place  = false;
  };

  std::string              name, help;
  std::vector<OptionInfo>  options;
  std::vector<CommandInfo> commands;
};

class Parser {
 public:
  Parser(const std::string& name, const std::string& description, const std::string& version);
  ~Parser();

  Command     root();
  std::string help() const;
  CommandInfo description() const;
  bool        has_command(const std::string& name) const;
  /// Help shows options for study, too.
  void show_all();
  /// Nothing where all was understood. Otherwise help or a complaint has been printed, and the program is to end
  /// with this code. `taker`: who takes the options, where it is not the command alone.
  std::optional<int> parse(std::vector<std::string> words, const std::string& taker);

 private:
  std::unique_ptr<CLI::App>      app_;
  std::shared_ptr<HelpFormatter> formatter_;
};

}  // namespace spillway::cli
