// A comparison to paste into a ticket or a pull request: tables of GitHub's Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/escape.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "diff/run_diff.h"

namespace debrief::diff {

namespace {

constexpr size_t kLongestCell = 160;

// Inside of a cell: nothing that ends the cell, begins markup or names a person.
std::string Cell(std::string_view text) {
  std::string out;
  for (char byte : text.substr(0, kLongestCell)) {
    if (static_cast<unsigned char>(byte) < 0x20) {
      out += ' ';
      continue;
    }
    static constexpr std::string_view kMarkup = "|\\`*_[]<>#@!~";
    if (kMarkup.find(byte) != std::string_view::npos) out += '\\';
    out += byte;
  }
  if (text.size() > kLongestCell) out += "...";
  return ValidUtf8(out);
}

void WritePart(std::string_view name, const Change& change, std::string& out) {
  out += fmt::format(
      "| {} | {} | {} | {} | {} |\n", name, DurationText(change.a), DurationText(change.b),
      SignedText(change.difference(), Unit::kNanoseconds),
      change.is_real || change.difference() == 0 ? PercentText(change) : "within noise");
}

void WriteSteps(const StepDiff& steps, std::string& out) {
  out += "\n| Time of a step | A | B | B - A | |\n|---|---:|---:|---:|---|\n";
  for (size_t part = 0; part < kStepParts; ++part) {
    const Change& change = steps.job.parts[part];
    if (change.a != 0 || change.b != 0)
      WritePart(PartInWords(static_cast<StepPart>(part)), change, out);
  }
  WritePart("**sum**", steps.job.total, out);
}

void WriteRow(const Row& row, std::string& out) {
  const bool has_value = row.unit != Unit::kNone;
  out += fmt::format("| {} | {} | {} | {} | {} |\n", row.change, Cell(row.name),
                     has_value ? SignedText(row.value.difference(), row.unit) : "",
                     row.ranks.empty() ? "" : RanksInWords(row.ranks), Cell(row.note));
}

}  // namespace

std::string DiffMarkdown(const RunDiff& diff, size_t most_rows) {
  std::string out = fmt::format("**{}**\n", Cell(diff.headline));
  if (diff.is_empty()) return out;
  out += fmt::format("\nA: {}, B: {}\n", Cell(diff.name_a), Cell(diff.name_b));
  for (const std::string& note : diff.notes) out += fmt::format("\n{}\n", Cell(note));
  if (diff.steps && diff.steps->has_changed()) WriteSteps(*diff.steps, out);
  for (const Section& section : diff.sections) {
    out +=
        fmt::format("\n### {}\n\n| | | B - A | ranks | |\n|---|---|---:|---|---|\n", section.title);
    const size_t shown = std::min(most_rows, section.rows.size());
    for (size_t i = 0; i < shown; ++i) WriteRow(section.rows[i], out);
    if (shown < section.rows.size())
      out += fmt::format("\nand {} more\n", section.rows.size() - shown);
  }
  return out;
}

}  // namespace debrief::diff
