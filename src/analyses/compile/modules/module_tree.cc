#include "analyses/compile/modules/module_tree.h"

#include <algorithm>
#include <cstddef>

#include "torch/fx/input_source.h"

namespace debrief::analyses::compile_modules {

namespace {

// Names that are longer or deeper are not those of modules: each dot of a path costs a row.
constexpr size_t kMaxPath = 512;
constexpr std::ptrdiff_t kMaxDepth = 32;

void AddBytes(std::optional<int64_t>& sum, std::optional<int64_t> bytes) {
  if (!sum) return;
  if (!bytes || __builtin_add_overflow(*sum, *bytes, &*sum)) sum.reset();
}

void AddShape(std::string& shapes, std::string_view name, const FxValue& value) {
  if (!shapes.empty()) shapes += ", ";
  shapes += name;
  if (!value.is_tensor) return;
  ((((shapes += ' ') += value.dtype) += '[') += value.sizes) += ']';
}

}  // namespace

ModuleTree::ModuleTree(const GraphNodes& graph) {
  module_of_input_.resize(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const FxNode& node = graph.nodes[i];
    if (node.graph != 0) break;
    if (node.op == FxOp::kPlaceholder) AddInput(node, i);
    if (node.op == FxOp::kCallModule) AddCall(node);
  }
  CountUsers(graph);
  for (size_t i = modules_.size(); i-- > 0;) {  // the inner before those around them
    AddBytes(modules_[i].total_bytes, modules_[i].bytes);
    if (modules_[i].parent)
      AddBytes(modules_[*modules_[i].parent].total_bytes, modules_[i].total_bytes);
  }
}

void ModuleTree::AddInput(const FxNode& node, size_t number) {
  FxInputSource source = GuessInputSource(node.target);
  if (!source.is_parameter && !source.is_buffer) return;
  std::optional<size_t> found = Find(source.module_path());
  if (!found) return;
  Module& module = modules_[*found];
  ++module.parameters;
  AddBytes(module.bytes, FxBytes(node.value));
  AddShape(module.shapes, source.leaf(), node.value);
  module_of_input_[number] = found;
}

// self.L__self___fc1(x), where modules are called and not looked into
void ModuleTree::AddCall(const FxNode& node) {
  constexpr std::string_view kSelf = "self.";
  FxInputSource source = GuessInputSource(node.target.substr(kSelf.size()));
  std::optional<size_t> found = Find(source.path.empty() ? node.target : source.path);
  if (found) ++modules_[*found].nodes;
}

// The module of `path`, made with all around it when it is new.
std::optional<size_t> ModuleTree::Find(std::string_view path) {
  if (path.empty() || path.size() > kMaxPath) return std::nullopt;
  if (std::count(path.begin(), path.end(), '.') > kMaxDepth) return std::nullopt;
  std::optional<size_t> parent;
  int32_t depth = 0;
  for (size_t end = 0; end != path.npos; ++depth) {
    end = path.find('.', end == 0 ? 0 : end + 1);
    auto [at, is_new] = by_path_.try_emplace(std::string(path.substr(0, end)), modules_.size());
    if (is_new) {
      Module& module = modules_.emplace_back();
      module.path = at->first;
      module.parent = parent;
      module.depth = depth;
    }
    parent = at->second;
  }
  return parent;
}

void ModuleTree::CountUsers(const GraphNodes& graph) {
  std::vector<size_t> last_user(modules_.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size() && graph.nodes[i].graph == 0; ++i) {
    if (graph.nodes[i].op == FxOp::kOutput) continue;
    for (const FxInput& input : graph.InputsOf(graph.nodes[i])) {
      std::optional<size_t> module = module_of_input_[input.node];
      if (!module || last_user[*module] == i) continue;
      last_user[*module] = i;
      ++modules_[*module].nodes;
    }
  }
}

}  // namespace debrief::analyses::compile_modules
