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
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "model/memory/amounts.h"
#include "outputs/output.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/grid.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr size_t kWidestName = 48;  // of a text; the last one is cut at the terminal's width

std::string NumberText(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

// "[512, 256], [8]" of "[[[512, 256]], [8], [], []]": the shapes without what has none.
std::string ShapesText(std::string_view json) {
  std::string text;
  for (size_t end = json.find(']'); end != std::string_view::npos; end = json.find(']', end + 1)) {
    const size_t begin = json.rfind('[', end);
    const std::string_view shape = json.substr(begin, end - begin + 1);
    const bool is_shape = shape.size() > 2 && shape.find(']') + 1 == shape.size() &&
                          shape.find_first_of("0123456789") < shape.size();
    if (is_shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", shape);
  }
  return text.empty() ? "scalar" : text;
}

// "5.76 T", below a head that says of what.
std::string LargeText(double value) {
  constexpr std::pair<double, std::string_view> kScales[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
  for (const auto& [scale, letter] : kScales) {
    if (std::abs(value) >= scale) return fmt::format("{:.3g} {}", value / scale, letter);
  }
  return NumberText(value);
}

// Memory of devices is told in powers of two, as findings and PyTorch do.
std::string CellText(const Cell& cell, ColumnUnit unit, bool is_memory) {
  if (cell.kind == Cell::kNull) return "-";
  if (cell.kind == Cell::kText) return cell.text;
  if (cell.kind == Cell::kFlag) return cell.integer != 0 ? "yes" : "no";
  double value = cell.kind == Cell::kInteger ? static_cast<double>(cell.integer) : cell.real;
  if (unit == ColumnUnit::kNs) return DurationText(std::llround(value));
  if (unit == ColumnUnit::kBytes)
    return is_memory ? memory::SizeText(std::llround(value)) : BytesText(value);
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

// What the number means, without what the table does where there is none, or for other
// definitions: that is for who writes SQL (docs/tables.md).
std::string Footnote(std::string_view doc) {
  std::string text;
  while (!doc.empty()) {
    const size_t end = std::min(doc.find("; "), doc.size());
    std::string_view clause = doc.substr(0, end);
    doc.remove_prefix(std::min(doc.size(), end + 2));
    TakePrefix(clause, "debrief: ");
    constexpr std::string_view kOfTheTable[] = {"null ", "hta", "of hta", "as in ", "of scope "};
    const bool is_of_table =
        std::any_of(std::begin(kOfTheTable), std::end(kOfTheTable),
                    [&](std::string_view words) { return clause.starts_with(words); }) ||
        Contains(clause, "null for ") || Contains(clause, "definition");
    if (!is_of_table) text += fmt::format("{}{}", text.empty() ? "" : "; ", clause);
  }
  return text;
}

// Definitions name columns as SQL does ("busy_ns of window_ns"); a sheet has their heads.
std::string WithHeads(std::string_view text, const TableInfo& table) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::string result;
  while (!text.empty()) {
    const size_t begin = std::min(text.find_first_of(kOfNames), text.size());
    result += text.substr(0, begin);
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_not_of(kOfNames));
    text.remove_prefix(word.size());
    const auto column = std::ranges::find(table.columns, word, &ColumnInfo::name);
    const bool is_name = Contains(word, "_") && column != table.columns.end();
    result += is_name ? column->label : word;
  }
  return result;
}

class SheetText {
 public:
  SheetText(const Model& model, const Table& table, const Sheet& sheet, const SheetOptions& options)
      : model_(model), table_(table), sheet_(sheet), options_(options) {}

  // `explained`: what columns mean that stand above already.
  void Write(TextSink& out, std::set<std::string_view>& explained) {
    SelectedRows selected = SelectRows(model_, table_, sheet_, options_);
    if (selected.rows.empty() && sheet_.presence == Presence::kOptional) return;
    out.Write(fmt::format("\n{}\n", sheet_.title));
    if (selected.other_definition)
      out.Write(fmt::format("  ({} does not define this; shown as debrief defines it)\n",
                            options_.definition));
    if (selected.rows.empty()) return out.Write("  none\n");
    Grid grid;
    // Figures of other tools are shown as those tools have them.
    if (!options_.by_rank && options_.ranks.empty() && options_.definition == "debrief")
      grid = GridOfSums(model_, table_, sheet_, selected.rows);
    if (grid.rows > 0)
      out.Write(fmt::format("  (summed over {} ranks; --by-rank shows each)\n", grid.ranks));
    const size_t rows = grid.rows > 0 ? grid.rows : selected.rows.size();
    const size_t shown = options_.top == 0 ? rows : std::min(options_.top, rows);
    if (grid.rows == 0)
      grid = GridOfRows(model_, table_, sheet_, std::span(selected.rows).first(shown));
    Read(grid, shown);
    out.Write(TableText(shown));
    if (shown < rows)
      out.Write(fmt::format("  ... and {} more (--top 0 shows all)\n", rows - shown));
    WriteDefinitions(out, explained);
  }

 private:
  struct Column {
    const ColumnInfo* info;
    std::vector<std::string> cells;
  };

  // Columns that have something to show.
  void Read(const Grid& grid, size_t shown) {
    const bool is_memory = Contains(table_.info().name, "memory");
    for (const GridColumn& from : grid.columns) {
      Column column{from.info, {}};
      for (size_t row = 0; row < shown; ++row) {
        const GridCell& cell = from.cells[row];
        const bool is_shapes = from.info->name == "shapes" && cell.cell.kind == Cell::kText;
        const bool is_large = from.info->label == "FLOPs" && cell.cell.kind == Cell::kInteger;
        column.cells.push_back(is_shapes  ? ShapesText(cell.cell.text)
                               : is_large ? LargeText(static_cast<double>(cell.cell.integer))
                                          : CellText(cell.cell, cell.unit, is_memory) +
                                                ShareText(cell.cell, cell.whole));
      }
      if (std::any_of(column.cells.begin(), column.cells.end(),
                      [](const std::string& text) { return text != "-"; }))
        columns_.push_back(std::move(column));
    }
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
      const std::string meaning = WithHeads(Footnote(info.doc), table_.info());
      const bool says_nothing =
          meaning.empty() || meaning == info.label || meaning == fmt::format("the {}", info.label);
      if (says_nothing) continue;
      std::string_view indent = "    ";
      for (const std::string& line : Wrap(fmt::format("{}: {}", info.label, meaning), width)) {
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
      {"profile_sheets", "what the profiles show, as text: breakdown, idle time, kernels, ops, ...",
       "profile_sheets.txt", kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::profile_sheets
