// A comparison for a terminal: the sentence, the steps taken apart, then a list a section.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text/escape.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "diff/run_diff.h"

namespace debrief::diff {

namespace {

constexpr size_t kRanksShown = 8;
constexpr size_t kLongestName = 200;

// Names come from inputs: one line, bounded, without control characters.
std::string Printable(std::string_view text) {
  std::string clean = ValidUtf8(text);
  for (char& byte : clean)
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = ' ';
  if (clean.size() <= kLongestName) return clean;
  size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80) --end;
  return clean.substr(0, end) + "...";
}

void TrimRight(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

void WritePart(std::string_view name, const Change& change, std::string& out) {
  std::string line = fmt::format(
      "  {:<34}{:>10} {:>10} {:>11} {:>9}  {}", name, DurationText(change.a),
      DurationText(change.b), SignedText(change.difference(), Unit::kNanoseconds),
      PercentText(change),
      change.is_real || change.difference() == 0 || change.noise == kNone64 ? "" : "within noise");
  TrimRight(line);
  out += line + "\n";
}

struct RankPart {
  int32_t rank;
  StepPart part;
  Change change;
};

std::vector<RankPart> ChangedParts(const StepDiff& steps) {
  std::vector<RankPart> changed;
  for (const auto& [rank, change] : steps.ranks) {
    for (size_t part = 0; part < static_cast<size_t>(StepPart::kRest); ++part)
      if (change.parts[part].is_real)
        changed.push_back({rank, static_cast<StepPart>(part), change.parts[part]});
  }
  std::stable_sort(changed.begin(), changed.end(), [](const RankPart& x, const RankPart& y) {
    return std::abs(x.change.difference()) > std::abs(y.change.difference());
  });
  return changed;
}

void WriteRanks(const StepDiff& steps, std::string& out) {
  if (steps.ranks.size() < 2) return;
  const std::vector<RankPart> changed = ChangedParts(steps);
  for (size_t i = 0; i < std::min(kRanksShown, changed.size()); ++i)
    WritePart(fmt::format("rank {}: {}", changed[i].rank, PartInWords(changed[i].part)),
              changed[i].change, out);
  if (changed.size() > kRanksShown)
    out += fmt::format("  and {} more parts of ranks\n", changed.size() - kRanksShown);
}

void WriteSteps(const StepDiff& steps, std::string& out) {
  out += fmt::format("\n  {:<34}{:>10} {:>10} {:>11}\n", "Time of a step", "A", "B", "B - A");
  for (size_t part = 0; part < kStepParts; ++part) {
    const Change& change = steps.job.parts[part];
    if (change.a != 0 || change.b != 0)
      WritePart(PartInWords(static_cast<StepPart>(part)), change, out);
  }
  WritePart("sum", steps.job.total, out);
  WriteRanks(steps, out);
  out += fmt::format("  means of {} and {} steps", steps.steps_a, steps.steps_b);
  if (steps.left_out_a + steps.left_out_b > 0)
    out +=
        fmt::format("; {} and {} unusually long ones left out", steps.left_out_a, steps.left_out_b);
  if (steps.job.total.noise != kNone64)
    out += fmt::format("; differences of a step up to {} may be chance",
                       DurationText(steps.job.total.noise));
  else
    out += "; too few to tell a difference from chance";
  out += "\n";
  if (steps.blame && steps.blame->others_wait_ns > 0)
    out += fmt::format("  the other ranks wait {} longer in a step\n",
                       DurationText(steps.blame->others_wait_ns));
}

std::string RanksNote(const Row& row) {
  return row.ranks.empty() ? "" : fmt::format(" ({})", RanksInWords(row.ranks));
}

void WriteRow(const Row& row, std::string& out) {
  std::string line;
  if (row.unit == Unit::kNone) {
    line = fmt::format("  {:<8} {:<9} {}", row.change, row.note, Printable(row.name));
  } else {
    line = fmt::format("  {:<8} {:>11} {:>8}  {} -> {}  {}{}", row.change,
                       SignedText(row.value.difference(), row.unit), PercentText(row.value),
                       AmountText(row.value.a, row.unit), AmountText(row.value.b, row.unit),
                       Printable(row.name), RanksNote(row));
    if (!row.note.empty()) line += fmt::format("; {}", Printable(row.note));
  }
  TrimRight(line);
  out += line + "\n";
}

}  // namespace

std::string DiffText(const RunDiff& diff, size_t most_rows) {
  std::string out = Printable(diff.headline) + "\n";
  if (!diff.is_empty())
    out += fmt::format("  A: {}\n  B: {}\n", Printable(diff.name_a), Printable(diff.name_b));
  for (const std::string& note : diff.notes) out += fmt::format("  {}\n", note);
  if (diff.steps && diff.steps->has_changed()) WriteSteps(*diff.steps, out);
  for (const Section& section : diff.sections) {
    out += fmt::format("\n{}\n", section.title);
    const size_t shown = std::min(most_rows, section.rows.size());
    for (size_t i = 0; i < shown; ++i) WriteRow(section.rows[i], out);
    if (shown < section.rows.size())
      out += fmt::format("  and {} more\n", section.rows.size() - shown);
  }
  return out;
}

}  // namespace debrief::diff
