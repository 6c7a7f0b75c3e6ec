// What the name of a graph's input tells of where it comes from. Dynamo makes the name from the
// expression by putting _ for everything that is no letter or digit:
//
//   L['self']._modules['ln1']._parameters['weight']  ->  L_self_modules_ln1_parameters_weight_
//   L['x']                                           ->  L_x_
//
// This is a guess: an underscore in a name cannot be told from a dot.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

struct FxInputSource {
  std::string path;   // self.ln1.weight; x; empty when the name does not tell
  size_t module = 0;  // bytes of it that are the module: self.ln1; 0 for what is in no module
  bool is_parameter = false;
  bool is_buffer = false;

  std::string_view module_path() const { return std::string_view(path).substr(0, module); }
  std::string_view leaf() const;  // weight
};

FxInputSource GuessInputSource(std::string_view name);

}  // namespace debrief
