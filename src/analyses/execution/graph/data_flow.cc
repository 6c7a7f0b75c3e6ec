#include "analyses/execution/graph/data_flow.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/text/strings.h"

namespace debrief::analyses::execution_graph {

namespace {

constexpr uint32_t kNobody = ~uint32_t{0};

// What runs something: functions of PyTorch's dispatcher and autograd, and Chakra's nodes of work.
bool IsOp(const Model& model, size_t row) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  const std::string_view type = model.pools.Text(nodes.node_type[row]);
  if (!type.empty()) return type != "metadata";
  const std::string_view name = model.pools.Text(nodes.name[row]);
  if (name == "record_param_comms" || name.starts_with("[pytorch|")) return false;
  return nodes.scope[row] == 0 || nodes.scope[row] == 1;
}

// Does it change what it gets? "aten::add_", "aten::copy_", or a schema that says so.
bool Mutates(const Model& model, size_t row) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  std::string_view name = model.pools.Text(nodes.name[row]);
  name = name.substr(0, name.find('.'));
  return name.ends_with('_') || Contains(model.pools.Text(nodes.op_schema[row]), "!)");
}

// Allocations and views compute nothing: what comes out is empty, or went in unchanged.
bool IsHelper(const Model& model, size_t row) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  const std::string_view name = model.pools.Text(nodes.name[row]);
  if (name.starts_with("aten::empty") || name.starts_with("aten::new_empty") ||
      name == "aten::resize_")
    return true;
  if (Mutates(model, row)) return false;
  const auto reads = model.pools.lists.Get(nodes.reads[row]);
  const auto writes = model.pools.lists.Get(nodes.writes[row]);
  if (writes.empty()) return reads.empty();
  std::unordered_set<int64_t> taken;
  for (size_t i = 0; i < reads.size(); i += 2) taken.insert(reads[i]);
  for (size_t i = 0; i < writes.size(); i += 2) {
    if (!taken.contains(writes[i])) return false;
  }
  return true;
}

// Ops that enclose no other op but such helpers. A node has a smaller id than what it encloses.
void AddOps(const Model& model, std::span<const size_t> rows, Graph& graph) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  std::vector<size_t> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted, std::greater<>(), [&](size_t row) { return nodes.node[row]; });
  std::unordered_set<int64_t> encloses;
  for (size_t row : sorted) {
    const bool has_inner = encloses.contains(nodes.node[row]);
    const bool works = IsOp(model, row) && !IsHelper(model, row);
    if (works && !has_inner) graph.ops.push_back(row);
    if (works || has_inner) encloses.insert(nodes.parent[row]);
  }
  std::ranges::reverse(graph.ops);
}

// PyTorch's nodes have no dependencies: an op depends on who wrote a storage last. A storage that
// comes out and went in, unchanged, is a view: it still waits for its writer.
class StorageFlow {
 public:
  StorageFlow(const Model& model, Graph& graph) : model_(model), graph_(graph) {}

  void Add(uint32_t op) {
    const auto& nodes = model_.tables.Get<ExecutionNodeTable>();
    const size_t row = graph_.ops[op];
    const auto reads = model_.pools.lists.Get(nodes.reads[row]);
    const auto writes = model_.pools.lists.Get(nodes.writes[row]);
    std::unordered_set<int64_t> taken;
    for (size_t i = 0; i + 1 < reads.size(); i += 2) {
      if (taken.insert(reads[i]).second) AddRead(op, reads[i], reads[i + 1]);
    }
    const bool mutates = Mutates(model_, row);
    for (size_t i = 0; i + 1 < writes.size(); i += 2) {
      if (mutates || !taken.contains(writes[i])) writers_[writes[i]] = op;
    }
  }

 private:
  void AddRead(uint32_t op, int64_t storage, int64_t bytes) {
    const auto writer = writers_.find(storage);
    if (writer != writers_.end() && writer->second != op)
      graph_.before[op].push_back({writer->second, bytes});
  }

  const Model& model_;
  Graph& graph_;
  std::unordered_map<int64_t, uint32_t> writers_;
};

void AddTold(const Model& model, Graph& graph) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  std::unordered_map<int64_t, uint32_t> op_of;
  for (uint32_t op = 0; op < graph.ops.size(); ++op) op_of[nodes.node[graph.ops[op]]] = op;
  for (uint32_t op = 0; op < graph.ops.size(); ++op) {
    std::unordered_set<uint32_t> known;
    for (int64_t id : model.pools.lists.Get(nodes.depends[graph.ops[op]])) {
      const auto other = op_of.find(id);
      if (other != op_of.end() && known.insert(other->second).second)
        graph.before[op].push_back({other->second, 0});
    }
  }
}

}  // namespace

Graph BuildGraph(const Model& model, std::span<const size_t> rows) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  bool told = false;
  Graph graph;
  for (size_t row : rows) {
    told |= nodes.depends[row] != ListId::kNone || nodes.node_type[row] != StringId::kNone;
    if (nodes.collective[row] != StringId::kNone) graph.collectives.push_back(row);
  }
  if (told) {
    for (size_t row : rows) {
      if (IsOp(model, row)) graph.ops.push_back(row);
    }
    graph.before.resize(graph.ops.size());
    AddTold(model, graph);
    return graph;
  }
  AddOps(model, rows, graph);
  graph.before.resize(graph.ops.size());
  StorageFlow flow(model, graph);
  for (uint32_t op = 0; op < graph.ops.size(); ++op) flow.Add(op);
  return graph;
}

Chain LongestChain(const Graph& graph, std::span<const int64_t> durations) {
  const size_t count = graph.ops.size();
  std::vector<std::vector<uint32_t>> after(count);
  std::vector<size_t> waits(count);
  for (uint32_t op = 0; op < count; ++op) {
    waits[op] = graph.before[op].size();
    for (const Edge& edge : graph.before[op]) after[edge.from].push_back(op);
  }
  std::deque<uint32_t> ready;
  for (uint32_t op = 0; op < count; ++op) {
    if (waits[op] == 0) ready.push_back(op);
  }
  std::vector<int64_t> length(count, 0);
  std::vector<uint32_t> previous(count, kNobody);
  Chain chain{.ops = {}, .cyclic = static_cast<int64_t>(count)};
  uint32_t last = kNobody;
  while (!ready.empty()) {
    const uint32_t op = ready.front();
    ready.pop_front();
    --chain.cyclic;
    length[op] += durations.empty() ? 1 : durations[op];
    if (last == kNobody || length[op] > length[last]) last = op;
    for (uint32_t next : after[op]) {
      if (previous[next] == kNobody || length[op] > length[next]) {
        length[next] = length[op];
        previous[next] = op;
      }
      if (--waits[next] == 0) ready.push_back(next);
    }
  }
  for (uint32_t op = last; op != kNobody; op = previous[op]) chain.ops.push_back(op);
  std::ranges::reverse(chain.ops);
  return chain;
}

}  // namespace debrief::analyses::execution_graph
