// What do the graphs of a compile log do, and how does a graph differ from the one that the same
// frame was compiled to before?
//
// One pass over the entries. A payload is parsed once: graphs of the same text (equal MD5) share
// what it tells. The previous graph is the last one of the same frame, kind and name with the
// same position in its compilation; the position keeps forward and backward apart, which some kinds
// have in common. Nodes are not kept: src/torch/fx/graph_text.h makes them for one graph on demand.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/compile/graphs/graph_rows.h"
#include "analyses/compile/rows.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "torch/fx/graph_text.h"

namespace debrief::analyses::compile_graphs {

namespace {

constexpr std::array<std::string_view, 10> kGraphKinds = {
    "dynamo_output_graph",      "aot_forward_graph",        "aot_backward_graph",
    "aot_inference_graph",      "aot_joint_graph",          "inductor_pre_grad_graph",
    "inductor_post_grad_graph", "optimize_ddp_split_graph", "optimize_ddp_split_child",
    "compiled_autograd_graph"};

// before_pre_grad_graph, after_recompile_post_grad, vllm_piecewise_split_graph
bool IsGraphName(std::string_view name) {
  if (name.starts_with("before_") || name.starts_with("after_")) return true;
  return name.ends_with("_graph") || Contains(name, "subgraph") || Contains(name, "submod");
}

// Whether entries of a kind show graphs; of some kinds the name tells.
enum class Shows : uint8_t { kNoGraph, kGraph, kByName };

Shows ShowsOf(std::string_view kind) {
  if (kind == "artifact" || kind == "graph_dump") return Shows::kByName;
  const bool is_graph =
      std::find(kGraphKinds.begin(), kGraphKinds.end(), kind) != kGraphKinds.end();
  return is_graph ? Shows::kGraph : Shows::kNoGraph;
}

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row)
      if (MayBeGraph(row)) Look(row);
  }

 private:
  using InCompilation =
      std::tuple<Process, StringId, StringId, StringId>;  // compile_id, kind, name
  using InFrame = std::tuple<Process, int64_t, int64_t, StringId, StringId, int32_t>;
  using Content = std::shared_ptr<const GraphContent>;

  // The last graph of a place.
  struct Last {
    int64_t entry = kNone64;
    Content content;
  };

  // By kind and name; whether the payload is a graph, only its text tells.
  bool MayBeGraph(size_t row) {
    const Shows shows = shows_(entries_.kind[row]);
    const bool is_graph =
        shows == Shows::kGraph || (shows == Shows::kByName && is_graph_name_(entries_.name[row]));
    return is_graph && entries_.payload_bytes[row] > 0 && Text(entries_.state[row]) != "refused";
  }

  void Look(size_t entry) {
    const Content content = ContentOf(entry);
    if (content == nullptr) return;
    CompileGraphRow row = content->row;
    const StringId kind = entries_.kind[entry], name = entries_.name[entry];
    row.compile_id = texts_(entries_.compile_id[entry]);
    row.kind = texts_(kind);
    row.name = texts_(name);
    const Process process = ProcessOf(entries_, entry);
    row.position = positions_[{process, entries_.compile_id[entry], kind, name}]++;
    Last no_frame;
    Last& last = entries_.frame_id[entry] == kNone64
                     ? no_frame
                     : last_[{process, entries_.autograd_id[entry], entries_.frame_id[entry], kind,
                              name, row.position}];
    row.previous = last.entry;
    AddRow<CompileGraphTable>(entry, row);
    for (const CompileGraphOpRow& op : content->ops) AddRow<CompileGraphOpTable>(entry, op);
    for (const CompileGraphInputRow& input : content->inputs)
      AddRow<CompileGraphInputTable>(entry, input);
    if (last.content != nullptr) {
      for (const auto& change :
           FindChanges(*last.content, *content, {.previous = last.entry}, part_.pools))
        AddRow<CompileGraphChangeTable>(entry, change);
    }
    last = {entries_.entry[entry], content};
  }

  template <typename Table, typename Row>
  void AddRow(size_t entry, Row row) {
    SetProcess(entries_, entry, row);
    row.entry = entries_.entry[entry];
    part_.tables.Edit<Table>().Add(row);
  }

  // Null when the payload is no graph.
  Content ContentOf(size_t entry) {
    const StringId md5 = entries_.payload_ok[entry] ? entries_.payload_md5[entry] : StringId::kNone;
    if (auto known = by_md5_.find(md5); known != by_md5_.end()) return known->second;
    auto lines = PayloadLines(model_, entries_, entry);
    Content content;
    if (lines.ok() && parser_.Parse(lines.value().text(), nodes_).ok())
      content = std::make_shared<GraphContent>(ReadContent(nodes_, part_.pools));
    if (md5 != StringId::kNone) by_md5_.emplace(md5, content);
    return content;
  }

  AskOnce<Shows> shows_{model_.pools, ShowsOf};
  AskOnce<bool> is_graph_name_{model_.pools, IsGraphName};
  FxGraphParser parser_;
  GraphNodes nodes_;
  std::unordered_map<StringId, Content> by_md5_;
  std::map<InCompilation, int32_t> positions_;
  std::map<InFrame, Last> last_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_graphs",
               .scope = AnalysisScope::kRank,
               .sentence = "What do the graphs of a compile log do, and what changed since the "
                           "same frame was compiled before?",
               .example = "tables of graphs, their operations, inputs and changes; no findings of "
                          "its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileGraphTable, CompileGraphOpTable, CompileGraphInputTable,
                                    CompileGraphChangeTable>},
      .run = RunPass<Collector>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_graphs
