#include "analyses/compile/graphs/graph_rows.h"

#include <optional>
#include <set>

#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"
#include "torch/fx/graph_hash.h"
#include "torch/fx/input_source.h"

namespace debrief::analyses::compile_graphs {

namespace {

// A sum that is null as soon as one of its parts is not known.
class Sum {
 public:
  void Add(std::optional<int64_t> bytes) {
    if (!bytes || __builtin_add_overflow(sum_, *bytes, &sum_)) known_ = false;
  }
  int64_t value() const { return known_ ? sum_ : kNone64; }

 private:
  int64_t sum_ = 0;
  bool known_ = true;
};

// s27 u0, in order of appearance
std::string Symbols(const GraphNodes& graph) {
  std::set<std::string_view> seen;
  std::string symbols;
  auto add = [&](std::string_view symbol) {
    if (!seen.insert(symbol).second) return;
    if (!symbols.empty()) symbols += ' ';
    symbols += symbol;
  };
  for (const FxNode& node : graph.nodes) ForEachFxSymbol(node.value.sizes, add);
  return symbols;
}

template <typename Row>
Row RowLike(const CompileGraphRow& graph) {
  Row row = Part::RowOf<Row>({.job = graph.job, .attempt = graph.attempt, .rank = graph.rank});
  row.input = graph.input;
  row.entry = graph.entry;
  return row;
}

}  // namespace

StringId GraphRows::InternOrNone(std::string_view text) {
  return text.empty() ? StringId::kNone : part_.pools.Intern(text);
}

StringId GraphRows::OpText(const FxNode& node) {
  if (node.op != FxOp::kCallMethod) return part_.pools.Intern(node.target);
  text_.assign(".").append(node.target);
  return part_.pools.Intern(text_);
}

RowRange GraphRows::Add(const GraphNodes& graph, CompileGraphRow& row) {
  RowRange range;
  range.op_begin = part_.tables.Edit<CompileGraphOpTable>().size();
  range.input_begin = part_.tables.Edit<CompileGraphInputTable>().size();
  row.ops = row.nodes = row.inputs = row.outputs = row.subgraph_ops = row.unknown = 0;
  row.subgraphs = static_cast<int32_t>(graph.graphs.size()) - 1;
  row.symbols = InternOrNone(Symbols(graph));
  row.hash = part_.pools.Intern(GraphHash(graph));
  Count(graph, row);
  AddOps(row);
  range.op_end = part_.tables.Edit<CompileGraphOpTable>().size();
  range.input_end = part_.tables.Edit<CompileGraphInputTable>().size();
  return range;
}

void GraphRows::Count(const GraphNodes& graph, CompileGraphRow& row) {
  Sum input_bytes;
  Sum output_bytes;
  ops_.clear();
  op_index_.clear();
  for (const FxNode& node : graph.nodes) {
    bool outermost = node.graph == 0;
    if (node.op == FxOp::kUnknown) ++row.unknown;
    if (outermost) ++row.nodes;
    if (node.is_call()) {
      ++(outermost ? row.ops : row.subgraph_ops);
      auto [at, is_new] = op_index_.try_emplace(OpText(node), ops_.size());
      if (is_new) ops_.emplace_back(at->first, 0);
      ++ops_[at->second].second;
    } else if (outermost && node.op == FxOp::kPlaceholder) {
      AddInput(node, row, row.inputs++);
      input_bytes.Add(FxBytes(node.value));
    } else if (outermost && node.op == FxOp::kOutput) {
      row.outputs += static_cast<int32_t>(node.input_count);
      for (const FxInput& input : graph.InputsOf(node))
        output_bytes.Add(FxBytes(graph.nodes[input.node].value));
    }
  }
  row.input_bytes = input_bytes.value();
  row.output_bytes = output_bytes.value();
}

void GraphRows::AddInput(const FxNode& node, const CompileGraphRow& row, int32_t position) {
  auto made = RowLike<CompileGraphInputRow>(row);
  FxInputSource source = GuessInputSource(node.target);
  made.position = position;
  made.name = part_.pools.Intern(node.target);
  made.dtype = InternOrNone(node.value.dtype);
  if (!node.value.text.empty()) made.sizes = part_.pools.Intern(node.value.sizes);
  made.strides = InternOrNone(node.value.strides);
  made.device = InternOrNone(node.value.device);
  made.bytes = FxBytes(node.value).value_or(kNone64);
  made.source = InternOrNone(source.path);
  made.is_parameter = source.is_parameter;
  made.users = static_cast<int32_t>(node.users);
  part_.tables.Edit<CompileGraphInputTable>().Add(made);
}

void GraphRows::AddOps(const CompileGraphRow& row) {
  auto made = RowLike<CompileGraphOpRow>(row);
  for (const auto& [op, count] : ops_) {
    made.op = op;
    made.count = count;
    part_.tables.Edit<CompileGraphOpTable>().Add(made);
  }
}

RowRange GraphRows::AddCopy(size_t same, const RowRange& range, CompileGraphRow& row) {
  const auto& graphs = part_.tables.Edit<CompileGraphTable>();
  row.ops = graphs.ops[same];
  row.nodes = graphs.nodes[same];
  row.inputs = graphs.inputs[same];
  row.outputs = graphs.outputs[same];
  row.subgraphs = graphs.subgraphs[same];
  row.subgraph_ops = graphs.subgraph_ops[same];
  row.unknown = graphs.unknown[same];
  row.input_bytes = graphs.input_bytes[same];
  row.output_bytes = graphs.output_bytes[same];
  row.symbols = graphs.symbols[same];
  row.hash = graphs.hash[same];
  RowRange copy;
  auto& ops = part_.tables.Edit<CompileGraphOpTable>();
  copy.op_begin = ops.size();
  auto op = RowLike<CompileGraphOpRow>(row);
  for (size_t i = range.op_begin; i < range.op_end; ++i) {
    op.op = ops.op[i];
    op.count = ops.count[i];
    ops.Add(op);
  }
  copy.op_end = ops.size();
  CopyInputs(range, row, copy);
  return copy;
}

void GraphRows::CopyInputs(const RowRange& range, const CompileGraphRow& row, RowRange& copy) {
  auto& inputs = part_.tables.Edit<CompileGraphInputTable>();
  copy.input_begin = inputs.size();
  auto input = RowLike<CompileGraphInputRow>(row);
  for (size_t i = range.input_begin; i < range.input_end; ++i) {
    input.position = inputs.position[i];
    input.name = inputs.name[i];
    input.dtype = inputs.dtype[i];
    input.sizes = inputs.sizes[i];
    input.strides = inputs.strides[i];
    input.device = inputs.device[i];
    input.bytes = inputs.bytes[i];
    input.source = inputs.source[i];
    input.is_parameter = inputs.is_parameter[i];
    input.users = inputs.users[i];
    inputs.Add(input);
  }
  copy.input_end = inputs.size();
}

}  // namespace debrief::analyses::compile_graphs
