// The parts of each step of each rank, from the timelines of one side.
#include <algorithm>

#include "base/stats/intervals.h"
#include "diff/steps.h"
#include "model/timeline/rank_windows.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_wait.h"

namespace debrief::diff {

namespace {

using timeline::TimelineView;
using timeline::Window;

// When the collectives of each input wait for a rank that has not come yet, on the input's clock.
std::map<int32_t, IntervalSet> FindWaiting(const Model& model) {
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  const auto& collectives = model.tables.Get<ProfileCollectiveTable>();
  std::map<int32_t, std::vector<Interval>> found;
  for (size_t row = 0; row < waits.size(); ++row) {
    const auto at = static_cast<size_t>(waits.collective[row]);
    if (at >= collectives.size() || waits.wait_ns[row] <= 0) continue;
    const int64_t start = collectives.start_ns[at];
    const int64_t wait = std::min(waits.wait_ns[row], collectives.duration_ns[at]);
    found[waits.input[row]].push_back({start, start + wait});
  }
  std::map<int32_t, IntervalSet> sets;
  for (auto& [input, intervals] : found) sets[input] = Union(std::move(intervals));
  return sets;
}

StepTimes TimesOf(const Window& window, const IntervalSet& waiting) {
  StepTimes times;
  times.total = window.length_ns;
  times[StepPart::kData] = window.data_ns;
  times[StepPart::kCompile] = window.compile_ns;
  times[StepPart::kHost] =
      std::max<int64_t>(0, window.host_own_ns - window.data_ns - window.compile_ns);
  times[StepPart::kGpu] = window.compute_ns;
  const int64_t waits = std::min(window.communication_ns, Length(Clip(waiting, window.time)));
  times[StepPart::kWaiting] = waits;
  times[StepPart::kCommunication] = window.communication_ns - waits;
  times[StepPart::kStill] = window.still_ns;
  int64_t rest = times.total;
  for (int64_t part : times.parts) rest -= part;
  times[StepPart::kRest] = rest;
  return times;
}

}  // namespace

StepsOfRanks MeasureSteps(const Side& side) {
  const timeline::DeviceClasses classes(side.model);
  const timeline::NameMarks marks(side.model);
  const std::map<int32_t, IntervalSet> waiting = FindWaiting(side.model);
  StepsOfRanks ranks;
  for (const TimelineView& view : timeline::Timelines(side.model)) {
    if (!side.HasAttempt(view.who.attempt) || !side.Has(view.who.rank)) continue;
    auto waits = waiting.find(view.who.input);
    const IntervalSet none;
    for (const Window& window : timeline::MeasureRank(view, classes, marks, {}).windows)
      ranks[side.RankKey(view.who.rank)][window.key] =
          TimesOf(window, waits == waiting.end() ? none : waits->second);
  }
  return ranks;
}

}  // namespace debrief::diff
