#include "compat/torchfrtrace/tabulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/safe_name.h"
#include "base/text/strings.h"

namespace debrief::outputs::flight_text {

namespace {

struct Column {
  size_t width = 0;
  bool right = false;
};

// What int() takes, as far as names of groups go.
bool IsWholeNumber(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsNumbers(const Rows& rows, size_t column) {
  bool any = false;
  for (const auto& row : rows) {
    if (column >= row.size() || !row[column]) continue;
    if (!IsWholeNumber(*row[column])) return false;
    any = true;
  }
  return any;
}

Column MeasureColumn(const std::vector<std::string>& headers, const Rows& rows, size_t column) {
  constexpr size_t kPadding = 2;
  Column result;
  if (column < headers.size()) result.width = TextWidth(headers[column]) + kPadding;
  for (const auto& row : rows) {
    if (column < row.size() && row[column])
      result.width = std::max(result.width, TextWidth(*row[column]));
  }
  result.right = IsNumbers(rows, column);
  return result;
}

// Joined by two blanks, without blanks at the end.
std::string Line(const std::vector<std::string>& cells) {
  std::string line = fmt::format("{}", fmt::join(cells, "  "));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Aligned(std::string_view text, const Column& column) {
  std::string blanks(column.width - std::min(column.width, TextWidth(text)), ' ');
  return column.right ? blanks + std::string(text) : std::string(text) + blanks;
}

}  // namespace

std::string Tabulate(const std::vector<std::string>& headers, const Rows& rows) {
  size_t count = headers.size();
  for (const auto& row : rows) count = std::max(count, row.size());
  std::vector<Column> columns;
  std::vector<std::string> rule;
  for (size_t i = 0; i < count; ++i) {
    columns.push_back(MeasureColumn(headers, rows, i));
    rule.emplace_back(columns.back().width, '-');
  }
  std::vector<std::string> lines;
  std::vector<std::string> cells(count);
  for (size_t i = 0; i < headers.size(); ++i) cells[i] = Aligned(headers[i], columns[i]);
  if (!headers.empty()) lines.push_back(Line(cells));
  lines.push_back(Line(rule));
  for (const auto& row : rows) {
    for (size_t i = 0; i < count; ++i)
      cells[i] = Aligned(i < row.size() ? row[i].value_or("") : "", columns[i]);
    lines.push_back(Line(cells));
  }
  if (headers.empty()) lines.push_back(Line(rule));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string PythonText(std::string_view text) {
  bool has_single = text.find('\'') != std::string_view::npos;
  char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  constexpr std::string_view kControls = "\n\r\t", kLetters = "nrt";
  for (char c : text) {
    const size_t control = kControls.find(c);
    const bool is_control = control != std::string_view::npos;
    if (is_control || c == quote || c == '\\') result += '\\';
    result += is_control ? kLetters[control] : c;
  }
  return Printable(result) + quote;
}

std::string PythonList(const std::vector<std::string_view>& texts) {
  std::vector<std::string> quoted;
  for (std::string_view text : texts) quoted.push_back(PythonText(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

}  // namespace debrief::outputs::flight_text
