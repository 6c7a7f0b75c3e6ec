// What devices did, when, and how their time divides.
//
//   DeviceClasses   what a slice on a device is for: computing, communicating, copying, ...
//   DeviceWorks     the kernels, copies and fills of one timeline
//   SplitTime       what ran, what ran beside each other, and what was idle:
//
//     compute        ####  ###               priority: compute, then communication, then copies
//     communication    #######   ##          and fills; each takes what those before it left
//     copies, fills        ######  ###
//     idle                             ###   what none of them covers
//
//   The four parts add up to the window in whole nanoseconds, always.
//
//   StepWindows     the time that belongs to each step, host and device together
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

enum class DeviceClass : uint8_t { kNone, kCompute, kCommunication, kMemcpy, kMemset, kSync };
std::string_view DeviceClassName(DeviceClass device_class);

// nccl, rccl, hccl, oneCCL, the one-shot and two-shot all-reduce kernels of inference servers, ...
bool IsCommunicationName(std::string_view kernel);

// Kernels are told apart by name: one that carries the name of a collective library or of a
// collective is communication, every other kernel computes.
class DeviceClasses {
 public:
  explicit DeviceClasses(const Model& model);

  // kNone for what is not on a device, and for annotations and counter ranges.
  DeviceClass Of(StringId kind, StringId name) const;
  DeviceClass Of(const TimelineView& view, int32_t slice) const {
    return Of(view.kind[TimelineView::At(slice)], view.name[TimelineView::At(slice)]);
  }

 private:
  KindIds kinds_;
  mutable OfName<bool> is_communication_;
};

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

// How long each set of kinds ran at once. Bit k of a key stands for kinds[k]; time in which none
// runs has no key. Intervals of one kind do not overlap; one that ends before it begins takes its
// bit away before it gives it back.
std::map<int64_t, int64_t> TimeOfSets(const std::vector<std::vector<Interval>>& kinds);

// The same by name ("compute overlapping memory"), the longest first. `names`: of the kinds.
std::vector<std::pair<std::string, int64_t>> NamedSets(const std::map<int64_t, int64_t>& sets,
                                                       std::span<const std::string_view> names);

// A device runs behind the host: what a step launched may run when the host is in the next one. A
// window begins where the host begins the step or the window before ends, whichever is later, and
// ends with the host's step or the last work launched in it. Windows do not overlap.
struct StepWindow {
  int32_t step = kNone32;
  Interval time;
  int64_t launches = 0;
};

// Of table timeline_step; empty when the timeline has no steps.
std::vector<StepWindow> StepWindowsOf(const TimelineView& view);

// The step in which the host is at a time; kNone32 when in none.
class StepFinder {
 public:
  explicit StepFinder(const TimelineView& view);
  int32_t At(int64_t host_time) const;
  // How many steps have begun by then.
  int64_t BegunBy(int64_t host_time) const;
  bool empty() const { return starts_.empty(); }

 private:
  std::span<const int64_t> starts_, ends_;
  std::span<const int32_t> steps_;
};

}  // namespace debrief::timeline
