#include "app/explain/explained.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "app/shell_word.h"
#include "base/json/writer.h"
#include "base/text/columns.h"
#include "base/text/escape.h"
#include "base/text/newlines.h"
#include "base/text/rank_list.h"
#include "base/text/safe_name.h"
#include "outputs/finding_markdown.h"
#include "outputs/run_json.h"

namespace debrief {

namespace {

constexpr size_t kMostRows = 20;   // shown; the SQL gives all
constexpr size_t kRowsBeside = 4;  // of a table that is shown on its side
constexpr size_t kWidestCell = 40;
constexpr size_t kMarkdownWidth = 100;

using Cells = std::vector<std::vector<std::string>>;

std::vector<const Finding*> ExplainedBy(const Explained& explained) {
  std::vector<const Finding*> causes;
  for (const Finding& other : explained.run->findings) {
    for (size_t position : other.explains) {
      if (&explained.run->findings[position] == explained.finding) causes.push_back(&other);
    }
  }
  return causes;
}

std::vector<const Finding*> Explains(const Explained& explained) {
  std::vector<const Finding*> consequences;
  for (size_t position : explained.finding->explains)
    consequences.push_back(&explained.run->findings[position]);
  return consequences;
}

// The command that gives the rows, with the statement in lines of at most `width`.
std::string Command(const Explained& explained, const std::string& sql, int width) {
  std::string text = fmt::format("    debrief query {} '\n", ShellWord(explained.folder));
  std::string quoted = ShellWord(SqlInLines(sql, static_cast<size_t>(width) - 6));
  LineSplitter lines(std::string_view(quoted).substr(1));  // its quote stands on the line above
  for (std::string_view line; lines.Next(line);) text += fmt::format("      {}\n", line);
  return text;
}

std::string Cut(const std::string& cell) { return CutEnd(Printable(cell), kWidestCell); }

size_t LineWidth(const Cells& table) {
  size_t width = 4;
  for (size_t column = 0; column < table.front().size(); ++column) {
    size_t widest = 0;
    for (const auto& row : table) widest = std::max(widest, TextWidth(Cut(row[column])));
    width += widest + 2;
  }
  return width;
}

std::string Aligned(const Cells& table) {
  TextTable text(std::vector<TextTable::Column>(table.front().size(), {.widest = kWidestCell}));
  for (const auto& row : table) text.Add(row);
  return text.Text({.indent = 4, .has_head = false});
}

// Columns become lines: many columns and few rows fit that way.
Cells OnItsSide(const Cells& table, size_t first, size_t count) {
  Cells turned(table.front().size());
  for (size_t column = 0; column < turned.size(); ++column) {
    turned[column].push_back(table.front()[column]);
    for (size_t row = first; row < std::min(first + count, table.size()); ++row)
      turned[column].push_back(table[row][column]);
  }
  return turned;
}

// One row: a fact a line.
std::string Facts(const Cells& table) {
  TextTable text({{}, {}});
  for (size_t i = 0; i < table[0].size(); ++i)
    if (!table[1][i].empty()) text.Add({table[0][i], table[1][i]});
  return text.Text({.indent = 4, .has_head = false});
}

std::string RowsText(const EvidenceRows& rows, int width) {
  Cells table = {rows.columns};
  size_t shown = std::min(kMostRows, rows.cells.size());
  table.insert(table.end(), rows.cells.begin(), rows.cells.begin() + static_cast<ptrdiff_t>(shown));
  std::string text;
  if (table.size() == 2) {
    text = Facts(table);
  } else if (LineWidth(table) <= static_cast<size_t>(width)) {
    text = Aligned(table);
  } else {
    for (size_t first = 1; first < table.size(); first += kRowsBeside)
      text += Aligned(OnItsSide(table, first, kRowsBeside));
  }
  if (shown < rows.cells.size())
    text += fmt::format("    ... and {} more rows\n", rows.cells.size() - shown);
  return text;
}

std::string Blame(const Finding& finding) {
  std::string text;
  auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:12}{}\n", label, Printable(value));
  };
  add("ranks", FoldNumbers(finding.ranks));
  for (const GroupRef& group : finding.groups)
    add("group", fmt::format("{} [{}]", group.desc.empty() ? group.name : group.desc,
                             FoldNumbers(group.ranks)));
  add("operation", finding.seq == kNone64 || finding.op.empty()
                       ? finding.op
                       : fmt::format("{}, sequence {}", finding.op, finding.seq));
  add("compiled", fmt::format("{}", fmt::join(finding.compile_ids, ", ")));
  for (const SourceLine& line : finding.source) {
    add("line", fmt::format("{}:{}{}", line.file, line.line,
                            line.rank == kNone32 ? "" : fmt::format(" (rank {})", line.rank)));
  }
  return text;
}

std::string Listed(std::string_view title, const std::vector<const Finding*>& findings) {
  if (findings.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const Finding* finding : findings)
    text += fmt::format("  {:4} {}\n", finding->id, Printable(finding->headline));
  return text;
}

// The first evidence with the same rows as this one.
size_t SameRowsBefore(const Explained& explained, size_t evidence) {
  size_t same = 0;
  while (explained.rows[same].sql != explained.rows[evidence].sql) ++same;
  return same;
}

