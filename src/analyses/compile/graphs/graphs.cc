// What do the graphs of a compile log do, and how does a graph differ from the one that the same
// frame was compiled to before?
//
// One pass over the entries. A payload is parsed once: graphs of the same text (equal MD5) copy the
// rows of the first. The previous graph is the last one of the same frame, kind and name with the
// same position in its compilation; the position keeps forward and backward apart, which some kinds
// have in common. Nodes are not kept: src/torch/fx/graph_text.h makes them for one graph on demand.
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/graphs/graph_changes.h"
#include "analyses/compile/graphs/graph_entries.h"
#include "model/compile/payload.h"
#include "tables/compile_ddp_child.h"
#include "tables/compile_entry.h"
#include "tables/compile_graph.h"
#include "tables/compile_graph_change.h"
#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"
#include "torch/fx/graph_text.h"

namespace debrief::analyses::compile_graphs {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable>;
constexpr auto kMakes = kTableNames<CompileGraphTable, CompileGraphOpTable, CompileGraphInputTable,
                                    CompileGraphChangeTable, CompileDdpChildTable>;

class Collector {
 public:
  Collector(const Model& model, Part& part)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        part_(part),
        graphs_(part.tables.Edit<CompileGraphTable>()),
        rows_(part) {}

  void Run() {
    GraphEntries chosen(model_, entries_);
    for (size_t row = 0; row < entries_.size(); ++row)
      if (chosen.MayBeGraph(row)) Look(row);
  }

 private:
  // One rank of one log.
  using Log = std::tuple<int32_t, int32_t, int32_t>;                    // input, rank, life
  using InCompilation = std::tuple<Log, StringId, StringId, StringId>;  // compile_id, kind, name
  using InFrame = std::tuple<Log, int64_t, int64_t, StringId, StringId, int32_t>;

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
    AddToDdp(entry, log, row);
  }

  template <typename Row>
  Row RowFor(size_t entry) {
    Row row = Part::RowOf<Row>({.job = entries_.job[entry],
                                .attempt = entries_.attempt[entry],
                                .rank = entries_.rank[entry]});
    row.input = entries_.input[entry];
    row.entry = entries_.entry[entry];
    row.compile_id = Copy(entries_.compile_id[entry]);
    row.name = Copy(entries_.name[entry]);
    return row;
  }

  StringId Copy(StringId id) {
    return id == StringId::kNone ? id : part_.pools.Intern(model_.pools.Text(id));
  }

  // False when the payload is no graph.
  bool AddRows(size_t entry, CompileGraphRow& row, RowRange& range) {
    row.kind = Copy(entries_.kind[entry]);
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

  void AddToDdp(size_t entry, const Log& log, const CompileGraphRow& row) {
    std::string_view kind = part_.pools.Text(row.kind);
    if (kind == "optimize_ddp_split_graph")
      ddp_parents_[{log, entries_.compile_id[entry]}] = row.entry;
    if (kind != "optimize_ddp_split_child") return;
    auto child = RowFor<CompileDdpChildRow>(entry);
    auto parent = ddp_parents_.find({log, entries_.compile_id[entry]});
    if (parent != ddp_parents_.end()) child.parent_entry = parent->second;
    child.nodes = row.nodes;
    part_.tables.Edit<CompileDdpChildTable>().Add(child);
  }

  static constexpr size_t kNoRow = ~size_t{0};

  const Model& model_;
  const CompileEntryTable& entries_;
  Part& part_;
  CompileGraphTable& graphs_;
  GraphRows rows_;
  FxGraphParser parser_;
  GraphNodes nodes_;
  std::vector<RowRange> ranges_;  // by row of compile_graph
  std::unordered_map<StringId, size_t> by_md5_;
  std::map<InCompilation, int32_t> positions_;
  std::map<InFrame, GraphRef> last_;
  std::map<std::tuple<Log, StringId>, int64_t> ddp_parents_;
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
