// Which modules an operation was called from, as torch.fx keeps it for each node (nn_module_stack),
// outermost first. Logs have it as the JSON of an artifact of that name:
//
//   {"relu": [["L__self___relu", ["L['self'].relu", "torch.nn.modules.activation.ReLU"]]]}
//   {"relu": {"L__self___relu": ["L['self'].relu", "torch.nn.modules.activation.ReLU"]}}
//   {"relu": "L__self__,,Net;L__self___relu,relu,torch.nn.modules.activation.ReLU"}   torch.export
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json/cursor.h"

namespace debrief::analyses::compile_modules {

struct StackModule {
  std::string path;  // self.layers.0
  std::string type;  // torch.nn.modules.activation.ReLU
};

using ModuleStacks = std::unordered_map<std::string, std::vector<StackModule>>;  // by node

// What the text tells; nothing when it is no such JSON. kPadding bytes follow it.
ModuleStacks ParseModuleStacks(std::string_view text, JsonReader& reader);

// "L['self']._modules['layers'][0]" is self.layers.0; "layers.0" is self.layers.0.
std::string ModulePath(std::string_view expression);

}  // namespace debrief::analyses::compile_modules
