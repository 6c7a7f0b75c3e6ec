#include "analyses/timeline/clock/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "analyses/timeline/clock/matching.h"
#include "base/stats/statistics.h"

namespace debrief::analyses::timeline_clock {

namespace {

constexpr size_t kSlopeSample = 64;
constexpr size_t kFewestForSlope = 8;
constexpr double kSteepest = 1e-3;  // no crystal is that bad
constexpr double kClearSteps = 3;   // times the spread
constexpr int64_t kFewForSpread = 3;

// The clock of b shows `ahead` more than that of a, at the moment when a shows `at`.
struct Edge {
  size_t a = 0;
  size_t b = 0;
  int64_t at_ns = 0;
  int64_t ahead_ns = 0;
  double slope = 0;       // by which `ahead` grows; 0 unless it is beyond the spread
  int64_t spread_ns = 0;  // median deviation
  int64_t matches = 0;
  int64_t least_ns = std::numeric_limits<int64_t>::min();  // bounds of `ahead`
  int64_t most_ns = std::numeric_limits<int64_t>::max();

  double Uncertainty() const {
    if (matches < kFewForSpread) return 1e18;  // a spread of one or two says nothing
    return static_cast<double>(spread_ns + 1) / std::sqrt(static_cast<double>(matches));
  }

  bool AllowsNone() const { return least_ns <= 0 && most_ns >= 0; }
};

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

constexpr int64_t kClear = 3;  // times the spread

// The most certain edges that join all nodes that can be joined (Kruskal).
class Tree {
 public:
  Tree(size_t nodes, std::vector<Edge> edges) : parent_(nodes), size_(nodes, 1), next_(nodes) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return std::tuple(a.Uncertainty(), a.a, a.b) < std::tuple(b.Uncertainty(), b.a, b.b);
    });
    for (const Edge& edge : edges) Join(edge);
  }

  // Of the largest tree, the first such node.
  size_t Root() {
    size_t best = 0;
    for (size_t node = 0; node < parent_.size(); ++node) {
      if (size_[Find(node)] > size_[Find(best)]) best = node;
    }
    return best;
  }

  const std::vector<Edge>& At(size_t node) const { return next_[node]; }

 private:
  size_t Find(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  void Join(const Edge& edge) {
    size_t a = Find(edge.a);
    size_t b = Find(edge.b);
    if (a == b) return;
    parent_[b] = a;
    size_[a] += size_[b];
    next_[edge.a].push_back(edge);
    next_[edge.b].push_back(edge);
  }

  std::vector<size_t> parent_, size_;
  std::vector<std::vector<Edge>> next_;
};

struct Estimate {
  bool known = false;
  bool bounded_away = false;  // causality forbids that there is no offset to the node before it
  int64_t spread_ns = 0;      // along the path
  Correction correction;
};

// The estimate of the node at the far end of an edge, from that of the near end.
Estimate Follow(const Edge& edge, bool forward, const Estimate& near) {
  int64_t ahead = forward ? edge.ahead_ns : -edge.ahead_ns;
  double slope = forward ? edge.slope : -edge.slope;
  int64_t near_at = forward ? edge.at_ns : edge.at_ns + edge.ahead_ns;
  Estimate far;
  far.known = true;
  far.bounded_away = near.bounded_away || !edge.AllowsNone();
  far.spread_ns = near.spread_ns + edge.spread_ns;
  far.correction.at_ns = near_at + ahead;
  far.correction.value_ns = near.correction.Of(near_at) - ahead;
  far.correction.slope = near.correction.slope - slope;
  return far;
}

std::vector<Estimate> FollowFrom(size_t root, const Tree& tree, size_t nodes) {
  std::vector<Estimate> estimates(nodes);
  std::vector<size_t> queue = {root};
  estimates[root].known = true;
  for (size_t i = 0; i < queue.size(); ++i) {
    size_t node = queue[i];
    for (const Edge& edge : tree.At(node)) {
      bool forward = edge.a == node;
      size_t far = forward ? edge.b : edge.a;
      if (estimates[far].known) continue;
      estimates[far] = Follow(edge, forward, estimates[node]);
      queue.push_back(far);
    }
  }
  return estimates;
}

// The node whose clock stands in the middle: one that is off does not make all others look off.
size_t MiddleNode(const std::vector<Estimate>& estimates) {
  std::vector<std::pair<int64_t, size_t>> known;
  for (size_t node = 0; node < estimates.size(); ++node) {
    if (estimates[node].known) known.emplace_back(estimates[node].correction.value_ns, node);
  }
  auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), middle, known.end());
  return middle->second;
}

bool IsNoise(const Estimate& estimate) {
  return !estimate.bounded_away && estimate.correction.slope == 0 &&
         std::abs(estimate.correction.value_ns) <= kClear * estimate.spread_ns;
}

void FindResiduals(const Model& model, const std::vector<Match>& matches,
                   std::vector<NodeClock>& clocks) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<std::vector<int64_t>> distances(clocks.size());
  for (const Match& match : matches) {
    if (!match.synchronises || !match.on_device) continue;
    std::vector<int64_t> ends;
    for (const Presence& each : match.present)
      ends.push_back(clocks[each.node].correction.Apply(EndOf(table, each.row)));
    int64_t middle = Median(ends);
    for (size_t i = 0; i < ends.size(); ++i)
      distances[match.present[i].node].push_back(std::abs(ends[i] - middle));
  }
  for (size_t node = 0; node < clocks.size(); ++node) {
    clocks[node].matched = static_cast<int64_t>(distances[node].size());
    if (clocks[node].aligned) clocks[node].residual_ns = Median(std::move(distances[node]));
  }
}

}  // namespace

int64_t Correction::Of(int64_t time_ns) const {
  return value_ns + std::llround(slope * static_cast<double>(time_ns - at_ns));
}

std::vector<NodeClock> EstimateClocks(const Model& model, const Job& job,
                                      const std::vector<Match>& matches) {
  std::vector<NodeClock> clocks(job.nodes.size());
  std::vector<Edge> edges = FindEdges(model, job, matches);
  if (edges.empty()) return clocks;
  Tree tree(job.nodes.size(), std::move(edges));
  std::vector<Estimate> estimates = FollowFrom(tree.Root(), tree, job.nodes.size());
  size_t reference = MiddleNode(estimates);
  estimates = FollowFrom(reference, tree, job.nodes.size());
  for (size_t node = 0; node < clocks.size(); ++node) {
    clocks[node].aligned = estimates[node].known;
    if (estimates[node].known && !IsNoise(estimates[node]))
      clocks[node].correction = estimates[node].correction;
  }
  clocks[reference].reference = true;
  FindResiduals(model, matches, clocks);
  return clocks;
}

}  // namespace debrief::analyses::timeline_clock
