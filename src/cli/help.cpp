// spillway help, man and completions: all made from the parser and the registry, so that they cannot differ from
// them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/version.hpp>

namespace spillway::cli {
namespace {

using Words = std::vector<std::string>;

/// Commands that take an algorithm and its options.
bool takes_algorithm(const CommandInfo& command) { return command.name == "run" || command.name == "plan"; }

// --- the manual page ---

/// roff reads dots and quotes at the start of a line, and backslashes and dashes anywhere.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string option_entry(const CommandInfo::OptionInfo& option) {
  const std::string value = option.value.empty() || option.by_place ? "" : " \\fI" + roff(option.value) + "\\fR";
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.names), value, roff(option.help));
}

std::string command_section(const CommandInfo& command, const std::string& parent) {
  const std::string name = parent.empty() ? command.name : parent + " " + command.name;
  std::string       text = fmt::format(".SS {}\n{}\n", roff(name), roff(command.help));
  for (const auto& option : command.options)
    if (!option.names.ends_with("--help")) text += option_entry(option);
  for (const CommandInfo& sub : command.commands) text += command_section(sub, name);
  return text;
}

std::string algorithm_entry(const Algorithm& algorithm) {
  std::string text = fmt::format(".SS {}\n{}\n", roff(algorithm.name), roff(algorithm.summary));
  for (const Parameter& parameter : algorithm.parameters)
    text += option_entry({.names = "--" + parameter.name, .value = "VALUE", .help = with_default(parameter)});
  return text;
}

std::string man_page(const CommandInfo& root) {
  std::string text = fmt::format(
      ".TH SPILLWAY 1 \"\" \"Spillway {}\"\n.SH NAME\nspillway \\- {}\n.SH SYNOPSIS\n.B spillway\n\\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
      SPILLWAY_VERSION, roff("graph algorithms on one machine, on the CPU and on GPUs"));
  for (const CommandInfo& command : root.commands) text += command_section(command, "");
  text += ".SH ALGORITHMS\n";
  for (const Algorithm& algorithm : algorithms()) text += algorithm_entry(algorithm);
  text +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\ninternal error\n.TP\n2\nusage\n.TP\n3\nbad input\n.TP\n4\ndoes not "
      "fit "
      "the given memory\n.TP\n5\nverification failed\n.TP\n130\ninterrupted\n";
  return text;
}

// --- completions ---

/// Every spelling of the options of a command: "-o", "--output".
Words spellings(const CommandInfo& command) {
  Words words;
  for (const auto& option : command.options) {
    if (option.by_place) continue;
    std::size_t begin = 0;
    for (;;) {
      const std::size_t comma = option.names.find(',', begin);
      words.push_back(option.names.substr(begin, comma - begin));
      if (comma == std::string::npos) break;
      begin = comma + 1;
    }
  }
  return words;
}

Words names_of(const std::vector<CommandInfo>& commands) {
  Words words;
  for (const CommandInfo& command : commands) words.push_back(command.name);
  return words;
}

Words algorithm_names() {
  Words words;
  for (const Algorithm& algorithm : algorithms()) words.push_back(algorithm.name);
  return words;
}

Words parameter_options(const Algorithm& algorithm) {
  Words words;
  for (const Parameter& parameter : algorithm.parameters) words.push_back("--" + parameter.name);
  return words;
}

std::string spaced(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// What may follow a command, as the body of a shell's `case`: bash and zsh read the same.
std::string cases(const CommandInfo& root) {
  std::string text;
  for (const CommandInfo& command : root.commands) {
    const Words subs = takes_algorithm(command) ? algorithm_names() : names_of(command.commands);
    text += fmt::format("    {}) options=\"{}\"; names=\"{}\" ;;\n", command.name, spaced(spellings(command)),
                        spaced(subs));
  }
  return text;
}

std::string algorithm_cases() {
  std::string text;
  for (const Algorithm& algorithm : algorithms())
    text +=
        fmt::format("    {}) options=\"$options {}\" ;;\n", algorithm.name, spaced(parameter_options(algorithm)));
  return text;
}

std::string bash_completions(const CommandInfo& root) {
  return fmt::format(
      R"(# bash completion of spillway: source it, or put it into ~/.local/share/bash-completion/completions/spillway
_spillway() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" options="" names=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "${{COMP_WORDS[2]}}" in
{}  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$names" ]; then
    COMPREPLY=($(compgen -W "$names" -- "$word"))
  elif [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _spillway spillway
)",
      spaced(names_of(root.commands)), cases(root), algorithm_cases());
}

std::string zsh_completions(const CommandInfo& root) {
  return "#compdef spillway\n# zsh completion of spillway: put it into a folder of $fpath as _spillway\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completions(root) + "_bash_complete -o filenames -F _spillway\n";  // for the word that loaded it
}

/// fish reads one line for each word.
std::string fish_completions(const CommandInfo& root) {
  std::string text   = "# fish completion of spillway: put it into ~/.config/fish/completions/spillway.fish\n";
  const auto  quoted = [](std::string help) {
    std::erase(help, '\'');
    return "'" + help + "'";
  };
  for (const CommandInfo& command : root.commands) {
    text += fmt::format("complete -c spillway -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted(command.help));
    const std::string here = fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    for (const std::string& word : spellings(command))
      text += fmt::format("complete -c spillway {} {} {}\n", here, word.starts_with("--") ? "-l" : "-s",
                          word.substr(word.find_first_not_of('-')));
    if (takes_algorithm(command))
      for (const Algorithm& algorithm : algorithms())
        text +=
            fmt::format("complete -c spillway {} -a {} -d {}\n", here, algorithm.name, quoted(algorithm.summary));
    for (const CommandInfo& sub : command.commands)
      text += fmt::format("complete -c spillway {} -a {} -d {}\n", here, sub.name, quoted(sub.help));
  }
  for (const Algorithm& algorithm : algorithms())
    for (const Parameter& parameter : algorithm.parameters)
      text += fmt::format("complete -c spillway -n '__fish_seen_subcommand_from {}' -l {} -d {}\n", algorithm.name,
                          parameter.name, quoted(parameter.help));
  return text;
}

}  // namespace

void add_help(Command& app, Context& context, const Parser& parser) {
  auto    shell       = std::make_shared<std::string>();
  Command completions = app.subcommand("completions", "Print completions for a shell: bash, zsh or fish");
  completions.option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  completions.on_parsed([&context, &parser, shell] {
    context.action = [&parser, shell] {
      const CommandInfo root = parser.description();
      fmt::print("{}", *shell == "bash"  ? bash_completions(root)
                       : *shell == "zsh" ? zsh_completions(root)
                                         : fish_completions(root));
    };
  });
  app.subcommand("man", "Print the manual page: spillway man | man -l -").on_parsed([&context, &parser] {
    context.action = [&parser] { fmt::print("{}", man_page(parser.description())); };
  });
  // `help` itself is understood before anything is parsed.
  app.subcommand("help", "Help on a command or an algorithm: spillway help run, spillway help bfs");
}

std::vector<std::string> help_spelled_out(std::vector<std::string> words, Parser& parser) {
  if (std::erase(words, "--help-all") > 0) {
    parser.show_all();
    words.emplace_back("--help");
  }
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  if (std::erase(words, "--all") > 0) parser.show_all();
  if (!words.empty() && find_algorithm(words.front())) words.insert(words.begin(), "run");
  words.emplace_back("--help");
  return words;
}

}  // namespace spillway::cli
