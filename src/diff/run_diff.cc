#include "diff/run_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text/units.h"
#include "tables/job.h"

namespace debrief::diff {

namespace {

constexpr int64_t kUsualPercent = 10;  // that one rank differs by from run to run
constexpr std::string_view kNothing = "No difference beyond noise";

// What is new and bad comes before what is gone; then what changed most.
int WeightOf(const Row& row) {
  if (row.unit != Unit::kNone) return 0;
  if (row.note == "error") return row.change == "gone" ? 3 : 6;
  if (row.note == "warning") return row.change == "gone" ? 2 : 5;
  return row.change == "gone" ? 1 : 4;
}

int64_t SizeOf(const Row& row) {
  return row.unit == Unit::kNone ? 0 : std::abs(row.value.difference());
}

// The most important finding that A does not have; null when there is none that matters.
const Row* NewFinding(const RunDiff& diff) {
  if (diff.sections.empty() || diff.sections[0].id != "findings") return nullptr;
  const Row& first = diff.sections[0].rows[0];
  return first.change == "new" && first.note != "info" ? &first : nullptr;
}

void SetHeadline(RunDiff& diff) {
  size_t rows = 0;
  for (const Section& section : diff.sections) rows += section.rows.size();
  if (diff.steps && diff.steps->has_changed()) {
    diff.headline = StepHeadline(*diff.steps);
  } else if (rows == 0) {
    diff.headline = kNothing;
  } else if (const Row* finding = NewFinding(diff)) {
    diff.headline = "New: " + finding->name;
  } else {
    diff.headline =
        fmt::format("{} difference{}: {}{}", rows, rows == 1 ? "" : "s",
                    diff.sections.front().title, diff.sections.size() > 1 ? " and more" : "");
  }
}

}  // namespace

std::string_view UnitName(Unit unit) {
  static constexpr std::string_view kNames[] = {"", "count", "ns", "bytes"};
  return kNames[static_cast<size_t>(unit)];
}

std::string AmountText(int64_t amount, Unit unit) {
  if (unit == Unit::kNanoseconds) return DurationText(amount);
  return unit == Unit::kBytes ? BytesText(static_cast<double>(amount)) : fmt::to_string(amount);
}

std::string SignedText(int64_t amount, Unit unit) {
  std::string size = AmountText(std::abs(amount), unit);
  if (amount == 0) return size;
  return (amount > 0 ? "+" : "-") + size;
}

std::string PercentText(const Change& change) { return ChangePercentText(change.a, change.b); }

bool RunDiff::is_empty() const { return sections.empty() && !(steps && steps->has_changed()); }

void AddSection(std::string_view id, std::string_view title, std::vector<Row> rows, RunDiff& diff) {
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    return std::pair(WeightOf(x), SizeOf(x)) > std::pair(WeightOf(y), SizeOf(y));
  });
  diff.sections.push_back({id, title, std::move(rows)});
}

Change ChangeOfRanks(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t floor) {
  Change change = ChangeOf(a, b, floor);
  if (change.noise != kNone64) return change;
  change = ChangeOfSingles(change.a, change.b, kUsualPercent);
  change.is_real &= std::abs(change.difference()) > floor;
  return change;
}

RunDiff DiffRuns(const Side& a, const Side& b) {
  RunDiff diff{.name_a = a.name, .name_b = b.name};
  const ComparedProfiles profiles = FindProfiles(a, b);
  diff.steps = DiffSteps(MeasureSteps(a, profiles.a), MeasureSteps(b, profiles.b));
  if (diff.steps) diff.metrics.push_back({"step_time", Unit::kNanoseconds, diff.steps->job.total});
  DiffFindings(a, b, diff);
  DiffCompiles(a, b, diff);
  DiffCompileTime(a, b, diff);
  DiffGraphs(a, b, diff);
  auto profile = outputs::profile_diff::DiffProfiles({a.model, profiles.a}, {b.model, profiles.b});
  if (profile.ok()) DiffWork(profile.value(), diff);
  DiffRoofs(a, b, diff);
  DiffCollectives(a, b, diff);
  DiffReplays(a, b, diff);
  DiffMemory(a, b, diff);
  SetHeadline(diff);
  return diff;
}

RunDiff DiffCompilations(const Side& a, const Side& b) {
  RunDiff diff{.name_a = a.name, .name_b = b.name};
  DiffCompiles(a, b, diff);
  DiffCompileTime(a, b, diff);
  DiffGraphs(a, b, diff);
  SetHeadline(diff);
  return diff;
}

std::string ChangeWord(const Change& change, Unit unit) {
  if (unit == Unit::kCount && change.a == 0) return "new";
  if (unit == Unit::kCount && change.b == 0) return "gone";
  const bool is_time = unit == Unit::kNanoseconds;
  if (change.difference() > 0) return is_time ? "longer" : "more";
  return is_time ? "shorter" : "fewer";
}

Row RowOf(std::string name, Unit unit, const Change& change) {
  return {
      .change = ChangeWord(change, unit), .name = std::move(name), .unit = unit, .value = change};
}

std::vector<Row> Tally::Rows() const {
  std::vector<Row> rows;
  for (const auto& [name, ranks] : names_) {
    Row row{.name = name, .unit = Unit::kCount};
    for (const auto& [rank, change] : ranks) {
      row.value.a += change.a;
      row.value.b += change.b;
      if (change.a != change.b && rank != kNone32) row.ranks.push_back(rank);
      row.value.is_real |= change.a != change.b;
    }
    if (!row.value.is_real) continue;
    if (row.ranks.size() == ranks.size()) row.ranks.clear();
    row.change = row.value.difference() == 0 ? "changed" : ChangeWord(row.value, Unit::kCount);
    rows.push_back(std::move(row));
  }
  return rows;
}

Change Tally::Sum() const {
  Change sum{.noise = 0};
  for (const auto& [name, ranks] : names_) {
    for (const auto& [rank, change] : ranks) {
      sum.a += change.a;
      sum.b += change.b;
    }
  }
  sum.is_real = sum.a != sum.b;
  return sum;
}

}  // namespace debrief::diff
