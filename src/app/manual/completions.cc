// Completions for three shells: commands, options, the values an option may have, and files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "app/manual/manual.h"

namespace debrief {

namespace {

std::string NamesOf(const std::vector<OptionWords>& options) {
  std::vector<std::string> names;
  for (const OptionWords& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

// Of the first argument that has some: `debrief profile` and `debrief list` take a word of these.
std::string PlaceChoices(const std::vector<OptionWords>& options) {
  for (const OptionWords& option : options)
    if (option.names.empty() && !option.choices.empty())
      return fmt::format("{}", fmt::join(option.choices, " "));
  return "";
}

std::string CommandList(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : CommandsOf(app)) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

// ---- bash

std::string BashCase(const std::string& name, const std::vector<OptionWords>& options) {
  std::string text =
      fmt::format("    {})\n      options='{}'\n", name.empty() ? "''" : name, NamesOf(options));
  if (const std::string words = PlaceChoices(options); !words.empty())
    text += fmt::format("      words='{}'\n", words);
  text += "      case $previous in\n";
  for (const OptionWords& option : options) {
    if (option.names.empty() || option.value.empty()) continue;
    text += fmt::format("        {}) is_value=1; values='{}' ;;\n", fmt::join(option.names, "|"),
                        fmt::join(option.choices, " "));
  }
  return text + "      esac ;;\n";
}

std::string BashCompletion(CLI::App& app) {
  const std::string commands = CommandList(app);
  std::string cases = BashCase("", OptionsOf(app));
  for (CLI::App* command : CommandsOf(app))
    cases += BashCase(command->get_name(), OptionsOf(*command));
  return "# Completion of debrief for bash, made by: debrief help --completion bash\n"
         "_debrief() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command='' options='' words='' values='' is_value='' i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \" " +
         commands +
         " \" in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break ;; esac\n"
         "  done\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "  [[ -z $command ]] && words='" +
         commands +
         "'\n"
         "  COMPREPLY=()\n"
         "  if [[ -n $is_value && -n $values ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
         "  elif [[ -z $is_value && $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    [[ -z $is_value ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    local file\n"
         "    while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- "
         "\"$current\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _debrief debrief\n";
}

// ---- zsh

// Inside of single quotes, in a specification whose parts have colons and brackets between them.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string ZshSpec(const OptionWords& option) {
  const std::string values =
      option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
  if (option.names.empty())
    return fmt::format("    '{}:{}:{}'", option.is_list ? "*" : "", ZshText(option.place), values);
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", ZshText(option.value), values);
  std::vector<std::string> specs;
  for (const std::string& name : option.names)
    specs.push_back(fmt::format("    '{}{}[{}]{}'", option.is_list ? "*" : "", name,
                                ZshText(option.text), value));
  return fmt::format("{}", fmt::join(specs, " \\\n"));
}

std::string ZshArguments(const std::vector<OptionWords>& options) {
  std::vector<std::string> specs;
  std::ranges::transform(options, std::back_inserter(specs), ZshSpec);
  return fmt::format("  _arguments -s \\\n{}\n", fmt::join(specs, " \\\n"));
}

std::string ZshCompletion(CLI::App& app) {
  std::string text =
      "#compdef debrief\n# Completion of debrief for zsh, made by: debrief help --completion "
      "zsh\n\n_debrief_commands() {\n  local -a commands=(\n";
  for (const CLI::App* command : CommandsOf(app))
    text += fmt::format("    '{}:{}'\n", command->get_name(), ZshText(command->get_description()));
  text += "  )\n  _describe command commands\n}\n\n";
  for (CLI::App* command : CommandsOf(app))
    text += fmt::format("_debrief_{}() {{\n{}}}\n\n", command->get_name(),
                        ZshArguments(OptionsOf(*command)));
  text += fmt::format("_debrief_report() {{\n{}}}\n\n", ZshArguments(OptionsOf(app)));
  return text +
         "_debrief() {\n"
         "  if (( CURRENT > 2 )) && (( $+functions[_debrief_$words[2]] )); then\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    _debrief_$command\n"
         "    return\n"
         "  fi\n"
         "  (( CURRENT == 2 )) && _debrief_commands\n"
         "  _debrief_report\n"
         "}\n\n"
         "_debrief \"$@\"\n";
}

// ---- fish

std::string FishText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string FishOption(const OptionWords& option, const std::string& condition) {
  std::string line = fmt::format("complete -c debrief -n '{}'", condition);
  if (option.names.empty()) {
    if (option.choices.empty()) return "";
    return line + fmt::format(" -a '{}'\n", fmt::join(option.choices, " "));
  }
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += fmt::format(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
  }
  if (!option.value.empty()) line += " -r";
  if (!option.choices.empty()) line += fmt::format(" -f -a '{}'", fmt::join(option.choices, " "));
  return line + fmt::format(" -d '{}'\n", FishText(option.text));
}

std::string FishCompletion(CLI::App& app) {
  std::string text = "# Completion of debrief for fish, made by: debrief help --completion fish\n";
  const std::string none = "not __fish_seen_subcommand_from " + CommandList(app);
  for (const CLI::App* command : CommandsOf(app))
    text += fmt::format("complete -c debrief -n '{}' -a {} -d '{}'\n", none, command->get_name(),
                        FishText(command->get_description()));
  for (const OptionWords& option : OptionsOf(app)) text += FishOption(option, none);
  for (CLI::App* command : CommandsOf(app)) {
    const std::string condition = "__fish_seen_subcommand_from " + command->get_name();
    for (const OptionWords& option : OptionsOf(*command)) text += FishOption(option, condition);
  }
  return text;
}

}  // namespace

std::string Completion(CLI::App& app, const std::string& shell) {
  if (shell == "zsh") return ZshCompletion(app);
  return shell == "fish" ? FishCompletion(app) : BashCompletion(app);
}

}  // namespace debrief
