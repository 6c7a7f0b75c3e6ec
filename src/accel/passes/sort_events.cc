// sort_events #1: by (ts, -dur) within each thread; threads follow each other in the order of their
// first event.
#include <algorithm>

#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void SortEvents(EventList& events, Run&) {
  std::unordered_map<TrackKey, uint32_t, TrackHash> tracks;
  std::vector<std::vector<uint32_t>> queues;
  for (size_t i = 0; i < events.size(); ++i) {
    const Value tid = events[i].tid.IsNull() ? Value::Integer(0) : events[i].tid;
    const auto [at, is_new] =
        tracks.try_emplace({events[i].pid, tid}, static_cast<uint32_t>(queues.size()));
    if (is_new) queues.emplace_back();
    queues[at->second].push_back(static_cast<uint32_t>(i));
  }
  std::vector<uint32_t> order;
  order.reserve(events.size());
  for (std::vector<uint32_t>& queue : queues) {
    auto before = [&](uint32_t a, uint32_t b) {
      const Event &x = events[a], &y = events[b];
      return x.ts != y.ts ? x.ts < y.ts : x.dur > y.dur;
    };
    if (!std::is_sorted(queue.begin(), queue.end(), before))
      std::stable_sort(queue.begin(), queue.end(), before);
    order.insert(order.end(), queue.begin(), queue.end());
  }
  Permute(events, order);
}

}  // namespace debrief::accel
