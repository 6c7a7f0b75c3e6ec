// Which modules does a compiled frame have, how large are they, and how much of the graph is
// theirs? Dynamo's graphs only: they take parameters under names that tell the module. Modules
// without parameters (activations, pooling) and the classes of all are known where the log has the
// module stacks of the graph's nodes or the guards of the compilation. Two passes over the entries;
// only these graphs, a sixth of all, and their guards are parsed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/modules/guarded_modules.h"
#include "analyses/compile/modules/module_stacks.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_module.h"
#include "torch/fx/graph.h"
#include "torch/fx/graph_text.h"

namespace debrief::analyses::compile_modules {

namespace {

struct Module {
  std::string path;
  std::string type;  // empty: not told
  std::optional<size_t> parent;
  int32_t depth = 0;
  int32_t parameters = 0;
  std::optional<int64_t> bytes = 0;
  std::optional<int64_t> total_bytes = 0;
  std::string shapes;  // weight f32[128], bias f32[128]
  int32_t nodes = 0;
};

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

class ModuleTree {
 public:
  // A module stands behind the one around it.
  ModuleTree(const GraphNodes& graph, const ModuleStacks& stacks,
             const std::vector<StackModule>& guarded) {
    module_of_input_.resize(graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const FxNode& node = graph.nodes[i];
      if (node.graph != 0) break;
      if (node.op == FxOp::kPlaceholder) AddInput(node, i);
      if (node.op == FxOp::kCallModule) AddCall(node);
    }
    for (const FxNode& node : graph.nodes) AddStack(node, stacks);
    AddGuarded(guarded);
    CountUsers(graph, stacks);
    for (size_t i = modules_.size(); i-- > 0;) {  // the inner before those around them
      AddBytes(modules_[i].total_bytes, modules_[i].bytes);
      if (modules_[i].parent)
        AddBytes(modules_[*modules_[i].parent].total_bytes, modules_[i].total_bytes);
    }
  }

  std::vector<Module> TakeModules() { return std::move(modules_); }

