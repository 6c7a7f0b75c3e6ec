// Where the time of one rank goes, step by step.
//
//   host     |-- own ----------------|-- waits: cudaDeviceSynchronize, collectives --|
//   device      |-- compute --|-- communication ------------------|   idle
//
// Cost: one pass over the slices, then a few binary searches for each step.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

struct Window {
  int64_t key = 0;  // equal ones of several ranks are the same step
  Interval time;    // on the clock of the timeline
  int64_t length_ns = 0;
  int64_t host_busy_ns = 0;
  int64_t host_own_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t idle_ns = 0;
  int64_t data_ns = 0;
  int64_t compile_ns = 0;  // host inside of the compiler
  int64_t still_ns = 0;    // host waits and no device runs
};

struct RankWindows {
  bool from_steps = false;
  std::vector<Window> windows;
  // Of all of the recording: the device of a host that runs ahead does the work of a step after it.
  int64_t compute_ns = 0;
};

// The words of names, looked up once for each.
class NameMarks {
 public:
  explicit NameMarks(const Model& model) : marks_(model.pools, MarksOf) {}
  bool Waits(StringId name) const { return marks_(name) & kWaits; }
  bool LoadsData(StringId name) const { return marks_(name) & kLoadsData; }
  bool Compiles(StringId name) const { return marks_(name) & kCompiles; }

 private:
  static constexpr uint8_t kWaits = 1, kLoadsData = 2, kCompiles = 4;
  static uint8_t MarksOf(std::string_view name);

  mutable OfName<uint8_t> marks_;
};

// Steps from begin to end on the host. `whole`: what to measure where there are no steps.
RankWindows MeasureRank(const TimelineView& view, const DeviceClasses& classes,
                        const NameMarks& marks, Interval whole);

// The steps that comparisons of profiles take (typical_steps.h).
std::vector<Window> MeasureCompared(const TimelineView& view, const DeviceClasses& classes,
                                    const NameMarks& marks);

}  // namespace debrief::timeline
