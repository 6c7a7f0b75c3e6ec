// What does an execution trace say of a step, without any profile: which ops feed which, how long
// is the longest chain of ops that wait for each other, and what do collectives move, by group?
//
// Linear in nodes and tensors.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/execution/graph/data_flow.h"
#include "tables/execution_chain.h"
#include "tables/execution_comm.h"
#include "tables/execution_flow.h"
#include "tables/execution_graph.h"
#include "tables/execution_node.h"
#include "torch/dtype.h"

namespace debrief::analyses::execution_graph {

namespace {

constexpr size_t kMostFlows = 200;
constexpr size_t kLongestListed = 2000;

// Bytes of hostile traces stay at the largest number.
int64_t AddBytes(int64_t sum, int64_t more) {
  int64_t result = 0;
  return __builtin_add_overflow(sum, std::max<int64_t>(0, more), &result)
             ? std::numeric_limits<int64_t>::max()
             : result;
}

// Rows of one trace, and whose they are.
struct Trace {
  Identity who;
  std::vector<size_t> rows;
};

std::map<int32_t, Trace> CollectTraces(const ExecutionNodeTable& nodes) {
  std::map<int32_t, Trace> traces;
  for (size_t row = 0; row < nodes.size(); ++row) {
    Trace& trace = traces[nodes.input[row]];
    trace.who = {nodes.input[row], nodes.job[row], nodes.attempt[row], nodes.rank[row]};
    trace.rows.push_back(row);
  }
  return traces;
}

// Durations of all ops; empty where the trace tells none.
std::vector<int64_t> DurationsOf(const ExecutionNodeTable& nodes, const Graph& graph) {
  std::vector<int64_t> durations;
  bool told = false;
  for (size_t row : graph.ops) {
    told |= nodes.duration_ns[row] != kNone64;
    durations.push_back(std::max<int64_t>(0, nodes.duration_ns[row]));
  }
  return told ? durations : std::vector<int64_t>();
}

class TraceRows {
 public:
  TraceRows(const Model& model, const Trace& trace, Part& part)
      : model_(model),
        nodes_(model.tables.Get<ExecutionNodeTable>()),
        who_(trace.who),
        part_(part),
        graph_(BuildGraph(model, trace.rows)) {}

  void Add(size_t nodes) {
    const Chain chain = LongestChain(graph_, {});
    auto row = Part::RowOf<ExecutionGraphRow>(who_);
    row.nodes = static_cast<int64_t>(nodes);
    row.ops = static_cast<int64_t>(graph_.ops.size());
    row.edges = row.sources = row.flow_bytes = 0;
    for (const auto& edges : graph_.before) {
      row.edges += static_cast<int64_t>(edges.size());
      row.sources += edges.empty() ? 1 : 0;
      for (const Edge& edge : edges) row.flow_bytes = AddBytes(row.flow_bytes, edge.bytes);
    }
    row.chain = static_cast<int64_t>(chain.ops.size());
    row.cyclic = chain.cyclic;
    if (row.chain > 0)
      row.parallelism = static_cast<double>(row.ops - row.cyclic) / static_cast<double>(row.chain);
    row.chain_collectives =
        std::ranges::count_if(chain.ops, [&](uint32_t op) { return IsCollective(graph_.ops[op]); });
    AddTimes(row);
    AddCollectives(row);
    part_.tables.Edit<ExecutionGraphTable>().Add(row);
    AddChain(chain);
    AddFlows();
  }

 private:
  bool IsCollective(size_t row) const {
    const std::string_view name = model_.pools.Text(nodes_.name[row]);
    return nodes_.collective[row] != StringId::kNone || name.starts_with("c10d::") ||
           name.starts_with("nccl:") || name.starts_with("_c10d_functional::");
  }

  void AddTimes(ExecutionGraphRow& row) const {
    const std::vector<int64_t> durations = DurationsOf(nodes_, graph_);
    if (durations.empty()) return;
    row.total_ns = row.chain_ns = 0;
    for (int64_t duration : durations) row.total_ns = AddBytes(row.total_ns, duration);
    for (uint32_t op : LongestChain(graph_, durations).ops)
      row.chain_ns = AddBytes(row.chain_ns, durations[op]);
  }

  StringId Copy(StringId id) {
    return id == StringId::kNone ? id : part_.pools.Intern(model_.pools.Text(id));
  }

