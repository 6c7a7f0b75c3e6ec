// GPUs as monitors saw them (table host_sample): which the timeline shows, and their lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/model.h"
#include "outputs/report/html/timeline/maker.h"

namespace debrief::outputs::html {

// The samples of one metric of a GPU, in order of time.
struct WatchedMetric {
  size_t known = 0;  // its place among those that are shown
  std::vector<uint32_t> rows;
};

// A stretch in which the GPU kept its clock low for one reason; a moment: a fault.
struct GpuEvent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t code = 0;  // bits of the reason; of a fault its Xid
  bool is_fault = false;
};

struct WatchedGpu {
  Identity who;        // the rank that used it, where that is known
  uint32_t row = 0;    // the first of its samples
  int32_t number = 0;  // among those of its input
  std::vector<WatchedMetric> metrics;
  std::vector<GpuEvent> events;
  int64_t earliest_ns = kNone64;  // none when nothing of it is shown

  size_t points() const;
};

struct TimeSpan {
  int64_t begin_ns = kNone64;
  int64_t end_ns = kNone64;
};

// Those that have samples with times. A monitor often exports days: where samples lie in `job`, the
// time of all else that the timeline shows, only those near it are taken. One pass over the
// samples, and a sort of those of each metric.
std::vector<WatchedGpu> WatchedGpus(const Model& model, const TimeSpan& job);

// Adds a process for the GPU.
void AddWatchedGpu(const WatchedGpu& gpu, TimelineMaker& maker);

}  // namespace debrief::outputs::html
