// Launches of one timeline, as debrief and as Holistic Trace Analysis (HTA) count them, and what
// follows from them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compat/hta/rows.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_launches {

// One call and the work that it put on one stream. Times in nanoseconds.
struct Launch {
  int32_t call = kNone32;
  int32_t device = kNone32;
  int64_t stream = kNone64;
  int64_t call_start = 0, call_end = 0;
  int64_t work_start = 0;  // of the first piece
  int64_t work_time = 0;   // of all pieces
};

struct Launches {
  std::vector<Launch> launches;  // by call, then device and stream
  int64_t unlinked = 0;          // work without a call
};
Launches LaunchesOf(const timeline::TimelineView& view);

// What a device shows in its own queue (an AIU prepares a kernel before it runs it): each is a
// launch that waits from the begin of its slice to the end. It has no call of the host.
std::vector<Launch> QueuedWorksOf(const timeline::TimelineView& view);

// Of what HTA's filter leaves, every piece of work with its call, rounded as HTA does.
std::vector<Launch> HtaLaunchesOf(const timeline::TimelineView& view, timeline::HtaNames& names);

// Functions that HTA takes for launches: for its statistics and, more of them, for its queues.
bool IsInHtaStatistics(std::string_view function);
bool IsInHtaQueues(std::string_view function);

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
