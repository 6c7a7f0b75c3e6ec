#include "model/timeline/typical_steps.h"

#include <algorithm>

#include "base/stats/noise.h"
#include "base/stats/statistics.h"
#include "model/timeline/device_time.h"
#include "tables/timeline_step.h"

namespace debrief::timeline {

namespace {

constexpr int64_t kUnusualPercent = 150;

}  // namespace

std::vector<ComparedStep> ComparedStepsOf(const TimelineView& view) {
  const auto& table = view.model.tables.Get<TimelineStepTable>();
  const std::vector<StepWindow> windows = StepWindowsOf(view);
  std::vector<ComparedStep> all, whole;
  size_t row = RowsOf(table, view.who.input).begin;
  for (const StepWindow& window : windows) {
    const int64_t key = table.label[row] == kNone64 ? window.step : table.label[row];
    const bool is_whole = table.whole[row];
    ++row;
    if (window.time.length() <= 0) continue;
    all.push_back({.step = window.step, .key = key, .time = window.time});
    if (is_whole) whole.push_back(all.back());
  }
  return whole.empty() ? all : whole;
}

size_t TypicalSteps::At(int64_t key) const {
  const auto found = std::ranges::lower_bound(keys, key);
  return found != keys.end() && *found == key ? static_cast<size_t>(found - keys.begin())
                                              : keys.size();
}

TypicalSteps FindTypicalSteps(const StepLengths& lengths) {
  std::map<int64_t, std::vector<int64_t>> by_key;
  for (const auto& [rank, steps] : lengths)
    for (const auto& [key, length] : steps) by_key[key].push_back(length);
  std::map<int64_t, int64_t> means;  // of the steps that all have
  for (const auto& [key, all] : by_key)
    if (all.size() == lengths.size()) means[key] = Mean(all);
  std::vector<int64_t> totals;
  for (const auto& [key, mean] : means) totals.push_back(mean);
  const int64_t limit = PercentOf(Median(totals), kUnusualPercent);
  const auto usual = static_cast<size_t>(
      std::ranges::count_if(totals, [limit](int64_t mean) { return mean <= limit; }));
  TypicalSteps typical;
  // All are kept when too few would be left.
  const bool keeps_all = usual < kFewestSamples;
  for (const auto& [key, mean] : means)
    if (keeps_all || mean <= limit) typical.keys.push_back(key);
  typical.left_out = means.size() - typical.keys.size();
  return typical;
}

}  // namespace debrief::timeline
