#include "model/timeline/device_time.h"

#include <algorithm>
#include <tuple>

namespace debrief::timeline {

namespace {

DeviceWork WorkOf(const TimelineView& view, int32_t slice, DeviceClass device_class) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  size_t track = view.tracks.begin + TimelineView::At(view.track[TimelineView::At(slice)]);
  return {.time = {view.start[TimelineView::At(slice)], view.end(slice)},
          .stream = tracks.stream[track],
          .slice = slice,
          .device = tracks.device[track],
          .device_class = device_class};
}

// What the event itself says counts more than what its track says.
void TakeDetails(const TimelineView& view, std::vector<DeviceWork>& works) {
  const auto& details = view.model.tables.Get<TimelineDeviceWorkTable>();
  size_t row = view.works.begin;
  for (DeviceWork& work : works) {
    while (row < view.works.end && details.slice[row] < work.slice) ++row;
    if (row == view.works.end || details.slice[row] != work.slice) continue;
    if (details.device[row] != kNone32) work.device = details.device[row];
    if (details.stream[row] != kNone64) work.stream = details.stream[row];
  }
}

}  // namespace

std::vector<int32_t> DeviceWorks::Devices() const {
  std::vector<int32_t> devices;
  for (const DeviceWork& work : works) {
    if (std::find(devices.begin(), devices.end(), work.device) == devices.end())
      devices.push_back(work.device);
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

DeviceWorks DeviceWorksOf(const TimelineView& view, const DeviceClasses& classes) {
  DeviceWorks found;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (!view.kinds.IsWork(view.kind[TimelineView::At(slice)])) continue;
    if (view.duration[TimelineView::At(slice)] < 0) {
      ++found.negative;
    } else {
      found.works.push_back(WorkOf(view, slice, classes.Of(view, slice)));
    }
  }
  TakeDetails(view, found.works);
  std::sort(found.works.begin(), found.works.end(), [](const DeviceWork& a, const DeviceWork& b) {
    return std::tuple(a.time.begin, a.slice) < std::tuple(b.time.begin, b.slice);
  });
  return found;
}

Interval SpanOf(std::span<const DeviceWork> works) {
  if (works.empty()) return {};
  Interval span = works.front().time;
  for (const DeviceWork& work : works) span.end = std::max(span.end, work.time.end);
  return span;
}

ClassTimes ClassTimesOf(std::span<const DeviceWork> works) {
  ClassTimes times;
  for (const DeviceWork& work : works) {
    bool computes = work.device_class == DeviceClass::kCompute;
    bool communicates = work.device_class == DeviceClass::kCommunication;
    AppendToUnion(computes       ? times.compute
                  : communicates ? times.communication
                                 : times.memory,
                  work.time);
  }
  return times;
}

TimeSplit SplitTime(const ClassTimes& times, Interval window) {
  IntervalSet compute = Clip(times.compute, window);
  IntervalSet communication = Clip(times.communication, window);
  IntervalSet memory = Clip(times.memory, window);
  IntervalSet kernels = Union(compute, communication);
  TimeSplit split;
  split.total = window.length();
  split.compute = Length(compute);
  split.communication = Length(communication);
  split.memory = Length(memory);
  split.overlap = Length(Intersect(compute, communication));
  split.exposed_communication = split.communication - split.overlap;
  split.exposed_memory = Length(Subtract(memory, kernels));
  split.busy = Length(kernels) + split.exposed_memory;
  split.idle = split.total - split.busy;
  return split;
}

}  // namespace debrief::timeline
