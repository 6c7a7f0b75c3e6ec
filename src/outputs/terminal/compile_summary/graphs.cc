// Graphs as tables: the nodes of one, and what is different between two.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "model/compile/payload.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "outputs/terminal/compile_summary/section.h"
#include "tables/compile_entry.h"
#include "tables/compile_graph.h"
#include "torch/fx/graph_compare.h"
#include "torch/fx/graph_text.h"

namespace debrief::outputs::compile_summary {

namespace {

struct LoadedGraph {
  std::string title;
  std::unique_ptr<std::string> text = std::make_unique<std::string>();
  GraphNodes nodes;  // point into the text
};

std::string_view NameOf(const Model& model, const CompileGraphTable& graphs, size_t i) {
  bool named = graphs.name[i] != StringId::kNone;
  return model.pools.Text(named ? graphs.name[i] : graphs.kind[i]);
}

std::optional<size_t> FindGraph(const Model& model, std::string_view which) {
  const auto& graphs = model.tables.Get<CompileGraphTable>();
  size_t colon = which.find(':');
  std::string_view id = which.substr(0, colon);
  std::string_view name = colon == std::string_view::npos ? std::string_view("dynamo_output_graph")
                                                          : which.substr(colon + 1);
  for (size_t i = 0; i < graphs.size(); ++i) {
    std::string_view compile_id = model.pools.Text(graphs.compile_id[i]);
    bool same = compile_id == id || compile_id.substr(0, compile_id.find('_')) == id;
    if (same && NameOf(model, graphs, i) == name) return i;
  }
  return std::nullopt;
}

Status NoSuchGraph(const Model& model, std::string_view which) {
  const auto& graphs = model.tables.Get<CompileGraphTable>();
  std::string known;
  for (size_t i = 0; i < std::min<size_t>(graphs.size(), 40); ++i) {
    known += fmt::format("{}{}:{}", i == 0 ? "" : ", ", model.pools.Text(graphs.compile_id[i]),
                         NameOf(model, graphs, i));
  }
  return Status(Code::kNotFound, fmt::format("there is no graph {}", which))
      .Remedy(known.empty() ? "The logs have no graphs" : "There are " + known);
}

Result<LoadedGraph> Load(const Model& model, std::string_view which) {
  auto at = FindGraph(model, which);
  if (!at) return NoSuchGraph(model, which);
  const auto& graphs = model.tables.Get<CompileGraphTable>();
  const auto& entries = model.tables.Get<CompileEntryTable>();
  LoadedGraph loaded;
  loaded.title =
      fmt::format("{} of {}", NameOf(model, graphs, *at), model.pools.Text(graphs.compile_id[*at]));
  for (size_t row = 0; row < entries.size(); ++row) {
    if (entries.input[row] != graphs.input[*at] || entries.entry[row] != graphs.entry[*at])
      continue;
    TRY(ReadPayload(model, entries, row, *loaded.text));
    break;
  }
  ASSIGN_OR_RETURN(loaded.nodes, ParseGraph(*loaded.text));
  return loaded;
}

std::string InputsText(const GraphNodes& graph, const FxNode& node) {
  std::string text;
  for (const FxInput& input : graph.InputsOf(node))
    text += fmt::format("{}{}", text.empty() ? "" : ", ", input.name);
  return text;
}

std::vector<std::string> NodeCells(const GraphNodes& graph, const FxNode& node) {
  const FxPlace& place = graph.PlaceOf(node);
  return {std::string(node.name.empty() ? "output" : node.name),
          std::string(FxOpName(node.op)),
          std::string(node.target),
          std::string(node.value.text),
          InputsText(graph, node),
          std::to_string(node.users),
          PlaceText(place.file, place.line)};
}

std::string_view ChangeName(FxNodeChange::What what) {
  constexpr std::array<std::string_view, 4> kNames = {"added", "removed", "changed", "rewired"};
  return kNames[static_cast<size_t>(what)];
}

}  // namespace

Result<std::string> GraphTable(const Model& model, std::string_view which, size_t width) {
  ASSIGN_OR_RETURN(LoadedGraph graph, Load(model, which));
  Section section(graph.title, {"node", "op", "target", "value", "inputs", "users", "line"}, width);
  for (const FxNode& node : graph.nodes.nodes) section.Row(NodeCells(graph.nodes, node));
  return section.Text();
}

Result<std::string> GraphDifference(const Model& model, std::string_view before,
                                    std::string_view now, size_t width) {
  ASSIGN_OR_RETURN(LoadedGraph a, Load(model, before));
  ASSIGN_OR_RETURN(LoadedGraph b, Load(model, now));
  GraphDiff diff = DiffGraphs(a.nodes, b.nodes);
  Section section(fmt::format("{} -> {}: {} nodes the same, {} not", a.title, b.title, diff.same,
                              diff.changes.size()),
                  {"what", "before", "now", "value before", "value now", "target"}, width);
  auto node = [](const GraphNodes& graph, uint32_t at) {
    return at == FxNodeChange::kNone ? nullptr : &graph.nodes[at];
  };
  for (const FxNodeChange& change : diff.changes) {
    const FxNode* old_node = node(a.nodes, change.before);
    const FxNode* new_node = node(b.nodes, change.now);
    const FxNode* any = new_node != nullptr ? new_node : old_node;
    section.Row({std::string(ChangeName(change.what)), std::string(old_node ? old_node->name : "-"),
                 std::string(new_node ? new_node->name : "-"),
                 std::string(old_node ? old_node->value.text : ""),
                 std::string(new_node ? new_node->value.text : ""), std::string(any->target)});
  }
  if (diff.changes.empty()) return fmt::format("{} and {} are the same\n", a.title, b.title);
  return section.Text();
}

}  // namespace debrief::outputs::compile_summary
