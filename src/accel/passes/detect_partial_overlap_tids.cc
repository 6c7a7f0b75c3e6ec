// detect_partial_overlap_tids (-O tid): numbers of threads for lanes, behind each thread, where
// nobody has them.
#include "accel/passes/overlap.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

void Reserve(OverlapLanes& lanes, const TrackKey& track, int64_t count) {
  TrackKey from = track;
  for (int64_t i = 0; i < count; ++i) {
    const Value lane = lanes.free.Next(track.pid, from.tid);
    lanes.next[from] = lane;
    from.tid = lane;
  }
}

}  // namespace

void DetectPartialOverlapTids(EventList& events, Run& run) {
  auto& lanes = run.Shared<OverlapLanes>();
  std::vector<TrackKey> tracks;
  std::unordered_set<TrackKey, TrackHash> known;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    const TrackKey track = {event.pid, event.tid};
    if (known.insert(track).second) tracks.push_back(track);
    lanes.free.Use(event.pid, event.tid);
  }
  // Without --compat lanes are numbered when they are needed: there is no limit to them.
  if (!run.options.compat) return;
  const int64_t count = std::max<int64_t>(run.options.max_tid_streams, 1);
  for (const TrackKey& track : tracks) Reserve(lanes, track, count);
}

}  // namespace debrief::accel
