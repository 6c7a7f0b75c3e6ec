#include "model/timeline/idle_gaps.h"

#include <algorithm>

#include "model/timeline/launches.h"

namespace debrief::timeline {

namespace {

// What a device may take between two kernels that were both queued; HTA's limit as well.
constexpr int64_t kKernelWaitNs = 30'000;
// A host that waited for the device needs some launches until the device has work again. A gap that
// goes on for longer than this behind the wait has another cause.
constexpr int64_t kRefillNs = 1'000'000;

class GapFinder {
 public:
  GapFinder(const TimelineView& view, const DeviceWorks& works, const HostActivity& activity)
      : view_(view),
        works_(works),
        activity_(activity),
        links_(LaunchLinksOf(view)),
        unseen_(UnseenGraphLaunches(view, works.works)) {}

  std::vector<Gap> Find() {
    for (int32_t device : works_.Devices()) FindOn(device);
    return std::move(gaps_);
  }

 private:
  void FindOn(int32_t device) {
    bool is_first = true;
    int64_t busy_since = 0, busy_until = 0;
    for (const DeviceWork& work : works_.works) {
      if (work.device != device) continue;
      if (!is_first && work.time.begin > busy_until)
        AddGap({busy_until, work.time.begin}, work, busy_since);
      if (is_first || work.time.begin > busy_until) busy_since = work.time.begin;
      busy_until = is_first ? work.time.end : std::max(busy_until, work.time.end);
      is_first = false;
    }
  }

  void AddGap(Interval time, const DeviceWork& next, int64_t busy_since) {
    Gap gap{.time = time, .device = next.device, .work = next.slice};
    gap.launch = links_.launch[TimelineView::At(next.slice)];
    gap.op = links_.op[TimelineView::At(next.slice)];
    if (gap.launch != kNone32) {
      gap.host = activity_.BusiestSlice(view_.track[TimelineView::At(gap.launch)], time);
      gap.host_covers_most = gap.host != kNone32 && activity_.CoversMost(gap.host, time);
    }
    // A graph runs behind its launch: in the first gap after it, or in one that it was launched in.
    gap.cause = AnyWithin(unseen_, busy_since, time.end) ? Cause::kGraph : CauseOf(gap);
    gaps_.push_back(gap);
  }

  Cause CauseOf(Gap& gap) const {
    if (gap.launch == kNone32) return Cause::kOther;
    if (view_.start[TimelineView::At(gap.launch)] <= gap.time.begin)
      return gap.time.length() < kKernelWaitNs ? Cause::kKernelWait : Cause::kOther;
    int64_t queued = gap.time.end - view_.end(gap.launch);
    if (queued >= kKernelWaitNs && 2 * queued > gap.time.length()) return Cause::kOther;
    int32_t track = view_.track[TimelineView::At(gap.launch)];
    auto most = [&](HostClass each) { return activity_.CoversMost(track, each, gap.time); };
    if (most(HostClass::kDataLoading)) return Cause::kDataLoading;
    if (most(HostClass::kCompile)) return Cause::kCompile;
    if (most(HostClass::kMemoryAllocation)) return Cause::kMemoryAllocation;
    int32_t wait = activity_.WaitingAt(track, gap.time.begin);
    if (wait != kNone32 && gap.time.end - view_.end(wait) <= kRefillNs) {
      gap.host = wait;
      return Cause::kSync;
    }
    return most(HostClass::kSync) ? Cause::kSync : Cause::kHost;
  }

  const TimelineView& view_;
  const DeviceWorks& works_;
  const HostActivity& activity_;
  LaunchLinks links_;
  std::vector<int64_t> unseen_;
  std::vector<Gap> gaps_;
};

}  // namespace

std::string_view CauseName(Cause cause) {
  constexpr std::array<std::string_view, kCauses> kNames = {
      "data_loading", "sync",        "compile", "memory_allocation",
      "host",         "kernel_wait", "graph",   "other"};
  return kNames[static_cast<size_t>(cause)];
}

bool IsOfHost(Cause cause) { return cause <= Cause::kHost; }

std::vector<Gap> FindGaps(const TimelineView& view, const DeviceWorks& works,
                          const HostActivity& activity) {
  return GapFinder(view, works, activity).Find();
}

}  // namespace debrief::timeline
