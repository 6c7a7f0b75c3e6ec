// The grids: which groups and columns, and the state of each cell.
#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "outputs/comm_index.h"
#include "outputs/report/html/collectives/collectives.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kAround = 3;        // columns kept on each side of one that matters
constexpr size_t kMostMentions = 8;  // findings of a group whose columns are kept
constexpr size_t kColumnBytes = 24;  // sequence, op, sizes and line of a column, about
constexpr size_t kRowBytes = 12;     // quotes of a row and its rank, about

bool IsTrouble(std::string_view status) {
  return status == "running" || status == "waiting" || status == "mismatch";
}

class GridChooser {
 public:
  explicit GridChooser(const Model& model)
      : model_(model), matches_(model.tables.Get<CommMatchTable>()) {
    for (size_t i = 0; i < model.findings.size(); ++i) {
      for (const GroupRef& group : model.findings[i].groups) by_name_[group.name].push_back(i);
    }
  }

  Grids Choose() {
    Collect();
    for (Grid& grid : grids_) FindMentions(grid);
    std::sort(grids_.begin(), grids_.end(),
              [](const Grid& a, const Grid& b) { return Order(a) < Order(b); });
    const size_t all = grids_.size();
    if (grids_.size() > kMostGrids) grids_.erase(grids_.begin() + kMostGrids, grids_.end());
    for (Grid& grid : grids_) SortMatches(grid);
    ChooseColumns();
    return {.grids = std::move(grids_), .left_out = all - kept_};
  }

 private:
  using Key = std::tuple<int32_t, int32_t, StringId, StringId, ListId, bool>;

  static std::tuple<size_t, bool, size_t, size_t> Order(const Grid& grid) {
    const size_t first = grid.mentions.empty() ? kNoRow : grid.mentions.front();
    return {first, grid.trouble == 0, kNoRow - grid.ranks.size(), grid.match};
  }

  void Collect() {
    std::map<Key, size_t> found;
    for (size_t row = 0; row < matches_.size(); ++row) {
      const bool is_p2p = model_.pools.Text(matches_.kind[row]) == "p2p";
      const Key key = {matches_.job[row],        matches_.attempt[row], matches_.group_name[row],
                       matches_.group_desc[row], matches_.members[row], is_p2p};
      auto [at, is_new] = found.try_emplace(key, grids_.size());
      if (is_new) AddGrid(row, is_p2p);
      Grid& grid = grids_[at->second];
      grid.matches.push_back(row);
      grid.trouble += IsTrouble(model_.pools.Text(matches_.status[row])) ? 1 : 0;
    }
  }

  void AddGrid(size_t row, bool is_p2p) {
    Grid& grid = grids_.emplace_back();
    grid.match = row;
    grid.is_p2p = is_p2p;
    const auto members = model_.pools.lists.Get(matches_.members[row]);
    grid.ranks.assign(members.begin(), members.end());
    std::sort(grid.ranks.begin(), grid.ranks.end());
  }

  void FindMentions(Grid& grid) const {
    const auto at = by_name_.find(model_.pools.Text(matches_.group_name[grid.match]));
    if (at == by_name_.end()) return;
    for (size_t finding : at->second) {
      if (Mentions(grid, finding)) grid.mentions.push_back(finding);
    }
  }

  bool Mentions(const Grid& grid, size_t index) const {
    const Finding& finding = model_.findings[index];
    if (finding.job != kNone32 && finding.job != matches_.job[grid.match]) return false;
    if (finding.attempt != kNone32 && finding.attempt != matches_.attempt[grid.match]) return false;
    const std::string_view name = model_.pools.Text(matches_.group_name[grid.match]);
    return std::any_of(finding.groups.begin(), finding.groups.end(), [&](const GroupRef& group) {
      return group.name == name &&
             (group.ranks.empty() || std::is_permutation(group.ranks.begin(), group.ranks.end(),
                                                         grid.ranks.begin(), grid.ranks.end()));
    });
  }

