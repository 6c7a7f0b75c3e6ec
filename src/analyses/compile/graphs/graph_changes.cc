#include "analyses/compile/graphs/graph_changes.h"

#include <unordered_map>

#include "tables/compile_graph_change.h"
#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"

namespace debrief::analyses::compile_graphs {

namespace {

class Comparison {
 public:
  Comparison(Part& part, const GraphRef& before, const GraphRef& now)
      : part_(part),
        ops_(part.tables.Edit<CompileGraphOpTable>()),
        inputs_(part.tables.Edit<CompileGraphInputTable>()),
        changes_(part.tables.Edit<CompileGraphChangeTable>()),
        before_(before.range),
        now_(now.range) {
    const auto& graphs = part.tables.Edit<CompileGraphTable>();
    row_ = Part::RowOf<CompileGraphChangeRow>({.job = graphs.job[now.row],
                                               .attempt = graphs.attempt[now.row],
                                               .rank = graphs.rank[now.row]});
    row_.input = graphs.input[now.row];
    row_.entry = graphs.entry[now.row];
    row_.previous = graphs.entry[before.row];
  }

  void Run() {
    size_t first = changes_.size();
    CompareOps();
    CompareInputs();
    if (changes_.size() == first) Add("structure", StringId::kNone, {}, {});
  }

 private:
  using Counts = std::unordered_map<StringId, int32_t>;

  void CompareOps() {
    Counts before;
    Counts now;
    for (size_t i = before_.op_begin; i < before_.op_end; ++i) before[ops_.op[i]] = ops_.count[i];
    for (size_t i = now_.op_begin; i < now_.op_end; ++i) {
      now[ops_.op[i]] = ops_.count[i];
      auto old = before.find(ops_.op[i]);
      AddOp(ops_.op[i], old == before.end() ? 0 : old->second, ops_.count[i]);
    }
    for (size_t i = before_.op_begin; i < before_.op_end; ++i)
      if (!now.contains(ops_.op[i])) AddOp(ops_.op[i], ops_.count[i], 0);
  }

  void AddOp(StringId op, int32_t before, int32_t now) {
    if (before == now) return;
    row_.count = now > before ? now - before : before - now;
    Add(now > before ? "op_added" : "op_removed", op, part_.pools.Intern(std::to_string(before)),
        part_.pools.Intern(std::to_string(now)));
    row_.count = kNone32;
  }

  void CompareInputs() {
    std::unordered_map<StringId, size_t> before;
    for (size_t i = before_.input_begin; i < before_.input_end; ++i)
      before.emplace(inputs_.name[i], i);
    for (size_t i = now_.input_begin; i < now_.input_end; ++i) {
      auto old = before.find(inputs_.name[i]);
      if (old == before.end()) {
        Add("input_added", inputs_.name[i], StringId::kNone, inputs_.sizes[i]);
        continue;
      }
      CompareInput(old->second, i);
      before.erase(old);
    }
    for (size_t i = before_.input_begin; i < before_.input_end; ++i)
      if (before.contains(inputs_.name[i]))
        Add("input_removed", inputs_.name[i], inputs_.sizes[i], StringId::kNone);
  }

  void CompareInput(size_t before, size_t now) {
    auto compare = [&](std::string_view what, const std::vector<StringId>& column) {
      if (column[before] != column[now]) Add(what, inputs_.name[now], column[before], column[now]);
    };
    compare("input_dtype", inputs_.dtype);
    compare("input_shape", inputs_.sizes);
    compare("input_strides", inputs_.strides);
    compare("input_device", inputs_.device);
  }

  void Add(std::string_view what, StringId name, StringId before, StringId now) {
    row_.what = part_.pools.Intern(what);
    row_.name = name;
    row_.before = before;
    row_.now = now;
    changes_.Add(row_);
  }

  Part& part_;
  const CompileGraphOpTable& ops_;
  const CompileGraphInputTable& inputs_;
  CompileGraphChangeTable& changes_;
  RowRange before_;
  RowRange now_;
  CompileGraphChangeRow row_;
};

}  // namespace

void AddChanges(Part& part, const GraphRef& before, const GraphRef& now) {
  const auto& graphs = part.tables.Edit<CompileGraphTable>();
  if (graphs.hash[before.row] == graphs.hash[now.row]) return;
  Comparison(part, before, now).Run();
}

}  // namespace debrief::analyses::compile_graphs
