#include "compat/acelyzer/pandas_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/escape.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {
namespace {

constexpr int kDigits = 6;

// The same number of zeros goes from the end of every text; one digit stays behind the point.
void TrimZeros(std::vector<std::string>& texts) {
  size_t trimmed = kDigits - 1;
  for (const std::string& text : texts) {
    if (text.find('.') == std::string::npos) continue;  // nan, inf
    trimmed = std::min(trimmed, text.size() - 1 - text.find_last_not_of('0'));
  }
  for (std::string& text : texts) {
    if (text.find('.') != std::string::npos) text.resize(text.size() - trimmed);
  }
}

std::vector<std::string> FloatTexts(const std::vector<Cell>& cells) {
  std::vector<std::string> texts;
  bool large = false, small = false;
  for (const Cell& cell : cells) {
    const double value = cell.number;
    large |= std::abs(value) > 1e6;
    small |= value != 0 && std::abs(value) < 1e-6;
    texts.push_back(fmt::format("{:.{}f}", value, kDigits));
  }
  TrimZeros(texts);
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  if (!small && !(large && longest > kDigits + 6)) return texts;
  for (size_t i = 0; i < cells.size(); ++i) {
    texts[i] = fmt::format("{:.{}e}", cells[i].number, kDigits);
  }
  return texts;
}

std::vector<std::string> Texts(const std::vector<Cell>& cells) {
  if (!cells.empty() && cells[0].kind == Cell::Kind::kNumber) return FloatTexts(cells);
  std::vector<std::string> texts;
  for (const Cell& cell : cells) {
    const bool is_integer = cell.kind == Cell::Kind::kInteger;
    texts.push_back(is_integer ? std::to_string(cell.integer) : cell.text);
  }
  return texts;
}

// The head of a column of numbers has room for a sign.
std::vector<std::string> Aligned(const Column& column) {
  std::vector<std::string> lines = Texts(column.cells);
  const bool is_text = !column.cells.empty() && column.cells[0].kind == Cell::Kind::kText;
  lines.insert(lines.begin(), (is_text ? "" : " ") + column.name);
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.size());
  for (std::string& line : lines) line.insert(0, width - line.size(), ' ');
  return lines;
}

std::string EmptyText(const std::vector<Column>& columns) {
  std::string text = "Empty DataFrame\nColumns: [";
  for (size_t i = 0; i < columns.size(); ++i) text += (i > 0 ? ", " : "") + columns[i].name;
  return text + "]\nIndex: []";
}

void AppendCell(std::string& out, const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kInteger:
      out += std::to_string(cell.integer);
      return;
    case Cell::Kind::kNumber:
      return AppendPythonFloat(out, cell.number);
    case Cell::Kind::kText:
      AppendCsv(out, cell.text);
  }
}

}  // namespace

std::string PandasText(const std::vector<Column>& columns) {
  if (columns.empty() || columns[0].cells.empty()) return EmptyText(columns);
  std::vector<std::vector<std::string>> aligned;
  for (const Column& column : columns) aligned.push_back(Aligned(column));
  std::string text;
  for (size_t row = 0; row < aligned[0].size(); ++row) {
    if (row > 0) text += '\n';
    for (size_t i = 0; i < aligned.size(); ++i) {
      if (i > 0) text += ' ';
      text += aligned[i][row];
    }
  }
  return text;
}

std::string CommaSeparated(const std::vector<Column>& columns) {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) text += (i > 0 ? "," : "") + columns[i].name;
  text += '\n';
  const size_t rows = columns.empty() ? 0 : columns[0].cells.size();
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += ',';
      AppendCell(text, columns[i].cells[row]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace debrief::accel
