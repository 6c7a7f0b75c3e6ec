// Sheets for a terminal.
//
//   Where the time of the device went
//     rank       span             compute          communication ...
//        0  435.59 ms   75.17 ms  17.3 %
//     span: first start to last end of ...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text/safe_name.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/reasons.h"
#include "outputs/terminal/profile_sheets/rows.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr size_t kWidestName =
    48;  // of a text; in the last column as wide as the terminal is, but no less

std::string DurationText(double ns) {
  double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (size < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string BytesText(double bytes) {
  double size = std::abs(bytes);
  if (size < 1e3) return fmt::format("{:.0f} B", bytes);
  if (size < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (size < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string NumberText(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

// In the unit that the name of the column tells.
std::string CellText(const Cell& cell, std::string_view column) {
  if (cell.kind == Cell::kNull) return "-";
  if (cell.kind == Cell::kText) return Printable(cell.text);
  if (cell.kind == Cell::kFlag) return cell.integer != 0 ? "yes" : "no";
  double value = cell.kind == Cell::kInteger ? static_cast<double>(cell.integer) : cell.real;
  if (column.ends_with("_ns")) return DurationText(value);
  if (column.ends_with("bytes")) return BytesText(value);
  if (column.ends_with("_pct")) return fmt::format("{:.2f} %", value);
  if (column.ends_with("share")) return fmt::format("{:.1f} %", value * 100);
  return NumberText(value);
}

std::string ShareText(const Cell& cell, const Cell& whole) {
  if (cell.kind != Cell::kInteger || whole.kind != Cell::kInteger || whole.integer == 0) return "";
  double share = static_cast<double>(cell.integer) / static_cast<double>(whole.integer);
  return fmt::format(" {:5.1f} %", share * 100);
}

bool IsText(const Table& table, size_t column) {
  ColumnType type = table.info().columns[column].type;
  return type == ColumnType::kString || type == ColumnType::kList || type == ColumnType::kStack;
}

std::string Cut(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  size_t end = width > 3 ? width - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

class SheetText {
 public:
  SheetText(const Model& model, const Table& table, const Sheet& sheet, const SheetOptions& options)
      : model_(model), table_(table), sheet_(sheet), options_(options) {
    for (const SheetColumn& column : sheet.columns) {
      auto found = FindColumn(table, column.name);
      if (found && !column.head.empty()) columns_.push_back({&column, *found, {}});
    }
  }

  // `explained`: names of columns whose meaning stands above already.
  void Write(TextSink& out, std::set<std::string_view>& explained) {
    SelectedRows selected = SelectRows(model_, table_, sheet_, options_);
    if (selected.rows.empty() && sheet_.optional) return;
    size_t shown =
        options_.top == 0 ? selected.rows.size() : std::min(options_.top, selected.rows.size());
    Fill(std::span(selected.rows).first(shown));
    DropEmptyColumns();
    out.Write(fmt::format("\n{}\n", sheet_.title));
    if (selected.other_definition)
      out.Write(fmt::format("  ({} does not define this; shown as debrief defines it)\n",
                            options_.definition));
    if (selected.rows.empty()) return out.Write("  none\n");
    WriteRows(shown, out);
    if (shown < selected.rows.size())
      out.Write(
          fmt::format("  ... and {} more (--top 0 shows all)\n", selected.rows.size() - shown));
    WriteDefinitions(out, explained);
  }

 private:
  struct Column {
    const SheetColumn* spec;
    size_t number;
    std::vector<std::string> cells;
  };

  void Fill(std::span<const size_t> rows) {
    for (Column& column : columns_) {
      auto whole = FindColumn(table_, column.spec->share_of);
      for (size_t row : rows) {
        Cell cell = ReadCell(model_.pools, table_, column.number, row);
        std::string text = CellText(cell, UnitOf(column, row));
        if (whole) text += ShareText(cell, ReadCell(model_.pools, table_, *whole, row));
        column.cells.push_back(std::move(text));
      }
    }
  }

  // The name that tells the unit: that of the column or, in tables with a figure a row, of the
  // figure.
  std::string UnitOf(const Column& column, size_t row) const {
    auto figure = FindColumn(table_, "figure");
    bool is_figure = table_.info().columns[column.number].type == ColumnType::kDouble;
    return figure && is_figure ? ReadCell(model_.pools, table_, *figure, row).text
                               : std::string(column.spec->name);
  }

  void DropEmptyColumns() {
    std::erase_if(columns_, [](const Column& column) {
      return std::all_of(column.cells.begin(), column.cells.end(),
                         [](const std::string& text) { return text == "-"; });
    });
  }

  size_t WidthOf(const Column& column) const {
    size_t width = column.spec->head.size();
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    return IsText(table_, column.number) ? std::min(width, kWidestName) : width;
  }

  void WriteRows(size_t rows, TextSink& out) const {
    std::vector<size_t> widths;
    for (const Column& column : columns_) widths.push_back(WidthOf(column));
    auto line = [&](auto&& text_of) {
      std::string text = " ";
      for (size_t c = 0; c < columns_.size(); ++c) {
        bool is_last = c + 1 == columns_.size();
        size_t used = text.size() + 2;
        size_t left =
            std::max(kWidestName, static_cast<size_t>(options_.width) -
                                      std::min(used, static_cast<size_t>(options_.width)));
        bool is_text = IsText(table_, columns_[c].number);
        std::string cell =
            is_text ? Cut(text_of(columns_[c]), is_last ? left : widths[c]) : text_of(columns_[c]);
        text += is_text ? fmt::format("  {:<{}}", cell, is_last ? 0 : widths[c])
                        : fmt::format("  {:>{}}", cell, widths[c]);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out.Write(text.substr(1) + "\n");
    };
    line([](const Column& column) { return std::string(column.spec->head); });
    for (size_t row = 0; row < rows; ++row)
      line([row](const Column& column) { return column.cells[row]; });
  }

  void WriteDefinitions(TextSink& out, std::set<std::string_view>& explained) const {
    for (const Column& column : columns_) {
      const ColumnInfo& info = table_.info().columns[column.number];
      bool is_key = info.name == "rank" || info.name == "job" || info.name == "attempt" ||
                    info.name == "input" || info.doc == column.spec->head;
      if (!is_key && explained.insert(info.doc).second)
        out.Write(Wrapped(fmt::format("{}: {}", column.spec->head, info.doc)));
    }
  }

  std::string Wrapped(std::string_view text) const {
    size_t width = static_cast<size_t>(std::max(options_.width, 40)) - 6;
    std::string out = "    ";
    size_t used = 0;
    while (!text.empty()) {
      size_t end = std::min(text.find(' '), text.size());
      if (used > 0 && used + 1 + end > width) {
        out += "\n      ";
        used = 0;
      } else if (used > 0) {
        out += ' ';
        ++used;
      }
      out += text.substr(0, end);
      used += end;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out + "\n";
  }

  const Model& model_;
  const Table& table_;
  const Sheet& sheet_;
  const SheetOptions& options_;
  std::vector<Column> columns_;
};

}  // namespace

void WriteText(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out) {
  std::set<std::string_view> explained;
  for (const Sheet& sheet : AllSheets()) {
    if (!IsAskedFor(sheet, subcommand, options)) continue;
    const Table* table = model.tables.FindFilled(sheet.table);
    if (table != nullptr) {
      SheetText(model, *table, sheet, options).Write(out, explained);
    } else if (!sheet.optional) {
      out.Write(
          fmt::format("\n{}\n  not computable: {}\n", sheet.title, WhyEmpty(model, sheet.table)));
    }
  }
}

}  // namespace debrief::outputs::profile_sheets
