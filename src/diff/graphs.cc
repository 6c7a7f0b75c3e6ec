// Graphs whose operations changed. A graph is matched by its function, the number of its
// compilation, its kind and its place; the hash of its content says whether it is the same.
#include <fmt/format.h>

#include <map>
#include <set>

#include "diff/compile_names.h"
#include "diff/run_diff.h"
#include "tables/compilation.h"
#include "tables/compile_graph.h"
#include "tables/compile_graph_op.h"

namespace debrief::diff {

namespace {

constexpr size_t kOpsNamed = 6;

struct Graph {
  int32_t input = kNone32;
  int64_t entry = kNone64;
  int64_t ops = 0;
  std::string hash;
};

using RankGraphs = std::map<std::pair<std::string, int32_t>, Graph>;  // by name and rank

class GraphReader {
 public:
  explicit GraphReader(const Side& side)
      : side_(side), names_(side), ops_(side.model.tables.Get<CompileGraphOpTable>()) {
    const auto& table = side.model.tables.Get<CompilationTable>();
    for (size_t row = 0; row < table.size(); ++row)
      numbers_[{table.input[row], table.compile_id[row]}] = table.number[row];
    for (size_t row = 0; row < ops_.size(); ++row)
      op_rows_.try_emplace({ops_.input[row], ops_.entry[row]}, row);
  }

  RankGraphs Read() const {
    const auto& table = side_.model.tables.Get<CompileGraphTable>();
    RankGraphs graphs;
    for (size_t row = 0; row < table.size(); ++row) {
      if (!side_.Has(table.rank[row]) || !side_.HasCompilation(side_.Text(table.compile_id[row])))
        continue;
      graphs[{NameOf(table, row), side_.RankKey(table.rank[row])}] = {
          table.input[row], table.entry[row], table.ops[row],
          std::string(side_.Text(table.hash[row]))};
    }
    return graphs;
  }

  // How often each operation is in a graph.
  std::map<std::string, int64_t> OpsOf(const Graph& graph) const {
    std::map<std::string, int64_t> counts;
    auto first = op_rows_.find({graph.input, graph.entry});
    if (first == op_rows_.end()) return counts;
    for (size_t row = first->second;
         row < ops_.size() && ops_.entry[row] == graph.entry && ops_.input[row] == graph.input;
         ++row)
      counts[std::string(side_.Text(ops_.op[row]))] += ops_.count[row];
    return counts;
  }

 private:
  std::string NameOf(const CompileGraphTable& table, size_t row) const {
    std::string name = names_.OfCompilation(table.input[row], table.compile_id[row]);
    auto number = numbers_.find({table.input[row], table.compile_id[row]});
    if (!name.empty() && number != numbers_.end() && number->second > 0)
      name += fmt::format(", compiled {} times before", number->second);
    if (!name.empty()) name += ": ";
    name += std::string(side_.Text(table.kind[row]));
    const std::string_view what = side_.Text(table.name[row]);
    if (!what.empty()) name += fmt::format(" {}", what);
    if (table.position[row] > 0) name += fmt::format(" #{}", table.position[row] + 1);
    return name;
  }

  const Side& side_;
  FunctionNames names_;
  const CompileGraphOpTable& ops_;
  std::map<std::pair<int32_t, StringId>, int32_t> numbers_;
  std::map<std::pair<int32_t, int64_t>, size_t> op_rows_;
};

// "+2 aten.add, -1 aten.mm"; of graphs with the same operations how they differ is not told.
std::string OpChanges(std::map<std::string, int64_t> before, std::map<std::string, int64_t> now) {
  for (const auto& [op, count] : before) now[op] -= count;
  std::string text;
  size_t named = 0, more = 0;
  for (const auto& [op, count] : now) {
    if (count == 0) continue;
    if (named++ < kOpsNamed)
      text += fmt::format("{}{:+} {}", text.empty() ? "" : ", ", count, op);
    else
      ++more;
  }
  if (more > 0) text += fmt::format(" and {} more", more);
  return text.empty() ? "same operations; shapes, constants or connections differ" : text;
}

class GraphDiff {
 public:
  GraphDiff(const Side& a, const Side& b) : a_(a), b_(b) {}

  std::vector<Row> Rows() {
    const RankGraphs of_a = a_.Read(), of_b = b_.Read();
    for (const auto& [key, graph] : of_a) {
      auto other = of_b.find(key);
      if (other == of_b.end()) {
        Add(key, "gone", graph.ops, 0, "");
      } else if (other->second.hash != graph.hash) {
        Add(key, "changed", graph.ops, other->second.ops,
            OpChanges(a_.OpsOf(graph), b_.OpsOf(other->second)));
      }
    }
    for (const auto& [key, graph] : of_b)
      if (!of_a.contains(key)) Add(key, "new", 0, graph.ops, "");
    std::vector<Row> rows;
    for (auto& [key, row] : rows_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  // Ranks with the same difference share a row.
  void Add(const RankGraphs::key_type& key, std::string change, int64_t a, int64_t b,
           std::string note) {
    const std::string id = fmt::format("{}|{}|{}|{}|{}", key.first, change, a, b, note);
    Row& row = rows_[id];
    row.change = std::move(change);
    row.name = key.first;
    row.unit = Unit::kCount;
    row.value = {.a = a, .b = b, .noise = 0, .is_real = true};
    row.note = std::move(note);
    if (key.second != kNone32) row.ranks.push_back(key.second);
  }

  GraphReader a_, b_;
  std::map<std::string, Row> rows_;
};

}  // namespace

void DiffGraphs(const Side& a, const Side& b, RunDiff& diff) {
  AddSection("graphs", "Graphs (operations)", GraphDiff(a, b).Rows(), diff);
}

}  // namespace debrief::diff
