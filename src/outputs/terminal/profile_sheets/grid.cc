#include "outputs/terminal/profile_sheets/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "torch/kernel_names.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr ColumnInfo kMostOn = {"most_on", ColumnType::kString,
                                "the rank that has most of it, and how much that is",
                                ColumnUnit::kNone, "most on rank"};

double NumberOf(const Cell& cell) {
  return cell.kind == Cell::kReal ? cell.real : static_cast<double>(cell.integer);
}

bool IsNumber(const Cell& cell) { return cell.kind == Cell::kInteger || cell.kind == Cell::kReal; }

// How values of a column join: by what the column is called.
enum class Join : uint8_t { kSum, kLeast, kMost, kMean, kText };

Join JoinOf(const ColumnInfo& column) {
  if (column.type == ColumnType::kString) return Join::kText;
  if (column.name.starts_with("min_")) return Join::kLeast;
  if (column.name.starts_with("max_") || column.name.starts_with("longest")) return Join::kMost;
  if (column.name.starts_with("mean_")) return Join::kMean;
  return Join::kSum;
}

// All rows of one key.
struct Sum {
  std::vector<Cell> cells;  // by column of the sheet
  std::map<int32_t, double> by_rank;
  size_t rows = 0;
  size_t first = 0;  // row
};

class Summing {
 public:
  Summing(const Model& model, const Table& table, const Sheet& sheet)
      : model_(model),
        table_(table),
        rank_(FindColumn(table.info(), "rank")),
        is_sorted_(!sheet.sort_by.empty()) {
    Sheet named = sheet;
    named.columns = sheet.summed;
    specs_ = ColumnsOf(named);
    for (const SheetColumn& spec : specs_) columns_.push_back(FindColumn(table.info(), spec.name));
    named.columns = sheet.sum_by;
    for (const SheetColumn& key : ColumnsOf(named)) keys_.push_back(key.name);
    size_ = specs_.empty() ? std::nullopt : FindColumn(table.info(), Largest());
  }

