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
#include "model/timeline/device_class.h"
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
};

// The words of names, looked up once for each.
class NameMarks {
 public:
  explicit NameMarks(const Model& model) : pools_(model.pools), marks_(pools_.strings.size()) {}
  bool Waits(StringId name) const { return Mark(name) & kWaits; }
  bool LoadsData(StringId name) const { return Mark(name) & kLoadsData; }
  bool Compiles(StringId name) const { return Mark(name) & kCompiles; }

 private:
  static constexpr uint8_t kKnown = 1, kWaits = 2, kLoadsData = 4, kCompiles = 8;
  uint8_t Mark(StringId name) const;

  const Pools& pools_;
  mutable std::vector<uint8_t> marks_;
};

// `whole`: what to measure where there are no steps.
RankWindows MeasureRank(const TimelineView& view, const DeviceClasses& classes,
                        const NameMarks& marks, Interval whole);

}  // namespace debrief::timeline
