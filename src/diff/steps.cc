#include "diff/steps.h"

#include <algorithm>
#include <cstdlib>

#include "base/stats/intervals.h"
#include "model/timeline/rank_windows.h"
#include "model/timeline/typical_steps.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_wait.h"

namespace debrief::diff {

namespace {

using timeline::TimelineView;
using timeline::Window;

using Series = std::map<int64_t, StepTimes>;  // by step

timeline::TypicalSteps TypicalOf(const StepsOfRanks& ranks) {
  timeline::StepLengths lengths;
  for (const auto& [rank, steps] : ranks)
    for (const auto& [key, times] : steps) lengths[rank][key] = times.total;
  return timeline::FindTypicalSteps(lengths);
}

// The job's steps, as means over the ranks.
Series StepsOfJob(const StepsOfRanks& ranks, const std::vector<int64_t>& keys) {
  Series job;
  for (int64_t key : keys) {
    auto mean = [&](auto value) {
      std::vector<int64_t> values;
      for (const auto& [rank, steps] : ranks) values.push_back(value(steps.at(key)));
      return Mean(values);
    };
    StepTimes& times = job[key];
    times.total = mean([](const StepTimes& each) { return each.total; });
    for (size_t part = 0; part < kStepParts; ++part)
      times.parts[part] = mean([part](const StepTimes& each) { return each.parts[part]; });
  }
  return job;
}

class Samples {
 public:
  Samples(const Series& steps, const std::vector<int64_t>& keys) {
    for (int64_t key : keys) steps_.push_back(&steps.at(key));
  }

  std::vector<int64_t> Totals() const {
    return Values([](const StepTimes& times) { return times.total; });
  }
  std::vector<int64_t> Of(size_t part) const {
    return Values([part](const StepTimes& times) { return times.parts[part]; });
  }

 private:
  template <typename Value>
  std::vector<int64_t> Values(Value value) const {
    std::vector<int64_t> values;
    for (const StepTimes* times : steps_) values.push_back(value(*times));
    return values;
  }

  std::vector<const StepTimes*> steps_;
};

// Means are rounded each for itself; the rest takes what that leaves.
void MakeExact(StepChange& change) {
  Change& rest = change[StepPart::kRest];
  rest.a = change.total.a;
  rest.b = change.total.b;
  for (size_t part = 0; part < static_cast<size_t>(StepPart::kRest); ++part) {
    rest.a -= change.parts[part].a;
    rest.b -= change.parts[part].b;
  }
}

StepChange Compare(const Samples& a, const Samples& b) {
  StepChange change;
  const int64_t floor = outputs::profile_diff::SmallestThatMatters(Mean(a.Totals()));
  change.total = ChangeOf(a.Totals(), b.Totals(), floor);
  for (size_t part = 0; part < kStepParts; ++part)
    change.parts[part] = ChangeOf(a.Of(part), b.Of(part), floor);
  MakeExact(change);
  return change;
}

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

StepsOfRanks MeasureSteps(const Side& side, std::span<const int32_t> inputs) {
  const timeline::DeviceClasses classes(side.model);
  const timeline::NameMarks marks(side.model);
  const std::map<int32_t, IntervalSet> waiting = FindWaiting(side.model);
  StepsOfRanks ranks;
  for (const TimelineView& view : timeline::Timelines(side.model)) {
    if (std::ranges::find(inputs, view.who.input) == inputs.end()) continue;
    auto waits = waiting.find(view.who.input);
    const IntervalSet none;
    // Of a step that a rank recorded twice the first counts.
    for (const Window& window : timeline::MeasureCompared(view, classes, marks))
      ranks[side.RankKey(view.who.rank)].try_emplace(
          window.key, TimesOf(window, waits == waiting.end() ? none : waits->second));
  }
  return ranks;
}

std::string_view PartName(StepPart part) {
  static constexpr std::string_view kNames[kStepParts] = {
      "host", "data_loading", "compiling", "gpu", "waiting", "communication", "still", "rest"};
  return kNames[static_cast<size_t>(part)];
}

std::string_view PartInWords(StepPart part) {
  static constexpr std::string_view kNames[kStepParts] = {
      "host",          "data loading", "compiling", "GPU", "waiting for other ranks",
      "communication", "nothing runs", "overlap"};
  return kNames[static_cast<size_t>(part)];
}

std::optional<StepDiff> DiffSteps(const StepsOfRanks& a, const StepsOfRanks& b) {
  const timeline::TypicalSteps typical_a = TypicalOf(a), typical_b = TypicalOf(b);
  const std::vector<int64_t>&keys_a = typical_a.keys, &keys_b = typical_b.keys;
  if (keys_a.empty() || keys_b.empty()) return std::nullopt;
  StepDiff diff;
  diff.steps_a = keys_a.size();
  diff.steps_b = keys_b.size();
  diff.left_out_a = typical_a.left_out;
  diff.left_out_b = typical_b.left_out;
  const Series job_a = StepsOfJob(a, keys_a), job_b = StepsOfJob(b, keys_b);
  diff.job = Compare(Samples(job_a, keys_a), Samples(job_b, keys_b));
  for (const auto& [rank, steps] : a) {
    auto other = b.find(rank);
    if (other != b.end())
      diff.ranks[rank] = Compare(Samples(steps, keys_a), Samples(other->second, keys_b));
  }
  diff.blame = FindBlame(diff);
  return diff;
}

}  // namespace debrief::diff
