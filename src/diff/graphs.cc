// Graphs whose operations changed. Graphs are matched by function, number of the compilation, rank
// and what they are; the hash of their content says which are the same, and those that are left are
// compared in their order.
//
// Whether a graph of a later stage is logged depends on what caches answer. So only Dynamo's own
// graph counts as new or gone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "diff/run_diff.h"
#include "diff/side.h"
#include "tables/compilation.h"
#include "tables/compile_graph.h"
#include "tables/compile_graph_op.h"

namespace debrief::diff {

namespace {

constexpr size_t kOpsNamed = 6;
constexpr std::string_view kFirstStage = "dynamo_output_graph";

struct Graph {
  int32_t input = kNone32;
  int64_t entry = kNone64;
  int64_t ops = 0;
  std::string hash;
};

// By name and rank, in the order of the log.
using RankGraphs = std::map<std::pair<std::string, int32_t>, std::vector<Graph>>;

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
      if (!side_.HasRow(table, row) || !side_.HasCompilation(side_.Text(table.compile_id[row])))
        continue;
      graphs[{NameOf(table, row), side_.RankKey(table.rank[row])}].push_back(
          {table.input[row], table.entry[row], table.ops[row],
           std::string(side_.Text(table.hash[row]))});
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
      name += fmt::format(", compilation {}", number->second + 1);
    if (!name.empty()) name += ": ";
    const std::string_view what = side_.Text(table.name[row]);
    return name + std::string(what.empty() ? side_.Text(table.kind[row]) : what);
  }

  const Side& side_;
  FunctionNames names_;
  const CompileGraphOpTable& ops_;
  std::map<std::pair<int32_t, StringId>, int32_t> numbers_;
  std::map<std::pair<int32_t, int64_t>, size_t> op_rows_;
};

// "+2 aten.add, -1 aten.mm"; of graphs with the same operations how they differ is not told.
std::string OpChanges(const std::map<std::string, int64_t>& before,
                      std::map<std::string, int64_t> now) {
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
    RankGraphs of_a = a_.Read(), of_b = b_.Read();
    for (const auto& [key, graphs] : of_b) of_a.try_emplace(key);
    for (auto& [key, graphs] : of_a) Compare(key, std::move(graphs), std::move(of_b[key]));
    std::vector<Row> rows;
    rows.reserve(rows_.size());
    for (auto& [key, row] : rows_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  void Compare(const RankGraphs::key_type& key, std::vector<Graph> before, std::vector<Graph> now) {
    TakeOutSame(before, now);
    const size_t both = std::min(before.size(), now.size());
    for (size_t i = 0; i < both; ++i)
      Add(key, "changed", before[i].ops, now[i].ops,
          OpChanges(a_.OpsOf(before[i]), b_.OpsOf(now[i])));
    if (!key.first.ends_with(kFirstStage)) return;
    for (size_t i = both; i < before.size(); ++i) Add(key, "gone", before[i].ops, 0, "");
    for (size_t i = both; i < now.size(); ++i) Add(key, "new", 0, now[i].ops, "");
  }

  static void TakeOutSame(std::vector<Graph>& before, std::vector<Graph>& now) {
    std::unordered_map<std::string, int64_t> in_both;  // how often a hash is left to be taken out
    std::unordered_map<std::string, int64_t> in_now;
    for (const Graph& graph : now) ++in_now[graph.hash];
    std::erase_if(before, [&](const Graph& graph) {
      auto same = in_now.find(graph.hash);
      if (same == in_now.end() || same->second == 0) return false;
      --same->second;
      ++in_both[graph.hash];
      return true;
    });
    std::erase_if(now, [&](const Graph& graph) {
      auto same = in_both.find(graph.hash);
      return same != in_both.end() && same->second-- > 0;
    });
  }

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
