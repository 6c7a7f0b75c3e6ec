// Kernels, copies and fills by name, and ops by what they launched: outputs/terminal/profile_diff
// compares them step by step; here only what is beyond noise is kept.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "diff/run_diff.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "tables/timeline.h"

namespace debrief::diff {

namespace {

using outputs::profile_diff::NameDiff;
using outputs::profile_diff::PerSample;
using outputs::profile_diff::ProfileDiff;

// In hundredths of a percent of a step: less does not matter.
constexpr int64_t kSmallestShare = 50;

std::set<int32_t> RanksOfTimelines(const Side& side) {
  const auto& table = side.model.tables.Get<TimelineTable>();
  std::set<int32_t> ranks;
  for (size_t row = 0; row < table.size(); ++row)
    if (side.HasRow(table, row)) ranks.insert(side.RankKey(table.rank[row]));
  return ranks;
}

// -1, the number of no input, keeps an empty selection from meaning all of them.
std::vector<int32_t> InputsOf(const Side& side, const std::set<int32_t>& ranks) {
  const auto& table = side.model.tables.Get<TimelineTable>();
  std::vector<int32_t> inputs;
  for (size_t row = 0; row < table.size(); ++row) {
    if (side.HasRow(table, row) && ranks.contains(side.RankKey(table.rank[row])))
      inputs.push_back(table.input[row]);
  }
  if (inputs.empty()) inputs.push_back(-1);
  return inputs;
}

bool Matters(const NameDiff& name, int64_t smallest) {
  if (std::abs(name.time.difference()) <= smallest) return false;
  const bool came_or_went = (name.count_a == 0) != (name.count_b == 0);
  return came_or_went || name.time.is_real;
}

std::string_view WordOf(std::string_view verdict) {
  if (verdict == "more_launches") return "more";
  if (verdict == "fewer_launches") return "fewer";
  if (verdict == "slower") return "longer";
  return verdict == "faster" ? "shorter" : verdict;
}

std::vector<Row> RowsOf(const std::vector<NameDiff>& names, const ProfileDiff& profile) {
  const int64_t smallest = PercentOf(profile.total.a, kSmallestShare) / 100;
  std::vector<Row> rows;
  for (const NameDiff& name : names) {
    if (!Matters(name, smallest)) continue;
    rows.push_back({.change = std::string(WordOf(name.verdict)),
                    .name = name.name,
                    .unit = Unit::kNanoseconds,
                    .value = {name.time.a, name.time.b, name.time.noise, true},
                    .note = fmt::format("{} -> {} launches, {} by launches, {} by duration",
                                        PerSample(name.count_a, profile.samples_a),
                                        PerSample(name.count_b, profile.samples_b),
                                        SignedText(name.count_effect_ns, Unit::kNanoseconds),
                                        SignedText(name.duration_effect_ns, Unit::kNanoseconds))});
  }
  return rows;
}

}  // namespace

ComparedProfiles FindProfiles(const Side& a, const Side& b) {
  const std::set<int32_t> of_a = RanksOfTimelines(a), of_b = RanksOfTimelines(b);
  std::set<int32_t> both;
  std::ranges::set_intersection(of_a, of_b, std::inserter(both, both.end()));
  return {.a = InputsOf(a, both), .b = InputsOf(b, both)};
}

void DiffWork(const ProfileDiff& profile, RunDiff& diff) {
  const bool by_step = profile.unit == outputs::profile_diff::Unit::kStep;
  AddSection("kernels",
             by_step ? "Kernels, copies and fills (time per step and rank)"
                     : "Kernels, copies and fills (time per profile)",
             RowsOf(profile.kernels, profile), diff);
  AddSection("ops",
             by_step ? "Ops (device time per step and rank)" : "Ops (device time per profile)",
             RowsOf(profile.ops, profile), diff);
}

}  // namespace debrief::diff