  void Add(size_t row) {
    auto [found, is_new] = sums_.try_emplace(KeyOf(row));
    Sum& sum = found->second;
    if (is_new) sum.first = row;
    sum.cells.resize(specs_.size());
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (columns_[i]) JoinCell(i, Read(*columns_[i], row, specs_[i].name), sum);
    }
    ++sum.rows;
    const Cell rank = rank_ ? ReadCell(model_.pools, table_, *rank_, row) : Cell();
    if (rank.kind != Cell::kInteger) return;
    ranks_.insert(static_cast<int32_t>(rank.integer));
    if (size_) sum.by_rank[static_cast<int32_t>(rank.integer)] += NumberOf(Read(*size_, row, ""));
  }

  size_t ranks() const { return ranks_.size(); }

  Grid Take() {
    std::vector<Sum*> ordered;
    for (auto& [key, sum] : sums_) ordered.push_back(&sum);
    // Steps stay in their order.
    std::stable_sort(ordered.begin(), ordered.end(), [&](const Sum* a, const Sum* b) {
      return is_sorted_ ? Size(*a) > Size(*b) : a->first < b->first;
    });
    Grid grid{.columns = {}, .rows = ordered.size(), .ranks = ranks_.size()};
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (columns_[i]) grid.columns.push_back(Column(i, ordered));
    }
    if (size_ && !keys_.empty()) AddMostOn(ordered, grid);
    return grid;
  }

 private:
  // The first number of the sheet: what rows are ordered by.
  std::string_view Largest() const {
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (columns_[i] && !IsKey(i) && JoinOf(Info(i)) == Join::kSum) return specs_[i].name;
    }
    return {};
  }

  bool IsKey(size_t i) const {
    return std::find(keys_.begin(), keys_.end(), specs_[i].name) != keys_.end();
  }

  const ColumnInfo& Info(size_t i) const { return table_.info().columns[*columns_[i]]; }

  Cell Read(size_t column, size_t row, std::string_view name) const {
    Cell cell = ReadCell(model_.pools, table_, column, row);
    const bool is_kernel =
        name == "kernel" || (name == "name" && table_.info().name == "profile_kernel");
    if (is_kernel) cell.text = ShortKernelName(cell.text);
    return cell;
  }

  std::string KeyOf(size_t row) const {
    std::string key;
    for (std::string_view name : keys_) {
      if (auto column = FindColumn(table_.info(), name)) {
        const Cell cell = Read(*column, row, name);
        key += cell.kind == Cell::kText ? cell.text : fmt::format("{}", cell.integer);
      }
      key += '\0';
    }
    return key;
  }

  void JoinCell(size_t i, const Cell& cell, Sum& sum) const {
    Cell& to = sum.cells[i];
    if (sum.rows == 0 || to.kind == Cell::kNull) {
      to = cell;
      return;
    }
    const Join join = JoinOf(Info(i));
    if (IsKey(i) || !IsNumber(cell)) return;
    const bool replaces = (join == Join::kLeast && NumberOf(cell) < NumberOf(to)) ||
                          (join == Join::kMost && NumberOf(cell) > NumberOf(to));
    if (replaces) to = cell;
    if (join == Join::kSum || join == Join::kMean) {
      to.integer += cell.integer;
      to.real += cell.real;
    }
  }

  double Size(const Sum& sum) const {
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (columns_[i] == size_ && size_) return NumberOf(sum.cells[i]);
    }
    return 0;
  }

  // The cell of another column of the same row.
  Cell CellOf(const Sum& sum, std::string_view name) const {
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (specs_[i].name == name) return sum.cells[i];
    }
    return {};
  }

  GridColumn Column(size_t i, const std::vector<Sum*>& ordered) const {
    GridColumn column{.info = &Info(i), .cells = {}};
    Cell all{.kind = Cell::kInteger};
    for (const Sum* sum : ordered) all.integer += sum->cells[i].integer;
    for (const Sum* sum : ordered) {
      GridCell cell{.cell = sum->cells[i], .whole = {}, .unit = column.info->unit};
      if (JoinOf(*column.info) == Join::kMean) cell.cell = Mean(*sum, cell.cell);
      if (specs_[i].share_of == "*")
        cell.whole = all;
      else if (!specs_[i].share_of.empty())
        cell.whole = CellOf(*sum, specs_[i].share_of);
      column.cells.push_back(std::move(cell));
    }
    return column;
  }

  // Of all that was summed; where nothing counts them, the mean of the means.
  Cell Mean(const Sum& sum, const Cell& summed) const {
    const Cell total = CellOf(sum, "total_ns"), count = CellOf(sum, "count");
    Cell mean = summed;
    if (IsNumber(total) && count.integer > 0) {
      mean.integer = total.integer / count.integer;
    } else {
      mean.integer /= static_cast<int64_t>(sum.rows);
      mean.real /= static_cast<double>(sum.rows);
    }
    return mean;
  }

  void AddMostOn(const std::vector<Sum*>& ordered, Grid& grid) const {
    GridColumn column{.info = &kMostOn, .cells = {}};
    const ColumnUnit unit = table_.info().columns[*size_].unit;
    for (const Sum* sum : ordered) {
      auto most =
          std::max_element(sum->by_rank.begin(), sum->by_rank.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      Cell cell{.kind = Cell::kText};
      if (most != sum->by_rank.end()) {
        const auto value = static_cast<int64_t>(most->second);
        cell.text = fmt::format("{} ({})", most->first,
                                unit == ColumnUnit::kNs      ? DurationText(value)
                                : unit == ColumnUnit::kBytes ? BytesText(most->second)
                                                             : fmt::format("{}", value));
      }
      column.cells.push_back({.cell = std::move(cell), .whole = {}, .unit = ColumnUnit::kNone});
    }
    // The name stays last: it is the column that is cut.
    grid.columns.insert(grid.columns.end() - (grid.columns.size() > 1 ? 1 : 0), std::move(column));
  }

  const Model& model_;
  const Table& table_;
  std::optional<size_t> rank_;
  bool is_sorted_;
  std::vector<SheetColumn> specs_;
  std::vector<std::optional<size_t>> columns_;  // of the table, by spec
  std::vector<std::string_view> keys_;
  std::optional<size_t> size_;  // column that rows are ordered by
  std::map<std::string, Sum> sums_;
  std::set<int32_t> ranks_;
};

}  // namespace

Grid GridOfSums(const Model& model, const Table& table, const Sheet& sheet,
                std::span<const size_t> rows) {
  if (sheet.summed.empty()) return {};
  Summing summing(model, table, sheet);
  for (size_t row : rows) summing.Add(row);
  return summing.ranks() > 1 ? summing.Take() : Grid{};
}

Grid GridOfRows(const Model& model, const Table& table, const Sheet& sheet,
                std::span<const size_t> rows) {
  Grid grid{.columns = {}, .rows = rows.size(), .ranks = 0};
  const TableInfo* figures = FindTable(sheet.figures_of);
  auto figure = FindColumn(table.info(), "figure");
  // That of the column or, in tables with a figure a row, of the figure.
  auto unit_of = [&](const ColumnInfo& info, size_t row) {
    if (figures == nullptr || !figure || info.type != ColumnType::kDouble) return info.unit;
    auto found = FindColumn(*figures, ReadCell(model.pools, table, *figure, row).text);
    return found ? figures->columns[*found].unit : ColumnUnit::kNone;
  };
  for (const SheetColumn& spec : ColumnsOf(sheet)) {
    auto found = FindColumn(table.info(), spec.name);
    if (!found) continue;
    GridColumn column{.info = &table.info().columns[*found], .cells = {}};
    auto whole = FindColumn(table.info(), spec.share_of);
    for (size_t row : rows) {
      column.cells.push_back({.cell = ReadCell(model.pools, table, *found, row),
                              .whole = whole ? ReadCell(model.pools, table, *whole, row) : Cell(),
                              .unit = unit_of(*column.info, row)});
    }
    grid.columns.push_back(std::move(column));
  }
  return grid;
}

}  // namespace debrief::outputs::profile_sheets
