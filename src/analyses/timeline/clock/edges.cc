#include "analyses/timeline/clock/edges.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/stats/statistics.h"

namespace debrief::analyses::timeline_clock {

namespace {

constexpr size_t kSlopeSample = 64;
constexpr size_t kFewestForSlope = 8;
constexpr double kSteepest = 1e-3;  // no crystal is that bad
constexpr double kClearSteps = 3;   // times the spread
constexpr int64_t kFewForSpread = 3;

// One collective on both members.
struct Pair {
  int64_t start_a, end_a, start_b, end_b;
};

double SlopeOf(const std::vector<Pair>& pairs) {
  if (pairs.size() < kFewestForSlope) return 0;
  std::vector<Point> sample;
  std::vector<int64_t> ahead;
  size_t stride = (pairs.size() + kSlopeSample - 1) / kSlopeSample;
  for (size_t i = 0; i < pairs.size(); i += stride)
    sample.push_back({pairs[i].end_a - pairs[0].end_a, pairs[i].end_b - pairs[i].end_a});
  double slope = MedianSlope(sample);
  for (const Point& point : sample)
    ahead.push_back(point.y - std::llround(slope * static_cast<double>(point.x)));
  double moved = std::abs(slope) * static_cast<double>(pairs.back().end_a - pairs[0].end_a);
  bool clear = moved > kClearSteps * static_cast<double>(MedianDeviation(ahead) + 1);
  return clear && std::abs(slope) < kSteepest ? slope : 0;
}

Edge EdgeOf(size_t a, size_t b, const std::vector<Pair>& pairs) {
  Edge edge{.a = a, .b = b};
  edge.at_ns = pairs[pairs.size() / 2].end_a;
  edge.slope = SlopeOf(pairs);
  edge.matches = static_cast<int64_t>(pairs.size());
  std::vector<int64_t> ahead;
  for (const Pair& pair : pairs) {
    int64_t grown = std::llround(edge.slope * static_cast<double>(pair.end_a - edge.at_ns));
    ahead.push_back(pair.end_b - pair.end_a - grown);
    edge.least_ns = std::max(edge.least_ns, pair.start_b - pair.end_a - grown);
    edge.most_ns = std::min(edge.most_ns, pair.end_b - pair.start_a - grown);
  }
  edge.spread_ns = MedianDeviation(ahead);
  edge.ahead_ns = Median(std::move(ahead));
  if (edge.least_ns > edge.most_ns) return edge;
  // Ends that contradict the bounds do not come at one moment: their spread is at least that.
  int64_t allowed = std::clamp(edge.ahead_ns, edge.least_ns, edge.most_ns);
  edge.spread_ns = std::max(edge.spread_ns, std::abs(edge.ahead_ns - allowed));
  edge.ahead_ns = allowed;
  return edge;
}

}  // namespace

double Edge::Uncertainty() const {
  if (matches < kFewForSpread) return 1e18;  // a spread of one or two says nothing
  return static_cast<double>(spread_ns + 1) / std::sqrt(static_cast<double>(matches));
}

std::vector<Edge> FindEdges(const Model& model, const Job& job, const std::vector<Match>& matches) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::map<std::pair<size_t, size_t>, std::vector<Pair>> pairs_of;  // by a and b
  for (const Match& match : matches) {
    if (!match.synchronises || !match.on_device) continue;
    size_t first = job.groups[match.group].lanes[0].node;
    auto own = std::find_if(match.present.begin(), match.present.end(),
                            [&](const Presence& each) { return each.node == first; });
    if (own == match.present.end()) own = match.present.begin();
    for (const Presence& each : match.present) {
      if (each.node == own->node) continue;
      pairs_of[{own->node, each.node}].push_back({table.start_ns[own->row], EndOf(table, own->row),
                                                  table.start_ns[each.row],
                                                  EndOf(table, each.row)});
    }
  }
  std::vector<Edge> edges;
  for (auto& [nodes, pairs] : pairs_of) {
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& a, const Pair& b) { return a.end_a < b.end_a; });
    edges.push_back(EdgeOf(nodes.first, nodes.second, pairs));
  }
  return edges;
}

}  // namespace debrief::analyses::timeline_clock
