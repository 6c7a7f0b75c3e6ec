// sort_events, second of its name: counters behind everything else, by rank and time.
#include <algorithm>
#include <utility>

#include "accel/passes/passes.h"
#include "accel/passes/power.h"

namespace debrief::accel {

void SortPowerEvents(EventList& events, Run&) {
  struct Place {
    double key = 0;
    size_t at = 0;  // in `counters`
  };
  EventList counters;
  ByValue<std::vector<Place>> ranks;
  size_t kept = 0;
  for (const Event& event : events) {
    if (event.phase != 'C') {
      events[kept++] = event;
      continue;
    }
    const double key = IsPowerSample(event) ? event.Find(key::kTsCycles)->number : 0;
    ranks[event.pid].push_back({key, counters.size()});
    counters.push_back(event);
  }
  events.resize(kept);
  for (auto& [pid, places] : ranks) {
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.key < b.key; });
    for (const Place& place : places) events.push_back(counters[place.at]);
  }
}

}  // namespace debrief::accel
