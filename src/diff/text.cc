// A comparison for a terminal: the sentence, the steps taken apart, then a list a section.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/safe_name.h"
#include "base/text/units.h"
#include "diff/run_diff.h"

namespace debrief::diff {

namespace {

constexpr size_t kRanksShown = 8;
constexpr size_t kLongestName = 200;

// Names come from inputs: one line, bounded, without control characters.
std::string Shown(std::string_view text) { return CutEnd(Printable(text), kLongestName); }

void AddPart(std::string_view name, const Change& change, TextTable& table) {
  const bool is_noise = !change.is_real && change.difference() != 0 && change.noise != kNone64;
  table.Add({std::string(name), DurationText(change.a), DurationText(change.b),
             SignedDurationText(change.difference()), PercentText(change),
             is_noise ? "within noise" : ""});
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

void AddRanks(const StepDiff& steps, TextTable& table) {
  if (steps.ranks.size() < 2) return;
  const std::vector<RankPart> changed = ChangedParts(steps);
  for (size_t i = 0; i < std::min(kRanksShown, changed.size()); ++i)
    AddPart(fmt::format("rank {}: {}", changed[i].rank, PartInWords(changed[i].part)),
            changed[i].change, table);
  if (changed.size() > kRanksShown)
    table.Add({fmt::format("and {} of ranks", Plural(changed.size() - kRanksShown, "more part"))});
}

void PrintSteps(const StepDiff& steps, std::string& out) {
  constexpr auto kRight = TextTable::kRight;
  TextTable table(
      {{"Time of a step"}, {"A", kRight}, {"B", kRight}, {"B - A", kRight}, {"", kRight}, {""}});
  for (size_t part = 0; part < kStepParts; ++part) {
    const Change& change = steps.job.parts[part];
    if (change.a != 0 || change.b != 0)
      AddPart(PartInWords(static_cast<StepPart>(part)), change, table);
  }
  AddPart("sum", steps.job.total, table);
  AddRanks(steps, table);
  out += "\n" + table.Text({.indent = 2});
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

void PrintRow(const Row& row, std::string& out) {
  std::string line;
  if (row.unit == Unit::kNone) {
    line = fmt::format("  {:<8} {:<9} {}", row.change, row.note, Shown(row.name));
  } else {
    line = fmt::format("  {:<8} {:>11} {:>8}  {} -> {}  {}{}", row.change,
                       SignedText(row.value.difference(), row.unit), PercentText(row.value),
                       AmountText(row.value.a, row.unit), AmountText(row.value.b, row.unit),
                       Shown(row.name), RanksNote(row));
    if (!row.note.empty()) line += fmt::format("; {}", Shown(row.note));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string DiffText(const RunDiff& diff, size_t most_rows) {
  std::string out = Shown(diff.headline) + "\n";
  if (!diff.is_empty())
    out += fmt::format("  A: {}\n  B: {}\n", Shown(diff.name_a), Shown(diff.name_b));
  for (const std::string& note : diff.notes) out += fmt::format("  {}\n", note);
  if (diff.steps && diff.steps->has_changed()) PrintSteps(*diff.steps, out);
  for (const Section& section : diff.sections) {
    out += fmt::format("\n{}\n", section.title);
    const size_t shown = std::min(most_rows, section.rows.size());
    for (size_t i = 0; i < shown; ++i) PrintRow(section.rows[i], out);
    if (shown < section.rows.size())
      out += fmt::format("  and {} more\n", section.rows.size() - shown);
  }
  return out;
}

}  // namespace debrief::diff
