// Sheets for a terminal, and all of them as a file of a report (`debrief PATH --with
// profile_sheets`).
//
//   Where the time of the device went
//     rank      span            compute          communication ...
//        0    436 ms   75.2 ms   17.3 %
//     span: first start to last end of ...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/bytes/growing_file.h"
#include "base/text/columns.h"
#include "base/text/units.h"
#include "outputs/output.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr size_t kWidestName = 48;  // of a text; the last one is cut at the terminal's width

std::string NumberText(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string CellText(const Cell& cell, ColumnUnit unit) {
  if (cell.kind == Cell::kNull) return "-";
  if (cell.kind == Cell::kText) return cell.text;
  if (cell.kind == Cell::kFlag) return cell.integer != 0 ? "yes" : "no";
  double value = cell.kind == Cell::kInteger ? static_cast<double>(cell.integer) : cell.real;
  if (unit == ColumnUnit::kNs) return DurationText(std::llround(value));
  if (unit == ColumnUnit::kBytes) return BytesText(value);
  if (unit == ColumnUnit::kPercent) return PercentText(value / 100);
  if (unit == ColumnUnit::kShare) return PercentText(value);
  return NumberText(value);
}

std::string ShareText(const Cell& cell, const Cell& whole) {
  if (cell.kind != Cell::kInteger || whole.kind != Cell::kInteger || whole.integer == 0) return "";
  return fmt::format(" {:>7}", PercentText(static_cast<double>(cell.integer) /
                                           static_cast<double>(whole.integer)));
}

bool IsText(ColumnType type) {
  return type == ColumnType::kString || type == ColumnType::kList || type == ColumnType::kStack;
}

class SheetText {
 public:
  SheetText(const Model& model, const Table& table, const Sheet& sheet, const SheetOptions& options)
      : model_(model), table_(table), sheet_(sheet), options_(options) {}

  // `explained`: what columns mean that stand above already.
  void Write(TextSink& out, std::set<std::string_view>& explained) {
    SelectedRows selected = SelectRows(model_, table_, sheet_, options_);
    if (selected.rows.empty() && sheet_.presence == Presence::kOptional) return;
    size_t shown =
        options_.top == 0 ? selected.rows.size() : std::min(options_.top, selected.rows.size());
    out.Write(fmt::format("\n{}\n", sheet_.title));
    if (selected.other_definition)
      out.Write(fmt::format("  ({} does not define this; shown as debrief defines it)\n",
                            options_.definition));
    if (selected.rows.empty()) return out.Write("  none\n");
    Read(std::span(selected.rows).first(shown));
    out.Write(TableText(shown));
    if (shown < selected.rows.size())
      out.Write(
          fmt::format("  ... and {} more (--top 0 shows all)\n", selected.rows.size() - shown));
    WriteDefinitions(out, explained);
  }

 private:
  struct Column {
    const ColumnInfo* info;
    std::vector<std::string> cells;
  };

  // Columns that are in the table and have something to show.
  void Read(std::span<const size_t> rows) {
    for (const SheetColumn& spec : ColumnsOf(sheet_)) {
      auto found = FindColumn(table_.info(), spec.name);
      if (!found) continue;
      Column column{&table_.info().columns[*found], {}};
      auto whole = FindColumn(table_.info(), spec.share_of);
      for (size_t row : rows) {
        Cell cell = ReadCell(model_.pools, table_, *found, row);
        std::string text = CellText(cell, UnitOf(column, row));
        if (whole) text += ShareText(cell, ReadCell(model_.pools, table_, *whole, row));
        column.cells.push_back(std::move(text));
      }
      if (std::any_of(column.cells.begin(), column.cells.end(),
                      [](const std::string& text) { return text != "-"; }))
        columns_.push_back(std::move(column));
    }
  }

  // That of the column or, in tables with a figure a row, of the figure.
  ColumnUnit UnitOf(const Column& column, size_t row) const {
    const TableInfo* figures = FindTable(sheet_.figures_of);
    if (figures == nullptr || column.info->type != ColumnType::kDouble) return column.info->unit;
    auto figure = FindColumn(table_.info(), "figure");
    const std::string name = figure ? ReadCell(model_.pools, table_, *figure, row).text : "";
    auto found = FindColumn(*figures, name);
    return found ? figures->columns[*found].unit : ColumnUnit::kNone;
  }

  std::string TableText(size_t rows) const {
    std::vector<TextTable::Column> heads;
    for (const Column& column : columns_) {
      const bool is_text = IsText(column.info->type), is_last = &column == &columns_.back();
      heads.push_back({.head = std::string(column.info->label),
                       .align = is_text ? TextTable::kLeft : TextTable::kRight,
                       .widest = is_text && !is_last ? kWidestName : SIZE_MAX});
    }
    TextTable text(std::move(heads));
    for (size_t row = 0; row < rows; ++row) {
      std::vector<std::string> cells;
      for (const Column& column : columns_) cells.push_back(column.cells[row]);
      text.Add(std::move(cells));
    }
    return text.Text(
        {.indent = 2, .width = static_cast<size_t>(options_.width), .least_last = kWidestName});
  }

  void WriteDefinitions(TextSink& out, std::set<std::string_view>& explained) const {
    const size_t width = static_cast<size_t>(std::max(options_.width, 40)) - 6;
    for (const Column& column : columns_) {
      const ColumnInfo& info = *column.info;
      bool is_key = info.name == "rank" || info.name == "job" || info.name == "attempt" ||
                    info.name == "input" || info.doc == info.label;
      if (is_key || !explained.insert(info.doc).second) continue;
      std::string_view indent = "    ";
      for (const std::string& line : Wrap(fmt::format("{}: {}", info.label, info.doc), width)) {
        out.Write(fmt::format("{}{}\n", indent, line));
        indent = "      ";
      }
    }
  }

  const Model& model_;
  const Table& table_;
  const Sheet& sheet_;
  const SheetOptions& options_;
  std::vector<Column> columns_;
};

Status Write(const Model& model, const OutputContext& context) {
  StringSink text;
  std::string_view last;
  for (const Sheet& sheet : AllSheets()) {
    if (sheet.subcommand == last) continue;
    last = sheet.subcommand;
    WriteText(model, last, {.width = 160}, text);
  }
  return WriteFileAtomically(context.folder + "/profile_sheets.txt", text.text());
}

}  // namespace

void WriteText(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out) {
  std::set<std::string_view> explained;
  for (const Sheet& sheet : SheetsOf(subcommand, options)) {
    const Table* table = model.tables.FindFilled(sheet.table);
    if (table != nullptr) {
      SheetText(model, *table, sheet, options).Write(out, explained);
    } else if (sheet.presence == Presence::kNeeded) {
      out.Write(
          fmt::format("\n{}\n  not computable: {}\n", sheet.title, WhyEmpty(model, sheet.table)));
    }
  }
}

const Output& Describe() {
  static constexpr Output kOutput = {
      {"profile_sheets", "what the profiles tell, as text: breakdown, idle time, kernels, ops, ...",
       "profile_sheets.txt", kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::profile_sheets
