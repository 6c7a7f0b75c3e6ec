// Launches of one timeline, and what follows from them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/launches.h"

namespace debrief::analyses::profile_launches {

using timeline::Launch;

struct Launches {
  std::vector<Launch> launches;  // by call, then device and stream
  int64_t unlinked = 0;          // work without a call
};
Launches LaunchesOf(const timeline::TimelineView& view);

// What a device shows in its own queue (an AIU prepares a kernel before it runs it): each is a
// launch that waits from the begin of its slice to the end. It has no call of the host.
std::vector<Launch> QueuedWorksOf(const timeline::TimelineView& view);

struct LaunchStats {
  int64_t launches = 0, short_works = 0, slow_calls = 0, slow_starts = 0;
  std::vector<int64_t> delays;
};
LaunchStats StatsOf(const std::vector<Launch>& launches);

struct Queue {
  int32_t device = kNone32;
  int64_t stream = kNone64;
  int64_t launches = 0, max_depth = 0, full_time = 0, span = 0;
  double depth_time = 0;  // depth times how long
};

// By device and stream. Cost: sorts begins and ends.
std::vector<Queue> QueuesOf(const std::vector<Launch>& launches);

}  // namespace debrief::analyses::profile_launches
