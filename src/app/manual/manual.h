// Man pages and completions, made of the same descriptions as --help.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace debrief {

struct HelpOptions {
  std::string command;     // empty: debrief itself
  bool man = false;        // as a man page
  std::string completion;  // bash, zsh, fish
  std::string install;     // folder: everything is written below it
};
int RunHelp(CLI::App& app, const HelpOptions& options);

// An option as help, man pages and completions need it.
struct OptionWords {
  std::vector<std::string> names;    // "-o", "--output"; empty: an argument by its place
  std::string place;                 // its name there, "PATH"
  std::string value;                 // what stands for its value, "DIR"; empty: a flag
  std::string text;                  // what it does
  std::vector<std::string> choices;  // values that it may have; empty: any
  bool is_required = false;
  bool is_list = false;
};

// All options of a command, those included that the first screen leaves out.
std::vector<OptionWords> OptionsOf(CLI::App& command);
// The commands that have a description.
std::vector<CLI::App*> CommandsOf(CLI::App& app);

// `command` is `app` itself or one of its commands.
std::string ManPage(CLI::App& app, CLI::App& command);
std::string Completion(CLI::App& app, const std::string& shell);

}  // namespace debrief
