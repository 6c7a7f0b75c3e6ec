// What do the graphs of a compile log do, and how does a graph differ from the one that the same
// frame was compiled to before?
//
// One pass over the entries. A payload is parsed once: graphs of the same text (equal MD5) copy the
// rows of the first. The previous graph is the last one of the same frame, kind and name with the
// same position in its compilation; the position keeps forward and backward apart, which some kinds
// have in common. Nodes are not kept: src/torch/fx/graph_text.h makes them for one graph on demand.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/graphs/graph_rows.h"
#include "analyses/compile/rows.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_graph.h"
#include "tables/compile_graph_change.h"
#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"
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

constexpr auto kNeeds = kTableNames<CompileEntryTable>;
constexpr auto kMakes = kTableNames<CompileGraphTable, CompileGraphOpTable, CompileGraphInputTable,
                                    CompileGraphChangeTable>;

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part)
      : EntryPass(model, part), graphs_(part.tables.Edit<CompileGraphTable>()), rows_(part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row)
      if (MayBeGraph(row)) Look(row);
  }

 private:
  // One rank of one log.
  using Log = std::tuple<int32_t, int32_t, int32_t>;                    // input, rank, life
  using InCompilation = std::tuple<Log, StringId, StringId, StringId>;  // compile_id, kind, name
  using InFrame = std::tuple<Log, int64_t, int64_t, StringId, StringId, int32_t>;

  // By kind and name; whether the payload is a graph, only its text tells.
  bool MayBeGraph(size_t row) {
    const Shows shows = shows_(entries_.kind[row]);
    const bool is_graph =
        shows == Shows::kGraph || (shows == Shows::kByName && is_graph_name_(entries_.name[row]));
    return is_graph && entries_.payload_bytes[row] > 0 && Text(entries_.state[row]) != "refused";
  }

  void Look(size_t entry) {
    CompileGraphRow row = RowFor<CompileGraphRow>(entry);
    GraphRef graph;
    if (!AddRows(entry, row, graph.range)) return;
    Log log(entries_.input[entry], entries_.rank[entry], entries_.life[entry]);
    row.position =
        positions_[{log, entries_.compile_id[entry], entries_.kind[entry], entries_.name[entry]}]++;
    graph.row = graphs_.size();
    GraphRef* previous = FindPrevious(entry, log, row.position);
    if (previous != nullptr && previous->row != kNoRow) row.previous = graphs_.entry[previous->row];
    graphs_.Add(row);
    ranges_.push_back(graph.range);
    if (row.previous != kNone64) AddChanges(part_, *previous, graph);
    if (previous != nullptr) *previous = graph;
  }

  template <typename Row>
  Row RowFor(size_t entry) {
    Row row = RowOfEntry<Row>(entries_, entry);
    row.compile_id = texts_(entries_.compile_id[entry]);
    row.name = texts_(entries_.name[entry]);
    return row;
  }

  // False when the payload is no graph.
  bool AddRows(size_t entry, CompileGraphRow& row, RowRange& range) {
    row.kind = texts_(entries_.kind[entry]);
    bool has_checksum =
        entries_.payload_ok[entry] && entries_.payload_md5[entry] != StringId::kNone;
    auto known = has_checksum ? by_md5_.find(entries_.payload_md5[entry]) : by_md5_.end();
    if (known != by_md5_.end()) {
      if (known->second == kNoRow) return false;
      range = rows_.AddCopy(known->second, ranges_[known->second], row);
      return true;
    }
    auto lines = PayloadLines(model_, entries_, entry);
    bool is_graph = lines.ok() && parser_.Parse(lines.value().text(), nodes_).ok();
    if (has_checksum)
      by_md5_.emplace(entries_.payload_md5[entry], is_graph ? graphs_.size() : kNoRow);
    if (is_graph) range = rows_.Add(nodes_, row);
    return is_graph;
  }

  // Where the last graph of this place is kept; null for entries of no frame.
  GraphRef* FindPrevious(size_t entry, const Log& log, int32_t position) {
    if (entries_.frame_id[entry] == kNone64) return nullptr;
    InFrame key(log, entries_.autograd_id[entry], entries_.frame_id[entry], entries_.kind[entry],
                entries_.name[entry], position);
    auto [at, is_new] = last_.try_emplace(key);
    if (is_new) at->second.row = kNoRow;
    return &at->second;
  }

  static constexpr size_t kNoRow = ~size_t{0};

  CompileGraphTable& graphs_;
  GraphRows rows_;
  AskOnce<Shows> shows_{model_.pools, ShowsOf};
  AskOnce<bool> is_graph_name_{model_.pools, IsGraphName};
  FxGraphParser parser_;
  GraphNodes nodes_;
  std::vector<RowRange> ranges_;  // by row of compile_graph
  std::unordered_map<StringId, size_t> by_md5_;
  std::map<InCompilation, int32_t> positions_;
  std::map<InFrame, GraphRef> last_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Collector(model, result.part).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_graphs",
               .sentence = "What do the graphs of a compile log do, and what changed since the "
                           "same frame was compiled before?",
               .example = "tables of graphs, their operations, inputs and changes; no findings of "
                          "its own",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_graphs
