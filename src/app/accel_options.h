// Flags of debrief accel: all of acelyzer's, so that its command lines work as they are. And how
// flags of any command are described.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"

namespace debrief {

// An option with the word that stands for its value in the help.
template <typename T>
CLI::Option* AddOption(CLI::App& app, const char* names, T& value, const char* type,
                       const char* text) {
  return app.add_option(names, value, text)->type_name(type);
}

// What a value must be; the help's text says it. The validator's name is the words, for
// completions.
CLI::Validator OneOf(std::vector<std::string> words);
template <typename T>
CLI::Validator Between(T least, T most) {
  return CLI::Range(least, most).description("");
}

CLI::App* AddAccel(CLI::App& app, accel::Arguments& options, GlobalOptions& global);

}  // namespace debrief