  void SortMatches(Grid& grid) const {
    const auto key = [&](size_t row) {
      return std::tie(matches_.seq[row], matches_.first_ns[row], matches_.match[row]);
    };
    std::sort(grid.matches.begin(), grid.matches.end(),
              [&](size_t a, size_t b) { return key(a) < key(b); });
  }

  // The most columns for all that the budget allows; when even few do not fit, fewer groups.
  void ChooseColumns() {
    constexpr size_t kSteps[] = {kMostColumns, 90, 60, 40, 25, 15};
    for (size_t most : kSteps) {
      if (TryColumns(most) == grids_.size()) break;
    }
    if (kept_ == 0 && !grids_.empty()) {
      const size_t bytes = kGridBytes / std::max<size_t>(1, grids_.front().ranks.size());
      if (bytes > kRowBytes) KeepLast(grids_.front(), std::min<size_t>(15, bytes - kRowBytes));
      kept_ = bytes > kRowBytes ? 1 : 0;
    }
    grids_.erase(grids_.begin() + static_cast<std::ptrdiff_t>(kept_), grids_.end());
  }

  // Returns how many grids fit.
  size_t TryColumns(size_t most) {
    size_t bytes = 0;
    for (kept_ = 0; kept_ < grids_.size(); ++kept_) {
      Grid& grid = grids_[kept_];
      KeepColumns(grid, most);
      bytes += grid.ranks.size() * (grid.columns.size() + kRowBytes) +
               grid.columns.size() * kColumnBytes;
      if (bytes > kGridBytes) break;
    }
    return kept_;
  }

  static void KeepLast(Grid& grid, size_t most) {
    grid.columns.clear();
    const size_t begin = grid.matches.size() - std::min(most, grid.matches.size());
    for (size_t i = begin; i < grid.matches.size(); ++i)
      grid.columns.push_back({.match = grid.matches[i]});
  }

  void KeepColumns(Grid& grid, size_t most) const {
    const size_t count = grid.matches.size();
    std::vector<bool> keep(count);
    for (size_t i = count - std::min(most, count); i < count; ++i) keep[i] = true;
    const auto keep_around = [&](size_t i) {
      const size_t end = std::min(count, i + kAround + 1);
      for (size_t at = i - std::min(i, kAround); at < end; ++at) keep[at] = true;
    };
    const auto trouble = std::find_if(grid.matches.begin(), grid.matches.end(), [&](size_t row) {
      return IsTrouble(model_.pools.Text(matches_.status[row]));
    });
    if (trouble != grid.matches.end())
      keep_around(static_cast<size_t>(trouble - grid.matches.begin()));
    for (size_t m = 0; m < std::min(grid.mentions.size(), kMostMentions); ++m) {
      const int64_t seq = model_.findings[grid.mentions[m]].seq;
      const auto at = std::partition_point(grid.matches.begin(), grid.matches.end(),
                                           [&](size_t row) { return matches_.seq[row] < seq; });
      if (seq != kNone64 && at != grid.matches.end())
        keep_around(static_cast<size_t>(at - grid.matches.begin()));
    }
    grid.columns.clear();
    for (size_t i = 0; i < count; ++i) {
      if (keep[i]) grid.columns.push_back({.match = grid.matches[i]});
    }
  }

  const Model& model_;
  const CommMatchTable& matches_;
  std::unordered_map<std::string_view, std::vector<size_t>> by_name_;  // findings
  std::vector<Grid> grids_;
  size_t kept_ = 0;
};

// Cells of the grids: first what the lists of each match say, then the state of each entry.
//
// In a match whose members do not agree the cells of those to blame become kMismatch: the ranks of
// a finding about this sequence, else those outside of the majority, else (no majority) all.

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

Grids ChooseGrids(const Model& model) { return GridChooser(model).Choose(); }

void FillCells(const Model& model, std::vector<Grid>& grids) { CellFiller(model, grids).Fill(); }

Grids MakeGrids(const Model& model) {
  Grids made = ChooseGrids(model);
  FillCells(model, made.grids);
  return made;
}

}  // namespace debrief::outputs::html
