// What one question of `debrief profile` answers: its sheets, and what each of their columns means.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/columns.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

struct Question {
  std::string_view subcommand;
  std::string_view text;
};

constexpr Question kQuestions[] = {
    {"breakdown", "Where device time went: compute, exposed communication, copies, idle"},
    {"overlap", "How much communication is hidden behind computation"},
    {"idle", "Why devices are idle, and the longest gaps with what the host did in them"},
    {"kernels", "Which kernels take device time"},
    {"ops", "Which ops and modules take host and device time"},
    {"launches", "How work is launched: delays, short kernels, queue depth"},
    {"comms", "What collectives cost: bandwidth, arrival skew, who waits for whom"},
    {"memory", "Peak memory, what held it, what ops allocate"},
    {"steps", "How long each step takes, and on what"},
    {"ranks", "Which rank is slow, and why"},
    {"critical-path", "Which chain of host and device work decides how long a step takes"},
    {"roofline", "How far ops are from what the device could do, and what that costs"},
    {"what-if", "How long steps would take if parts of the job were not slow"},
    {"devices", "Accelerators: time by kind of work, utilisation, clocks"},
    {"graph", "Execution traces: data flow between ops, longest chain, collectives"},
    {"startup", "Where the start of a server (vLLM, SGLang) went, by phase"},
};

// "    wait (sum)  ns    How long ..."
std::string ColumnLine(const ColumnInfo& column, size_t label_width, size_t width) {
  const std::string unit(UnitName(column.unit));
  std::string text, indent = fmt::format("    {:{}}  {:5}  ", column.label, label_width, unit);
  const size_t room = width > indent.size() + 20 ? width - indent.size() : 20;
  const std::string blank(indent.size(), ' ');
  for (const std::string& line : Wrap(column.doc, room)) {
    text += indent + line + "\n";
    indent = blank;
  }
  return text;
}

std::string SheetLines(const Sheet& sheet, size_t width) {
  const TableInfo* table = FindTable(sheet.table);
  if (table == nullptr) return "";
  std::vector<const ColumnInfo*> columns;
  size_t label_width = 0;
  for (const SheetColumn& spec : ColumnsOf(sheet)) {
    auto found = std::find_if(table->columns.begin(), table->columns.end(),
                              [&](const ColumnInfo& each) { return each.name == spec.name; });
    if (found == table->columns.end()) continue;
    columns.push_back(&*found);
    label_width = std::max(label_width, found->label.size());
  }
  std::string text = fmt::format("\n  {} (table {})\n", sheet.title, sheet.table);
  for (const ColumnInfo* column : columns) text += ColumnLine(*column, label_width, width);
  return text;
}

}  // namespace

std::vector<std::string> Subcommands() {
  std::vector<std::string> names;
  for (const Question& question : kQuestions) names.emplace_back(question.subcommand);
  return names;
}

std::string ListOfSubcommands() {
  std::string text;
  for (const Question& question : kQuestions)
    text += fmt::format("  {:24}{}\n", question.subcommand, question.text);
  return text;
}

std::string HelpOf(std::string_view subcommand, int width) {
  std::string text;
  for (const Question& question : kQuestions) {
    if (question.subcommand == subcommand) text += fmt::format("{}\n", question.text);
  }
  text += fmt::format("Usage: debrief profile {} [OPTIONS] PATH...\n\nSheets and their columns:\n",
                      subcommand);
  std::set<std::string_view> shown;  // a table that is shown several times is explained once
  for (const Sheet& sheet : AllSheets()) {
    if (sheet.subcommand != subcommand) continue;
    if (shown.insert(sheet.table).second)
      text += SheetLines(sheet, static_cast<size_t>(std::max(width, 60)));
    else
      text += fmt::format("\n  {}: the same columns\n", sheet.title);
  }
  return text;
}

}  // namespace debrief::outputs::profile_sheets
