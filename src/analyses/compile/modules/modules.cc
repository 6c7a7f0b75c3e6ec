// Which modules does a compiled frame have, how large are they, and how much of the graph is
// theirs? Dynamo's graphs only: they take parameters under names that tell the module. One pass
// over the entries; only these graphs, a sixth of all, are parsed.

#include "analyses/analysis.h"
#include "analyses/compile/modules/module_tree.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_module.h"
#include "torch/fx/graph_text.h"

namespace debrief::analyses::compile_modules {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable>;
constexpr auto kMakes = kTableNames<CompileModuleTable>;

class Collector {
 public:
  Collector(const Model& model, Part& part)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        part_(part),
        table_(part.tables.Edit<CompileModuleTable>()) {}

  void Run() {
    for (size_t entry = 0; entry < entries_.size(); ++entry)
      if (IsDynamo(entries_.kind[entry]) && Text(entries_.state[entry]) != "refused") Look(entry);
  }

 private:
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  bool IsDynamo(StringId kind) {
    if (kind == dynamo_) return kind != StringId::kNone;
    if (dynamo_ != StringId::kNone || Text(kind) != "dynamo_output_graph") return false;
    dynamo_ = kind;
    return true;
  }

  void Look(size_t entry) {
    auto row = Part::RowOf<CompileModuleRow>({.job = entries_.job[entry],
                                              .attempt = entries_.attempt[entry],
                                              .rank = entries_.rank[entry]});
    row.input = entries_.input[entry];
    row.entry = entries_.entry[entry];
    if (entries_.compile_id[entry] != StringId::kNone)
      row.compile_id = part_.pools.Intern(Text(entries_.compile_id[entry]));
    auto lines = PayloadLines(model_, entries_, entry);
    if (!lines.ok() || !parser_.Parse(lines.value().text(), nodes_).ok()) return;
    ModuleTree tree(nodes_);
    for (const Module& module : tree.modules()) Add(tree, module, row);
  }

  void Add(const ModuleTree& tree, const Module& module, CompileModuleRow& row) {
    row.path = part_.pools.Intern(module.path);
    row.parent =
        module.parent ? part_.pools.Intern(tree.modules()[*module.parent].path) : StringId::kNone;
    row.depth = module.depth;
    row.parameters = module.parameters;
    row.bytes = module.bytes.value_or(kNone64);
    row.total_bytes = module.total_bytes.value_or(kNone64);
    row.shapes = module.shapes.empty() ? StringId::kNone : part_.pools.Intern(module.shapes);
    row.nodes = module.nodes;
    table_.Add(row);
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  Part& part_;
  CompileModuleTable& table_;
  FxGraphParser parser_;
  GraphNodes nodes_;
  StringId dynamo_ = StringId::kNone;
};

Status Run(const Model& model, AnalysisResult& result) {
  Collector(model, result.part).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_modules",
               .sentence = "Which modules does a compiled frame have, and how much of its graph is "
                           "theirs?",
               .example = "a table of modules; no findings of its own",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_modules
