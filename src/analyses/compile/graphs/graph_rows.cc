#include "analyses/compile/graphs/graph_rows.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "torch/fx/graph_compare.h"

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

class ContentReader {
 public:
  ContentReader(const GraphNodes& graph, Pools& pools) : graph_(graph), pools_(pools) {}

  GraphContent Run() {
    CompileGraphRow& row = content_.row;
    row.ops = row.nodes = row.inputs = row.outputs = row.subgraph_ops = row.unknown = 0;
    row.subgraphs = static_cast<int32_t>(graph_.graphs.size()) - 1;
    row.symbols = InternOrNone(Symbols(graph_));
    row.hash = pools_.Intern(GraphHash(graph_));
    for (const FxNode& node : graph_.nodes) Take(node, node.graph == 0, row);
    row.input_bytes = input_bytes_.value();
    row.output_bytes = output_bytes_.value();
    return std::move(content_);
  }

 private:
  StringId InternOrNone(std::string_view text) {
    return text.empty() ? StringId::kNone : pools_.Intern(text);
  }

  void Take(const FxNode& node, bool outermost, CompileGraphRow& row) {
    if (node.op == FxOp::kUnknown) ++row.unknown;
    if (outermost) ++row.nodes;
    if (node.is_call()) {
      ++(outermost ? row.ops : row.subgraph_ops);
      CountOp(node);
    } else if (outermost && node.op == FxOp::kPlaceholder) {
      AddInput(node, row.inputs++);
    } else if (outermost && node.op == FxOp::kOutput) {
      row.outputs += static_cast<int32_t>(node.input_count);
      for (const FxInput& input : graph_.InputsOf(node))
        output_bytes_.Add(FxBytes(graph_.nodes[input.node].value));
    }
  }

  void CountOp(const FxNode& node) {
    const bool is_method = node.op == FxOp::kCallMethod;
    const StringId op = pools_.Intern(is_method ? text_.assign(".").append(node.target)
                                                : std::string_view(node.target));
    auto [at, is_new] = op_index_.try_emplace(op, content_.ops.size());
    if (is_new) content_.ops.push_back({.op = op, .count = 0});
    ++content_.ops[at->second].count;
  }

  void AddInput(const FxNode& node, int32_t position) {
    CompileGraphInputRow& made = content_.inputs.emplace_back();
    const FxInputSource source = GuessInputSource(node.target);
    made.position = position;
    made.name = pools_.Intern(node.target);
    made.dtype = InternOrNone(node.value.dtype);
    if (!node.value.text.empty()) made.sizes = pools_.Intern(node.value.sizes);
    made.strides = InternOrNone(node.value.strides);
    made.device = InternOrNone(node.value.device);
    made.bytes = FxBytes(node.value).value_or(kNone64);
    made.source = InternOrNone(source.path);
    made.is_parameter = source.is_parameter;
    made.users = static_cast<int32_t>(node.users);
    input_bytes_.Add(FxBytes(node.value));
  }

  const GraphNodes& graph_;
  Pools& pools_;
  GraphContent content_;
  Sum input_bytes_, output_bytes_;
  std::unordered_map<StringId, size_t> op_index_;  // into the ops
  std::string text_;
};

class Comparison {
 public:
  Comparison(const CompileGraphChangeRow& row, Pools& pools) : row_(row), pools_(pools) {}

  std::vector<CompileGraphChangeRow> Run(const GraphContent& before, const GraphContent& now) {
    CompareOps(before.ops, now.ops);
    CompareInputs(before.inputs, now.inputs);
    if (changes_.empty()) Add("structure", StringId::kNone, {}, {});
    return std::move(changes_);
  }

 private:
  void CompareOps(const std::vector<CompileGraphOpRow>& before,
                  const std::vector<CompileGraphOpRow>& now) {
    std::unordered_map<StringId, int32_t> left;  // what `now` has not named
    for (const CompileGraphOpRow& op : before) left[op.op] = op.count;
    for (const CompileGraphOpRow& op : now) {
      auto old = left.find(op.op);
      AddOp(op.op, old == left.end() ? 0 : old->second, op.count);
      if (old != left.end()) left.erase(old);
    }
    for (const CompileGraphOpRow& op : before) {
      if (left.contains(op.op)) AddOp(op.op, op.count, 0);
    }
  }

  void AddOp(StringId op, int32_t before, int32_t now) {
    if (before == now) return;
    row_.count = std::abs(now - before);
    Add(now > before ? "op_added" : "op_removed", op, pools_.Intern(std::to_string(before)),
        pools_.Intern(std::to_string(now)));
    row_.count = kNone32;
  }

  void CompareInputs(const std::vector<CompileGraphInputRow>& before,
                     const std::vector<CompileGraphInputRow>& now) {
    std::unordered_map<StringId, const CompileGraphInputRow*> left;
    for (const CompileGraphInputRow& input : before) left.emplace(input.name, &input);
    for (const CompileGraphInputRow& input : now) {
      auto old = left.find(input.name);
      if (old == left.end()) {
        Add("input_added", input.name, StringId::kNone, input.sizes);
        continue;
      }
      CompareInput(*old->second, input);
      left.erase(old);
    }
    for (const CompileGraphInputRow& input : before) {
      if (left.contains(input.name)) Add("input_removed", input.name, input.sizes, StringId::kNone);
    }
  }

  void CompareInput(const CompileGraphInputRow& before, const CompileGraphInputRow& now) {
    auto compare = [&](std::string_view what, StringId CompileGraphInputRow::* column) {
      if (before.*column != now.*column) Add(what, now.name, before.*column, now.*column);
    };
    compare("input_dtype", &CompileGraphInputRow::dtype);
    compare("input_shape", &CompileGraphInputRow::sizes);
    compare("input_strides", &CompileGraphInputRow::strides);
    compare("input_device", &CompileGraphInputRow::device);
  }

  void Add(std::string_view what, StringId name, StringId before, StringId now) {
    row_.what = pools_.Intern(what);
    row_.name = name;
    row_.before = before;
    row_.now = now;
    changes_.push_back(row_);
  }

  CompileGraphChangeRow row_;
  Pools& pools_;
  std::vector<CompileGraphChangeRow> changes_;
};

}  // namespace

GraphContent ReadContent(const GraphNodes& graph, Pools& pools) {
  return ContentReader(graph, pools).Run();
}

std::vector<CompileGraphChangeRow> FindChanges(const GraphContent& before, const GraphContent& now,
                                               CompileGraphChangeRow row, Pools& pools) {
  if (before.row.hash == now.row.hash) return {};
  return Comparison(row, pools).Run(before, now);
}

}  // namespace debrief::analyses::compile_graphs
