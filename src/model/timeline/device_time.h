// How the time of devices divides: what ran, what ran beside each other, and what was idle.
//
//   compute        ####  ###               priority: compute, then communication, then copies and
//   communication    #######   ##          fills; each takes what those before it left
//   copies, fills        ######  ###
//   idle                             ###   what none of them covers
//
// The four parts add up to the window in whole nanoseconds, always.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/device_class.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

// One kernel, copy or fill.
struct DeviceWork {
  Interval time;
  int64_t stream = kNone64;
  int32_t slice = kNone32;
  int32_t device = kNone32;
  DeviceClass device_class = DeviceClass::kNone;
};

struct DeviceWorks {
  std::vector<DeviceWork> works;  // by start; of the same start by slice
  int64_t negative = 0;           // left out: they end before they begin

  std::vector<int32_t> Devices() const;  // sorted, each once
};
DeviceWorks DeviceWorksOf(const TimelineView& view, const DeviceClasses& classes);

// From the first begin to the last end.
Interval SpanOf(std::span<const DeviceWork> works);

struct ClassTimes {
  IntervalSet compute, communication, memory;  // memory: copies and fills
};
ClassTimes ClassTimesOf(std::span<const DeviceWork> works);

struct TimeSplit {
  int64_t total = 0, busy = 0, idle = 0;
  int64_t compute = 0, exposed_communication = 0, exposed_memory = 0;  // with idle: total
  int64_t communication = 0, memory = 0;                               // all of it, hidden or not
  int64_t overlap = 0;  // compute and communication at once
};
TimeSplit SplitTime(const ClassTimes& times, Interval window);

}  // namespace debrief::timeline
