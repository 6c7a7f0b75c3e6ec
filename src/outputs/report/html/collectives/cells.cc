// Cells of the grids: first what the lists of each match say, then the state of each entry.
//
// In a match whose members do not agree the cells of those to blame become kMismatch: the ranks of
// a finding about this sequence, else those outside of the majority, else (no majority) all.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "outputs/comm_index.h"
#include "outputs/report/html/collectives/collectives.h"
#include "tables/comm_call.h"
#include "tables/comm_op.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostDifferences = 1000;  // a grid

// What members of a match are compared by; parts that are not compared are kNone.
using Signature = std::tuple<StringId, StringId, StringId, StringId, StringId>;

struct Call {
  size_t column = 0;
  size_t row = 0;
  size_t op_row = 0;
};

size_t RowOf(const Grid& grid, int64_t rank) {
  const auto at = std::lower_bound(grid.ranks.begin(), grid.ranks.end(), rank);
  if (at == grid.ranks.end() || *at != rank) return kNoRow;
  return static_cast<size_t>(at - grid.ranks.begin());
}

class CellFiller {
 public:
  CellFiller(const Model& model, std::vector<Grid>& grids)
      : model_(model),
        matches_(model.tables.Get<CommMatchTable>()),
        ops_(model.tables.Get<CommOpTable>()),
        grids_(grids),
        disputed_(grids.size()) {}

  void Fill() {
    for (size_t g = 0; g < grids_.size(); ++g) FillFromLists(g);
    FillFromCalls();
    for (size_t g = 0; g < grids_.size(); ++g) Judge(g);
  }

 private:
  void FillFromLists(size_t g) {
    Grid& grid = grids_[g];
    const Cell blank = grid.is_p2p ? kNotInIt : kUnknown;
    grid.cells.assign(grid.ranks.size(), std::string(grid.columns.size(), blank));
    grid.stacks.assign(grid.ranks.size() * grid.columns.size(), StackId::kNone);
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      const size_t match = grid.columns[column].match;
      column_of_[match] = {g, column};
      Mark(grid, column, matches_.unknown[match], kUnknown);
      Mark(grid, column, matches_.missing[match], kMissing);
      Mark(grid, column, matches_.joined[match], kScheduled);
      Mark(grid, column, matches_.completed[match], kCompleted);
    }
  }

  void Mark(Grid& grid, size_t column, ListId ranks, Cell cell) const {
    for (int64_t rank : model_.pools.lists.Get(ranks)) {
      const size_t row = RowOf(grid, rank);
      if (row != kNoRow) grid.cells[row][column] = cell;
    }
  }

  void FillFromCalls() {
    const auto& calls = model_.tables.Get<CommCallTable>();
    const MatchRows rows(matches_);
    for (size_t i = 0; i < calls.size(); ++i) {
      const auto op_row = static_cast<size_t>(calls.op_row[i]);
      const auto at = column_of_.find(rows.Find(calls.match[i]));
      if (at == column_of_.end() || op_row >= ops_.size()) continue;
      AddCall(at->second.first, at->second.second, op_row);
    }
  }

  void AddCall(size_t g, size_t column, size_t op_row) {
    Grid& grid = grids_[g];
    const size_t row = RowOf(grid, ops_.rank[op_row]);
    if (row == kNoRow) return;
    char& cell = grid.cells[row][column];
    const std::string_view state = model_.pools.Text(ops_.state[op_row]);
    if (cell != kCompleted && state == "started") cell = kStarted;
    StackId& stack = grid.stacks[grid.CellNumber(row, column)];
    if (stack == StackId::kNone) stack = ops_.stack[op_row];  // of a region that of its first op
    Column& shown = grid.columns[column];
    const bool has_name = ops_.op[op_row] == matches_.op[shown.match];
    if (shown.op_row == kNoRow || (has_name && ops_.op[shown.op_row] != matches_.op[shown.match]))
      shown.op_row = op_row;
    if (matches_.mismatch[shown.match] != StringId::kNone)
      disputed_[g].push_back({column, row, op_row});
  }

  // The parts of an op that the match says differ.
  Signature SignatureOf(size_t match, size_t op_row) const {
    const std::string_view what = model_.pools.Text(matches_.mismatch[match]);
    const bool type = what.find("type") == 0;
    const bool size = what.find("size") != std::string_view::npos;
    const bool dtype = what.find("dtype") != std::string_view::npos;
    const auto part = [](bool wanted, StringId id) { return wanted ? id : StringId::kNone; };
    return {part(type, ops_.op[op_row]), part(size, ops_.input_sizes[op_row]),
            part(size, ops_.output_sizes[op_row]), part(dtype, ops_.input_dtypes[op_row]),
            part(dtype, ops_.output_dtypes[op_row])};
  }

  void Judge(size_t g) {
    std::vector<Call>& calls = disputed_[g];
    std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return std::tie(a.column, a.row, a.op_row) < std::tie(b.column, b.row, b.op_row);
    });
    for (auto begin = calls.begin(); begin != calls.end();) {
      auto end = std::find_if(begin, calls.end(),
                              [&](const Call& call) { return call.column != begin->column; });
      JudgeColumn(grids_[g], {begin, end});
      begin = end;
    }
  }

  void JudgeColumn(Grid& grid, std::span<const Call> calls) {
    Column& column = grid.columns[calls.front().column];
    std::map<Signature, size_t> votes;
    for (const Call& call : calls) ++votes[SignatureOf(column.match, call.op_row)];
    if (votes.size() < 2) return;  // they differ in state, which the cells show
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool decided = most->second * 2 > calls.size();
    const std::vector<int32_t> blamed = Blamed(grid, matches_.seq[column.match]);
    for (const Call& call : calls) {
      const bool differs = SignatureOf(column.match, call.op_row) != most->first;
      const bool is_blamed =
          blamed.empty() ? !decided || differs
                         : std::binary_search(blamed.begin(), blamed.end(), ops_.rank[call.op_row]);
      if (is_blamed) grid.cells[call.row][call.column] = kMismatch;
      if (!differs) column.op_row = call.op_row;
      if (differs && grid.differences.size() < kMostDifferences)
        grid.differences.push_back({call.column, call.row, call.op_row});
    }
  }

  // Ranks that the most important finding about this sequence blames; sorted.
  std::vector<int32_t> Blamed(const Grid& grid, int64_t seq) const {
    for (size_t mention : grid.mentions) {
      const Finding& finding = model_.findings[mention];
      if (finding.seq != seq || finding.role != Role::kCause) continue;
      std::vector<int32_t> ranks = finding.ranks;
      std::sort(ranks.begin(), ranks.end());
      return ranks;
    }
    return {};
  }

  const Model& model_;
  const CommMatchTable& matches_;
  const CommOpTable& ops_;
  std::vector<Grid>& grids_;
  std::vector<std::vector<Call>> disputed_;                          // by grid
  std::unordered_map<size_t, std::pair<size_t, size_t>> column_of_;  // by row of comm_match
};

}  // namespace

void FillCells(const Model& model, std::vector<Grid>& grids) { CellFiller(model, grids).Fill(); }

Grids MakeGrids(const Model& model) {
  Grids made = ChooseGrids(model);
  FillCells(model, made.grids);
  return made;
}

}  // namespace debrief::outputs::html