  // What goes in, by the elements that the trace tells, else by the tensors of the node.
  int64_t BytesOf(size_t row) const {
    const int64_t width = WidthOf(model_.pools.Text(nodes_.dtype[row]));
    int64_t bytes = 0;
    const bool told = nodes_.input_elements[row] >= 0 && width > 0;
    if (told && !__builtin_mul_overflow(nodes_.input_elements[row], width, &bytes)) return bytes;
    const auto reads = model_.pools.lists.Get(nodes_.reads[row]);
    if (reads.empty()) return kNone64;
    for (size_t i = 1; i < reads.size(); i += 2) bytes = AddBytes(bytes, reads[i]);
    return bytes;
  }

  void AddCollectives(ExecutionGraphRow& row) {
    using Kind = std::tuple<StringId, StringId, StringId, int32_t, StringId, int64_t>;
    std::map<Kind, int64_t> counts;
    row.collectives = row.collective_bytes = 0;
    for (size_t node : graph_.collectives) {
      const std::string_view name = model_.pools.Text(nodes_.collective[node]);
      if (name == "wait" || name == "init") continue;
      const int64_t bytes = BytesOf(node);
      ++row.collectives;
      row.collective_bytes = AddBytes(row.collective_bytes, bytes);
      ++counts[{nodes_.collective[node], nodes_.group_name[node], nodes_.group_desc[node],
                nodes_.group_size[node], nodes_.dtype[node], bytes}];
    }
    for (const auto& [kind, count] : counts) {
      auto comm = Part::RowOf<ExecutionCommRow>(who_);
      comm.collective = Copy(std::get<0>(kind));
      comm.group_name = Copy(std::get<1>(kind));
      comm.group_desc = Copy(std::get<2>(kind));
      comm.group_size = std::get<3>(kind);
      comm.dtype = Copy(std::get<4>(kind));
      comm.bytes = std::get<5>(kind);
      comm.count = count;
      const bool fits =
          comm.bytes >= 0 && !__builtin_mul_overflow(comm.bytes, count, &comm.total_bytes);
      if (!fits) comm.total_bytes = kNone64;
      part_.tables.Edit<ExecutionCommTable>().Add(comm);
    }
  }

  void AddChain(const Chain& chain) {
    auto& rows = part_.tables.Edit<ExecutionChainTable>();
    for (size_t i = 0; i < std::min(chain.ops.size(), kLongestListed); ++i) {
      const size_t node = graph_.ops[chain.ops[i]];
      auto row = Part::RowOf<ExecutionChainRow>(who_);
      row.position = static_cast<int64_t>(i);
      row.node = nodes_.node[node];
      row.name = Copy(nodes_.name[node]);
      row.duration_ns = nodes_.duration_ns[node];
      rows.Add(row);
    }
  }

  void AddFlows() {
    struct Flow {
      int64_t edges = 0;
      int64_t bytes = 0;
    };
    std::map<std::pair<StringId, StringId>, Flow> flows;
    for (size_t op = 0; op < graph_.ops.size(); ++op) {
      for (const Edge& edge : graph_.before[op]) {
        Flow& flow = flows[{nodes_.name[graph_.ops[edge.from]], nodes_.name[graph_.ops[op]]}];
        ++flow.edges;
        flow.bytes = AddBytes(flow.bytes, edge.bytes);
      }
    }
    std::vector<std::pair<std::pair<StringId, StringId>, Flow>> sorted(flows.begin(), flows.end());
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
      return std::pair(a.second.bytes, a.second.edges) > std::pair(b.second.bytes, b.second.edges);
    });
    sorted.resize(std::min(sorted.size(), kMostFlows));
    for (const auto& [names, flow] : sorted) {
      auto row = Part::RowOf<ExecutionFlowRow>(who_);
      row.producer = Copy(names.first);
      row.consumer = Copy(names.second);
      row.edges = flow.edges;
      row.bytes = flow.bytes;
      part_.tables.Edit<ExecutionFlowTable>().Add(row);
    }
  }

  const Model& model_;
  const ExecutionNodeTable& nodes_;
  Identity who_;
  Part& part_;
  Graph graph_;
};

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [input, trace] : CollectTraces(model.tables.Get<ExecutionNodeTable>()))
    TraceRows(model, trace, result.part).Add(trace.rows.size());
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "execution_graph",
               .scope = AnalysisScope::kRank,
               .sentence = "Which ops of an execution trace feed which, how long is their longest "
                           "chain, and what do collectives move?",
               .example = "",
               .needs = kTableNames<ExecutionNodeTable>,
               .makes = kTableNames<ExecutionGraphTable, ExecutionChainTable, ExecutionFlowTable,
                                    ExecutionCommTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::execution_graph