std::string JobName(const Explained& explained) {
  auto found = explained.run->jobs.find(explained.finding->job);
  return found == explained.run->jobs.end() ? "" : found->second;
}

void WriteOthers(JsonWriter& json, std::string_view key,
                 const std::vector<const Finding*>& findings) {
  json.Objects(key, findings, [&](const Finding* finding) {
    json.Field("id", finding->id).Field("headline", finding->headline);
  });
}

std::string MarkdownTable(const EvidenceRows& rows) {
  auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += fmt::format(" {} |", Markdown(Cut(cell)));
    return text + "\n";
  };
  std::string text = line(rows.columns);
  text += "|";
  for (size_t i = 0; i < rows.columns.size(); ++i) text += "---|";
  text += "\n";
  for (size_t i = 0; i < std::min(kMostRows, rows.cells.size()); ++i) text += line(rows.cells[i]);
  return text + "\n";
}

void AppendOthers(std::string& out, std::string_view title,
                  const std::vector<const Finding*>& findings) {
  if (findings.empty()) return;
  std::string list;
  for (const Finding* finding : findings)
    list += fmt::format("- {}: {}\n", finding->id, Markdown(finding->headline));
  AppendFolded(out, fmt::format("{}: {}", title, findings.size()), list);
}

}  // namespace

std::string ExplainedText(const Explained& explained, int width) {
  const Finding& finding = *explained.finding;
  std::string text = fmt::format("{} {}: {}\n\n", finding.id, SeverityName(finding.severity),
                                 Printable(finding.headline));
  if (!std::isnan(finding.confidence)) {
    text += fmt::format("{:12}{}\n", "confidence", ConfidenceText(finding.confidence));
    if (!finding.why.empty()) text += fmt::format("{:12}{}\n", "because", Printable(finding.why));
  }
  text += fmt::format("{:12}{}\n", "role", RoleName(finding.role));
  text += fmt::format("{:12}{}\n", "rule", finding.rule);
  if (std::string job = JobName(explained); !job.empty())
    text += fmt::format("{:12}{}\n", "job", Printable(job));
  text += Blame(finding);
  if (!finding.evidence.empty()) text += "\nEvidence\n";
  for (size_t i = 0; i < explained.rows.size(); ++i) {
    text += fmt::format("  {}. {}\n", i + 1, Printable(finding.evidence[i].text));
    if (explained.rows[i].sql.empty()) continue;
    if (size_t same = SameRowsBefore(explained, i); same < i) {
      text += fmt::format("    the rows of {}.\n", same + 1);
      continue;
    }
    text += RowsText(explained.rows[i], width);
    text += Command(explained, explained.rows[i].sql, width);
  }
  text += Listed("Explains", Explains(explained));
  text += Listed("Explained by", ExplainedBy(explained));
  if (!finding.next_step.empty())
    text += fmt::format("\nNext step\n  {}\n", Printable(finding.next_step));
  return text;
}

std::string ExplainedJson(const Explained& explained) {
  const Finding& finding = *explained.finding;
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("schema", kFindingsSchema).Field("id", finding.id);
  json.Field("rule", finding.rule).Field("severity", SeverityName(finding.severity));
  json.Field("role", RoleName(finding.role)).Field("headline", finding.headline);
  json.Field("confidence", finding.confidence).Field("why", finding.why);
  json.Objects("evidence", std::views::iota(size_t{0}, explained.rows.size()), [&](size_t i) {
    const Evidence& evidence = finding.evidence[i];
    json.Field("text", evidence.text).Field("table", evidence.table);
    json.ListField("rows", evidence.rows).Field("sql", explained.rows[i].sql);
    json.Key("data").Raw(explained.as_json[i]);
  });
  WriteOthers(json, "explains", Explains(explained));
  WriteOthers(json, "explained_by", ExplainedBy(explained));
  json.Field("next_step", finding.next_step).EndObject();
  return out + "\n";
}

std::string ExplainedMarkdown(const Explained& explained) {
  const Finding& finding = *explained.finding;
  std::string out;
  AppendHeadline(out, finding, 2);
  AppendBlame(out, finding);
  AppendConfidence(out, finding);
  AppendNextStep(out, finding);
  for (size_t i = 0; i < explained.rows.size(); ++i) {
    out += fmt::format("### Evidence {}: {}\n\n", i + 1, Markdown(finding.evidence[i].text));
    if (explained.rows[i].sql.empty()) continue;
    if (size_t same = SameRowsBefore(explained, i); same < i) {
      out += fmt::format("The rows of evidence {}.\n\n", same + 1);
      continue;
    }
    out += MarkdownTable(explained.rows[i]);
    AppendCodeBlock(out, "sql", SqlInLines(explained.rows[i].sql, kMarkdownWidth));
  }
  AppendOthers(out, "Explains", Explains(explained));
  AppendOthers(out, "Explained by", ExplainedBy(explained));
  out += fmt::format("debrief {}, findings schema {}\n", explained.run->version, kFindingsSchema);
  return out;
}

}  // namespace debrief
