#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "outputs/report/html/collectives/collectives.h"
#include "tables/comm_match.h"

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

}  // namespace

Grids ChooseGrids(const Model& model) { return GridChooser(model).Choose(); }

}  // namespace debrief::outputs::html
