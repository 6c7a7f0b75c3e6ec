// sort_events, second of its name: counters behind everything else, by rank and time.
#include <algorithm>
#include <utility>

#include "accel/passes/passes.h"
#include "accel/passes/power.h"

namespace debrief::accel {

void SortPowerEvents(EventList& events, Run&) {
  struct Counter {
    double key = 0;
    Event event;
  };
  ByValue<std::vector<Counter>> ranks;
  size_t kept = 0;
  for (Event& event : events) {
    if (event.phase != 'C') {
      events[kept++] = event;
      continue;
    }
    const Arg* key = event.Find(key::kTsCycles);
    ranks[event.pid].push_back({key == nullptr ? 0 : key->number, event});
  }
  events.resize(kept);
  for (auto& [pid, counters] : ranks) {
    std::stable_sort(counters.begin(), counters.end(),
                     [](const Counter& a, const Counter& b) { return a.key < b.key; });
    for (const Counter& counter : counters) events.push_back(counter.event);
  }
}

}  // namespace debrief::accel
