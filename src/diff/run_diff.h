// What is different in run B, seen from run A: everything that `debrief diff` shows, in one object.
//
//   headline   the answer in one sentence
//   steps      time of a step, taken apart; by rank
//   sections   findings, compilations, kernels, ...: a list of differences each, most important
//   first metrics    single figures that gates test (gates.h)
//
// Identical runs give no rows, and a headline that says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stats/noise.h"
#include "diff/side.h"
#include "diff/steps.h"
#include "outputs/terminal/profile_diff/profile_diff.h"

namespace debrief::diff {

enum class Unit : uint8_t { kNone, kCount, kNanoseconds, kBytes };
std::string_view UnitName(Unit unit);

// One difference.
struct Row {
  std::string change;  // new, gone, more, fewer, longer, shorter, changed
  std::string name;
  Unit unit = Unit::kNone;
  Change value;                // meaningless where unit is kNone
  std::vector<int32_t> ranks;  // that differ; none: all, or it does not matter
  std::string note;
};

struct Section {
  std::string_view id;
  std::string_view title;
  std::vector<Row> rows;
};

// A figure of both runs.
struct Metric {
  std::string_view name;
  Unit unit = Unit::kNone;
  Change value;
};

struct RunDiff {
  std::string name_a, name_b;
  std::string headline;
  std::vector<std::string> notes;  // what could not be compared, and why
  std::optional<StepDiff> steps;   // where both have profiles
  std::vector<Section> sections;
  std::vector<Metric> metrics;

  bool is_empty() const;
};

RunDiff DiffRuns(const Side& a, const Side& b);

// Profiles of the ranks that have some on both sides, by input: what `debrief profile diff`
// compares and what the steps of DiffRuns are measured in.
struct ComparedProfiles {
  std::vector<int32_t> a, b;
};
ComparedProfiles FindProfiles(const Side& a, const Side& b);

// Only compilations: of two that a side names each (Side::compile_id).
RunDiff DiffCompilations(const Side& a, const Side& b);

// A file a question; each adds its sections and metrics.
void DiffFindings(const Side& a, const Side& b, RunDiff& diff);
void DiffCompiles(const Side& a, const Side& b, RunDiff& diff);
void DiffCompileTime(const Side& a, const Side& b, RunDiff& diff);
void DiffGraphs(const Side& a, const Side& b, RunDiff& diff);
void DiffWork(const outputs::profile_diff::ProfileDiff& profile, RunDiff& diff);
void DiffCollectives(const Side& a, const Side& b, RunDiff& diff);
void DiffMemory(const Side& a, const Side& b, RunDiff& diff);

// What replays and the roofs of ops tell of a change of steps.
void DiffReplays(const Side& a, const Side& b, RunDiff& diff);
void DiffRoofs(const Side& a, const Side& b, RunDiff& diff);

// Of values by rank. Of one or two ranks the scatter is not known: the same done twice was seen to
// differ by some percent, and a change of 10 % is taken for real.
Change ChangeOfRanks(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t floor);

// Adds a section unless it is empty. Rows are ordered by the size of their difference.
void AddSection(std::string_view id, std::string_view title, std::vector<Row> rows, RunDiff& diff);

std::string DiffText(const RunDiff& diff, size_t most_rows);
std::string DiffMarkdown(const RunDiff& diff, size_t most_rows);

// "+12.5 ms", "-3", "+2.1 MB".
std::string SignedText(int64_t amount, Unit unit);
std::string AmountText(int64_t amount, Unit unit);
// "+6.3 %", "-85 %", of much more "15 times"; empty when the first is not above 0.
std::string PercentText(const Change& change);

// How often things occur on each rank of two sides, by name.
class Tally {
 public:
  void AddA(const std::string& name, int32_t rank, int64_t count) { At(name, rank).a += count; }
  void AddB(const std::string& name, int32_t rank, int64_t count) { At(name, rank).b += count; }

  // One row for each name whose count differs on any rank, with the sums over ranks.
  std::vector<Row> Rows() const;

  // Sums over names and ranks.
  Change Sum() const;

 private:
  Change& At(const std::string& name, int32_t rank) { return names_[name][rank]; }

  std::map<std::string, std::map<int32_t, Change>> names_;
};

// new, gone, more, fewer; longer and shorter for times.
std::string ChangeWord(const Change& change, Unit unit);
// A row that says so.
Row RowOf(std::string name, Unit unit, const Change& change);

}  // namespace debrief::diff
