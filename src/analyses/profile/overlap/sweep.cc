#include "analyses/profile/overlap/sweep.h"

#include <algorithm>

namespace debrief::analyses::profile_overlap {

namespace {

struct Edge {
  int64_t time;
  int64_t change;
};

std::vector<Edge> EdgesOf(const std::vector<std::vector<Interval>>& kinds) {
  std::vector<Edge> edges;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    int64_t bit = int64_t{1} << kind;
    for (const Interval& each : kinds[kind]) {
      edges.push_back({each.begin, bit});
      edges.push_back({each.end, -bit});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  return edges;
}

}  // namespace

std::map<int64_t, int64_t> TimeOfSets(const std::vector<std::vector<Interval>>& kinds) {
  std::map<int64_t, int64_t> times;
  std::vector<Edge> edges = EdgesOf(kinds);
  int64_t running = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    int64_t length = edges[i + 1].time - edges[i].time;
    if (running > 0 && length > 0) times[running] += length;
  }
  return times;
}

}  // namespace debrief::analyses::profile_overlap
