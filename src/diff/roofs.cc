// Ops that moved away from the roof of their device: time a step beyond what their shapes need, by
// op and shapes; the samples are ranks.
#include <fmt/format.h>

#include <map>
#include <set>

#include "diff/run_diff.h"
#include "tables/profile_roofline.h"
#include "tables/timeline_step.h"

namespace debrief::diff {

namespace {

// In hundredths of a percent of a step: less does not matter.
constexpr int64_t kSmallestRoofShare = 50;

struct RoofTimes {
  int64_t busy_ns = 0, roof_ns = 0, calls = 0;
};
using RoofsOfRanks = std::map<int32_t, RoofTimes>;

std::map<int32_t, int64_t> StepsOfRank(const Side& side) {
  const auto& table = side.model.tables.Get<TimelineStepTable>();
  std::map<int32_t, int64_t> steps;
  for (size_t row = 0; row < table.size(); ++row)
    if (side.HasRow(table, row)) ++steps[side.RankKey(table.rank[row])];
  return steps;
}

// By op and shapes; a step of each rank.
std::map<std::string, RoofsOfRanks> RoofsOf(const Side& side) {
  const auto& table = side.model.tables.Get<ProfileRooflineTable>();
  const std::map<int32_t, int64_t> steps = StepsOfRank(side);
  std::map<std::string, RoofsOfRanks> roofs;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row) || side.Text(table.definition[row]) != "debrief") continue;
    const int32_t rank = side.RankKey(table.rank[row]);
    const auto of_rank = steps.find(rank);
    if (table.roof_ns[row] == kNone64 || of_rank == steps.end()) continue;
    RoofTimes& times =
        roofs[fmt::format("{} {}", side.Text(table.op[row]), side.Text(table.shapes[row]))][rank];
    times.busy_ns += table.busy_ns[row] / of_rank->second;
    times.roof_ns += table.roof_ns[row] * table.count[row] / of_rank->second;
    times.calls += table.count[row] / of_rank->second;
  }
  return roofs;
}

std::vector<int64_t> BeyondRoof(const RoofsOfRanks& ranks) {
  std::vector<int64_t> values;
  for (const auto& [rank, times] : ranks) values.push_back(times.busy_ns - times.roof_ns);
  return values;
}

// "62 %"
std::string ShareOfRoof(const RoofsOfRanks& ranks) {
  double roof = 0, busy = 0;
  for (const auto& [rank, times] : ranks) {
    roof += static_cast<double>(times.roof_ns);
    busy += static_cast<double>(times.busy_ns);
  }
  return fmt::format("{:.0f} %", busy > 0 ? 100 * roof / busy : 0);
}

}  // namespace

void DiffRoofs(const Side& a, const Side& b, RunDiff& diff) {
  if (!diff.steps) return;
  const auto of_a = RoofsOf(a), of_b = RoofsOf(b);
  const int64_t floor = PercentOf(diff.steps->job.total.a, kSmallestRoofShare) / 100;
  std::vector<Row> rows;
  for (const auto& [name, ranks] : of_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) continue;
    const Change change = ChangeOfRanks(BeyondRoof(ranks), BeyondRoof(other->second), floor);
    if (!change.is_real) continue;
    Row row = RowOf(name, Unit::kNanoseconds, change);
    row.note = fmt::format("{} -> {} of the roof", ShareOfRoof(ranks), ShareOfRoof(other->second));
    rows.push_back(std::move(row));
  }
  AddSection("roofs", "Time a step beyond the roof, by op and shapes", std::move(rows), diff);
}

}  // namespace debrief::diff
