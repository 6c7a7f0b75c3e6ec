// The outline of the timeline: processes and their lanes, without slices. Island "timeline", JSON
// as web/src/timeline/model.ts declares it (Timeline).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace debrief::outputs::html {

struct TimelineLane {
  std::string id, name;
  std::string_view kind;  // LaneKind
  size_t depths = 1;
  size_t slices = 0;
};

// From a clock of its own to that of the others; `middle` since the base.
struct TimelineShift {
  int64_t offset = 0;
  double drift = 0;
  int64_t middle = 0;

  int64_t Apply(int64_t time) const;
};

// Where a process stands among those of its rank.
enum class ProcessPlace : uint8_t {
  kCompiler,
  kHost,
  kOther,
  kDevice,
  kProfiler,
  kCollectives,
  kOutput
};

struct TimelineProcess {
  std::string id;
  std::string what;  // "python (host)": the title without the rank
  Identity who;
  ProcessPlace place = ProcessPlace::kOther;
  std::string_view source;  // Source
  bool own_clock = false;   // its times do not count from 1970 and cannot be compared with others'
  std::vector<TimelineLane> lanes;
  std::string island;
  TimelineShift shift;
  int64_t first = INT64_MAX;  // of its slices and counters, as recorded
  int64_t last = INT64_MIN;
};

struct TimelineOutline {
  std::vector<TimelineProcess> processes;
  int64_t base = 0;
  size_t slices = 0;  // those left out included
  size_t left_out = 0;
};

// Sorts the processes, gives them titles that differ and writes all.
std::string OutlineJson(const Model& model, TimelineOutline& outline);

}  // namespace debrief::outputs::html
