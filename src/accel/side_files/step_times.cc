#include "accel/side_files/step_times.h"

#include <algorithm>
#include <cmath>

#include "accel/categories.h"
#include "accel/passes/iteration_stats.h"
#include "accel/passes/utilization.h"
#include "base/stats/intervals.h"
#include "torch/collective_names.h"

namespace debrief::accel {
namespace {

constexpr double kNsPerUs = 1000;

int64_t ToNs(double us) { return std::llround(us * kNsPerUs); }
double ToUs(int64_t ns) { return static_cast<double>(ns) / kNsPerUs; }

struct Work {
  std::vector<Interval> compute, communication;
  int64_t first = 0, last = 0;
  bool any = false;
};

// Slices of a collective, messages between devices, and kernels of the collective libraries.
bool Communicates(const Event& event, Run& run) {
  if (event.Has(key::kCollGroup) || IsCollective(event, run)) return true;
  const Arg* event_class = event.Find(key::kClass);
  if (event_class != nullptr && event_class->value().AsText(run.strings).starts_with("MAIU_")) {
    return true;
  }
  if (run.Traits(event).all_reduce) return true;
  return run.DialectOf(event) == Dialect::kTorch &&
         !timeline::PlainOp(run.Text(event.name)).empty();
}

ByValue<Work> Collect(const EventList& events, Run& run) {
  ByValue<Work> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X' || !IsDeviceEvent(event, run)) continue;
    const bool communicates = Communicates(event, run);
    if (!communicates && !IsKernel(event, run)) continue;
    Work& work = ranks[RankOf(event)];
    const Interval time{ToNs(event.ts), ToNs(event.end())};
    (communicates ? work.communication : work.compute).push_back(time);
    work.first = work.any ? std::min(work.first, time.begin) : time.begin;
    work.last = work.any ? std::max(work.last, time.end) : time.end;
    work.any = true;
  }
  return ranks;
}

// Lengths of a set inside of windows that come one behind the other.
class Walker {
 public:
  explicit Walker(const IntervalSet& set) : set_(set) {}

  int64_t Inside(Interval window) {
    while (at_ < set_.size() && set_[at_].end <= window.begin) ++at_;
    int64_t length = 0;
    for (size_t i = at_; i < set_.size() && set_[i].begin < window.end; ++i) {
      length += std::min(set_[i].end, window.end) - std::max(set_[i].begin, window.begin);
    }
    return length;
  }

 private:
  const IntervalSet& set_;
  size_t at_ = 0;
};

struct Window {
  std::string name;
  Interval time;
};

std::vector<Window> WindowsOf(const Work& work, const RankIterations* iterations) {
  std::vector<Window> windows;
  if (iterations == nullptr || iterations->starts.empty()) {
    windows.push_back({"all", {work.first, work.last}});
    return windows;
  }
  const std::vector<double>& starts = iterations->starts;
  if (work.first < ToNs(starts[0])) windows.push_back({"before", {work.first, ToNs(starts[0])}});
  for (size_t i = 0; i < starts.size(); ++i) {
    windows.push_back({std::to_string(i), {ToNs(starts[i]), ToNs(iterations->ends[i])}});
  }
  return windows;
}

std::vector<StepTime> Measure(Work& work, const std::vector<Window>& windows) {
  const IntervalSet compute = Union(std::move(work.compute));
  const IntervalSet communication = Union(std::move(work.communication));
  const IntervalSet both = Intersect(compute, communication);
  Walker compute_walk(compute), communication_walk(communication), both_walk(both);
  std::vector<StepTime> steps;
  for (const Window& window : windows) {
    const int64_t overlap = both_walk.Inside(window.time);
    const int64_t compute_only = compute_walk.Inside(window.time) - overlap;
    const int64_t communication_only = communication_walk.Inside(window.time) - overlap;
    const int64_t elapsed = window.time.length();
    steps.push_back({window.name, ToUs(elapsed), ToUs(compute_only), ToUs(overlap),
                     ToUs(communication_only),
                     ToUs(elapsed - compute_only - overlap - communication_only)});
  }
  return steps;
}

}  // namespace

std::vector<RankSteps> StepTimes(const EventList& events, Run& run) {
  std::vector<RankSteps> ranks;
  auto& iterations = run.Shared<IterationStats>().ranks;
  for (auto& [rank, work] : Collect(events, run)) {
    ranks.push_back({rank, Measure(work, WindowsOf(work, iterations.Find(rank)))});
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](const RankSteps& a, const RankSteps& b) {
    return PidBefore(a.rank, b.rank, run.strings);
  });
  return ranks;
}

}  // namespace debrief::accel