 private:
  void AddInput(const FxNode& node, size_t number) {
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
  void AddCall(const FxNode& node) {
    constexpr std::string_view kSelf = "self.";
    FxInputSource source = GuessInputSource(node.target.substr(kSelf.size()));
    std::optional<size_t> found = Find(source.path.empty() ? node.target : source.path);
    if (found) ++modules_[*found].nodes;
  }

  // The innermost module is the one that the node belongs to.
  void AddStack(const FxNode& node, const ModuleStacks& stacks) {
    auto stack = stacks.find(std::string(node.name));
    if (stack == stacks.end() || !node.is_call()) return;
    std::optional<size_t> innermost;
    for (const StackModule& one : stack->second) {
      std::optional<size_t> found = Find(one.path);
      if (!found) continue;
      modules_[*found].type = one.type;
      innermost = found;
    }
    if (innermost && node.op != FxOp::kCallModule) ++modules_[*innermost].nodes;
  }

  // A variable is a module when there is one inside of it.
  void AddGuarded(const std::vector<StackModule>& guarded) {
    for (const StackModule& one : guarded) {
      if (Contains(one.path, ".")) Find(one.path);
    }
    for (const StackModule& one : guarded) {
      auto found = by_path_.find(one.path);
      if (found != by_path_.end() && modules_[found->second].type.empty())
        modules_[found->second].type = one.type;
    }
  }

  // The module of `path`, made with all around it when it is new.
  std::optional<size_t> Find(std::string_view path) {
    if (path.empty() || path.size() > kMaxPath) return std::nullopt;
    if (std::count(path.begin(), path.end(), '.') > kMaxDepth) return std::nullopt;
    std::optional<size_t> parent;
    int32_t depth = 0;
    for (size_t end = 0; end != std::string_view::npos; ++depth) {
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

  // Of nodes whose stack is not known.
  void CountUsers(const GraphNodes& graph, const ModuleStacks& stacks) {
    std::vector<size_t> last_user(modules_.size(), graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size() && graph.nodes[i].graph == 0; ++i) {
      if (graph.nodes[i].op == FxOp::kOutput) continue;
      if (stacks.contains(std::string(graph.nodes[i].name))) continue;
      for (const FxInput& input : graph.InputsOf(graph.nodes[i])) {
        std::optional<size_t> module = module_of_input_[input.node];
        if (!module || last_user[*module] == i) continue;
        last_user[*module] = i;
        ++modules_[*module].nodes;
      }
    }
  }

  std::vector<Module> modules_;
  std::unordered_map<std::string, size_t> by_path_;
  std::vector<std::optional<size_t>> module_of_input_;  // by node
};

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part)
      : EntryPass(model, part), table_(part.tables.Edit<CompileModuleTable>()) {}

  void Run() {
    for (size_t entry = 0; entry < entries_.size(); ++entry) {
      if (is_stacks_(entries_.name[entry])) stacks_.try_emplace(KeyOf(entry), entry);
      if (is_guards_(entries_.kind[entry])) guards_.try_emplace(KeyOf(entry), entry);
    }
    for (size_t entry = 0; entry < entries_.size(); ++entry)
      if (is_dynamo_(entries_.kind[entry]) && Text(entries_.state[entry]) != "refused") Look(entry);
  }

 private:
  using Key = std::pair<Process, std::string_view>;  // and the compilation

  Key KeyOf(size_t entry) const {
    return {ProcessOf(entries_, entry), Text(entries_.compile_id[entry])};
  }

  ModuleStacks StacksOf(size_t entry) {
    auto found = stacks_.find(KeyOf(entry));
    if (found == stacks_.end()) return {};
    auto lines = PayloadLines(model_, entries_, found->second);
    return lines.ok() ? ParseModuleStacks(lines.value().text(), reader_) : ModuleStacks();
  }

  std::vector<StackModule> GuardedOf(size_t entry) {
    auto found = guards_.find(KeyOf(entry));
    if (found == guards_.end()) return {};
    std::string text;
    if (!ReadPayload(model_, entries_, found->second, text).ok()) return {};
    return ParseGuardedModules(text);
  }

  void Look(size_t entry) {
    const std::vector<Module>* modules = ModulesOf(entry);
    if (modules == nullptr) return;
    auto row = RowOfEntry<CompileModuleRow>(entries_, entry);
    row.compile_id = texts_(entries_.compile_id[entry]);
    for (const Module& module : *modules) Add(*modules, module, row);
  }

  // Null when the payload is no graph. Ranks compile the same graphs: each is parsed once, unless
  // its stacks are known, too.
  const std::vector<Module>* ModulesOf(size_t entry) {
    const bool may_share = entries_.payload_ok[entry] && !stacks_.contains(KeyOf(entry));
    const StringId md5 = may_share ? entries_.payload_md5[entry] : StringId::kNone;
    auto [known, is_new] = by_md5_.try_emplace(md5);
    if (is_new || md5 == StringId::kNone) {
      known->second.reset();
      auto lines = PayloadLines(model_, entries_, entry);
      if (lines.ok() && parser_.Parse(lines.value().text(), nodes_).ok())
        known->second = ModuleTree(nodes_, StacksOf(entry), GuardedOf(entry)).TakeModules();
    }
    return known->second ? &*known->second : nullptr;
  }

  void Add(const std::vector<Module>& modules, const Module& module, CompileModuleRow& row) {
    row.path = texts_(module.path);
    row.module_class = texts_(module.type);
    row.parent = module.parent ? texts_(modules[*module.parent].path) : StringId::kNone;
    row.depth = module.depth;
    row.parameters = module.parameters;
    row.bytes = module.bytes.value_or(kNone64);
    row.total_bytes = module.total_bytes.value_or(kNone64);
    row.shapes = texts_(module.shapes);
    row.nodes = module.nodes;
    table_.Add(row);
  }

  CompileModuleTable& table_;
  FxGraphParser parser_;
  GraphNodes nodes_;
  AskOnce<bool> is_dynamo_{model_.pools,
                           [](std::string_view kind) { return kind == "dynamo_output_graph"; }};
  AskOnce<bool> is_stacks_{model_.pools,
                           [](std::string_view name) { return name == "nn_module_stack"; }};
  AskOnce<bool> is_guards_{model_.pools,
                           [](std::string_view kind) { return kind == "dynamo_cpp_guards_str"; }};
  std::map<Key, size_t> stacks_;  // entry of the module stacks
  std::map<Key, size_t> guards_;  // of the guards
  JsonReader reader_;
  std::unordered_map<StringId, std::optional<std::vector<Module>>> by_md5_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_modules",
               .scope = AnalysisScope::kRank,
               .sentence = "Which modules does a compiled frame have, and how much of its graph is "
                           "theirs?",
               .example = "a table of modules; no findings of its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileModuleTable>},
      .run = RunPass<Collector>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_modules
