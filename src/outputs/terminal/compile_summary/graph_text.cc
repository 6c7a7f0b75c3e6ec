#include "outputs/terminal/compile_summary/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text/safe_name.h"
#include "model/compile/payload.h"
#include "outputs/terminal/compile_summary/text_block.h"
#include "tables/compile_entry.h"
#include "tables/compile_graph.h"
#include "torch/fx/graph_diff.h"
#include "torch/fx/graph_text.h"

namespace debrief::outputs::compile_summary {

namespace {

constexpr size_t kAllRows = std::numeric_limits<size_t>::max();

// The text must outlive the nodes.
struct LoadedGraph {
  std::string title;
  std::string text;
  GraphNodes nodes;
};

std::string_view NameOf(const Model& model, const CompileGraphTable& graphs, size_t i) {
  bool named = graphs.name[i] != StringId::kNone;
  return model.pools.Text(named ? graphs.name[i] : graphs.kind[i]);
}

std::optional<size_t> FindGraph(const Model& model, std::string_view which) {
  const auto& graphs = model.tables.Get<CompileGraphTable>();
  size_t colon = which.find(':');
  std::string_view id = which.substr(0, colon);
  std::string_view name =
      colon == which.npos ? std::string_view("dynamo_output_graph") : which.substr(colon + 1);
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
    TRY(ReadPayload(model, entries, row, loaded.text));
    break;
  }
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
  return {Printable(node.name.empty() ? "output" : node.name),
          std::string(FxOpName(node.op)),
          Printable(node.target),
          Printable(node.value.text),
          Printable(InputsText(graph, node)),
          std::to_string(node.users),
          PlaceText(place.file, place.line)};
}

std::string_view ChangeName(FxNodeChange::What what) {
  switch (what) {
    case FxNodeChange::What::kAdded:
      return "added";
    case FxNodeChange::What::kRemoved:
      return "removed";
    case FxNodeChange::What::kChanged:
      return "changed";
    case FxNodeChange::What::kRewired:
      return "rewired";
  }
  return "";
}

}  // namespace

Result<std::string> GraphTable(const Model& model, std::string_view which, size_t width) {
  ASSIGN_OR_RETURN(LoadedGraph graph, Load(model, which));
  TRY(FxGraphParser().Parse(graph.text, graph.nodes));
  TextBlock block(graph.title, {"node", "op", "target", "value", "inputs", "users", "line"});
  for (const FxNode& node : graph.nodes.nodes) block.Row(NodeCells(graph.nodes, node));
  std::string out;
  block.Write(kAllRows, width, out);
  return out.substr(out.empty() ? 0 : 1);
}

Result<std::string> GraphDifference(const Model& model, std::string_view before,
                                    std::string_view now, size_t width) {
  ASSIGN_OR_RETURN(LoadedGraph a, Load(model, before));
  ASSIGN_OR_RETURN(LoadedGraph b, Load(model, now));
  TRY(FxGraphParser().Parse(a.text, a.nodes));
  TRY(FxGraphParser().Parse(b.text, b.nodes));
  GraphDiff diff = DiffGraphs(a.nodes, b.nodes);
  TextBlock block(fmt::format("{} -> {}: {} nodes the same, {} not", a.title, b.title, diff.same,
                              diff.changes.size()),
                  {"what", "before", "now", "value before", "value now", "target"});
  auto node = [](const GraphNodes& graph, uint32_t at) {
    return at == FxNodeChange::kNone ? nullptr : &graph.nodes[at];
  };
  for (const FxNodeChange& change : diff.changes) {
    const FxNode* old_node = node(a.nodes, change.before);
    const FxNode* new_node = node(b.nodes, change.now);
    const FxNode* any = new_node != nullptr ? new_node : old_node;
    block.Row({std::string(ChangeName(change.what)), Printable(old_node ? old_node->name : "-"),
               Printable(new_node ? new_node->name : "-"),
               Printable(old_node ? old_node->value.text : ""),
               Printable(new_node ? new_node->value.text : ""), Printable(any->target)});
  }
  std::string out;
  block.Write(kAllRows, width, out);
  return out.empty() ? fmt::format("{} and {} are the same\n", a.title, b.title) : out.substr(1);
}

}  // namespace debrief::outputs::compile_summary
