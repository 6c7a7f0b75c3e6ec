// The processes of a profile as the timeline shows them: which there are, what they are called, and
// their tracks in order.
//
// What has nothing but spans, marks and overhead of the profiler itself is one process, "profiler",
// whatever number of processes the file makes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/timeline/view.h"
#include "outputs/report/html/timeline_outline.h"

namespace debrief::outputs::html {

struct Party {
  int32_t number = kNone32;  // of the file's process
  ProcessPlace place = ProcessPlace::kOther;
  std::string what;            // "python (host)", "GPU 0"
  std::vector<size_t> tracks;  // rows of timeline_track
  bool is_main = false;        // the one of them that gets what is of the whole timeline
};

// Of the tracks that have slices or, as the caller knows, counters.
std::vector<Party> PartiesOf(const timeline::TimelineView& view,
                             const std::function<bool(size_t track)>& has_counters);

// "thread 1 (python3)", "stream 7", "stream 7 annotations".
std::string TrackName(const timeline::TimelineView& view, size_t track);

}  // namespace debrief::outputs::html
