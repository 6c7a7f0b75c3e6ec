// The modules of one frame, from the names of the parameters and buffers that its graph takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torch/fx/graph.h"

namespace debrief::analyses::compile_modules {

struct Module {
  std::string path;
  std::optional<size_t> parent;
  int32_t depth = 0;
  int32_t parameters = 0;
  std::optional<int64_t> bytes = 0;
  std::optional<int64_t> total_bytes = 0;
  std::string shapes;  // weight f32[128], bias f32[128]
  int32_t nodes = 0;
};

class ModuleTree {
 public:
  // A module stands behind the one around it.
  explicit ModuleTree(const GraphNodes& graph);

  const std::vector<Module>& modules() const { return modules_; }

 private:
  void AddInput(const FxNode& node, size_t number);
  void AddCall(const FxNode& node);
  std::optional<size_t> Find(std::string_view path);
  void CountUsers(const GraphNodes& graph);

  std::vector<Module> modules_;
  std::unordered_map<std::string, size_t> by_path_;
  std::vector<std::optional<size_t>> module_of_input_;  // by node
};

}  // namespace debrief::analyses::compile_modules
