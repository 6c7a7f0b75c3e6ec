#include "analyses/join/collectives/shift.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace debrief::analyses::join_collectives {

namespace {

constexpr int64_t kSlackNs = 1'000'000;  // two ways to read one clock differ by less
// Enough mostly, and little enough that a call does not hold the entry of the next by chance.
constexpr int64_t kTightSlackNs = 50'000;
constexpr int64_t kLeastSlackNs = 10'000;           // reading a clock is not for free
constexpr int64_t kLongestQueueNs = 1'000'000'000;  // of a kernel whose op is not known
constexpr size_t kSample = 64;                      // calls of a group that are tried at all shifts
constexpr size_t kFewest = 8;                       // pairs that can tell a shift from chance

// When the entry of a call may be made, on the clock of the profile.
struct Window {
  int64_t begin, end;
};
Window WindowOf(const Call& call, int64_t slack_ns) {
  if (call.end_ns == kNone64) return {call.start_ns - kLongestQueueNs, call.start_ns + slack_ns};
  return {call.start_ns - slack_ns, call.end_ns + slack_ns};
}

// Entries of one kind, in order of time.
class EntriesByOp {
 public:
  explicit EntriesByOp(const Lane& lane) : lane_(lane) {
    for (size_t i = 0; i < lane.entries.size(); ++i)
      by_op_[lane.entries[i].op].push_back(static_cast<int32_t>(i));
  }

  bool HasIn(int32_t op, int64_t begin, int64_t end) const {
    auto found = by_op_.find(op);
    if (found == by_op_.end()) return false;
    auto at = FirstFrom(found->second, begin);
    return at != found->second.end() && Time(*at) <= end;
  }

  // -1 when there is none of the kind.
  int32_t Nearest(int32_t op, int64_t time) const {
    auto found = by_op_.find(op);
    if (found == by_op_.end()) return -1;
    auto at = FirstFrom(found->second, time);
    if (at == found->second.end()) return found->second.back();
    if (at != found->second.begin() && time - Time(*(at - 1)) < Time(*at) - time) --at;
    return *at;
  }

 private:
  using Positions = std::vector<int32_t>;
  int64_t Time(int32_t entry) const { return lane_.entries[static_cast<size_t>(entry)].created_ns; }
  Positions::const_iterator FirstFrom(const Positions& positions, int64_t time) const {
    return std::lower_bound(positions.begin(), positions.end(), time,
                            [&](int32_t entry, int64_t t) { return Time(entry) < t; });
  }

  const Lane& lane_;
  std::map<int32_t, Positions> by_op_;
};

// How well an offset explains the lanes: of the calls that lie within the time of the dump, those
// that hold an entry.
struct Fit {
  size_t inside = 0;
  size_t held = 0;
  bool good() const { return held > 0 && held * 4 >= inside * 3; }
};

class Lanes {
 public:
  explicit Lanes(std::span<const Lane> lanes) : lanes_(lanes) {
    for (const Lane& lane : lanes) by_op_.emplace_back(lane);
  }

  Fit FitOf(int64_t offset, int64_t slack_ns) const {
    Fit fit;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      if (lane.entries.empty()) continue;
      for (const Call& call : lane.calls) {
        if (call.start_ns + offset < lane.entries.front().created_ns - kSlackNs) continue;
        if (call.start_ns + offset > lane.entries.back().created_ns + kSlackNs) continue;
        Window window = WindowOf(call, slack_ns);
        ++fit.inside;
        if (by_op_[i].HasIn(call.op, window.begin + offset, window.end + offset)) ++fit.held;
      }
    }
    return fit;
  }

 private:
  std::span<const Lane> lanes_;
  std::vector<EntriesByOp> by_op_;
};

std::vector<size_t> SampleOf(const Lane& lane) {
  std::vector<size_t> sample;
  const size_t count = std::min(kSample, lane.calls.size());
  for (size_t i = 0; i < count; ++i) {
    size_t call = i * lane.calls.size() / count;
    if (lane.calls[call].end_ns != kNone64) sample.push_back(call);
  }
  return sample;
}

// Offsets that shifts of one lane allow: nearly all pairs of such a shift agree on one point.
void AddCandidates(const Lane& lane, std::vector<int64_t>& candidates) {
  const std::vector<size_t> sample = SampleOf(lane);
  const auto entries = static_cast<int64_t>(lane.entries.size());
  const auto calls = static_cast<int64_t>(lane.calls.size());
  const size_t fewest = std::max(kFewest, sample.size() / 2);
  std::vector<Bound> bounds;
  for (int64_t shift = 1 - calls; shift < entries; ++shift) {
    bounds.clear();
    size_t others = 0;
    for (size_t at : sample) {
      int64_t entry = static_cast<int64_t>(at) + shift;
      if (entry < 0 || entry >= entries) continue;
      const Entry& made = lane.entries[static_cast<size_t>(entry)];
      const Call& call = lane.calls[at];
      if (made.op != call.op) ++others;
      bounds.push_back({made.created_ns - call.end_ns, made.created_ns - call.start_ns});
    }
    if (bounds.size() < fewest || others * 10 > bounds.size()) continue;
    CommonPoint common = FindCommonPoint(bounds);
    if (common.bounds * 10 >= bounds.size() * 9) candidates.push_back(common.at);
  }
}

// The offset that explains most; none when another one explains nearly as much.
std::optional<int64_t> BestOf(std::vector<int64_t>& candidates, const Lanes& all) {
  std::sort(candidates.begin(), candidates.end());
  int64_t best = 0;
  size_t held = 0;
  size_t second = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    // Lanes find the same offset: one of those that lie together is enough.
    if (i > 0 && candidates[i] - candidates[i - 1] < kTightSlackNs) continue;
    Fit fit = all.FitOf(candidates[i], kTightSlackNs);
    if (!fit.good() || fit.held <= second) continue;
    if (fit.held > held) best = candidates[i];
    second = std::min(held, fit.held);
    held = std::max(held, fit.held);
  }
  if (held == 0 || second * 10 >= held * 9) return std::nullopt;
  return best;
}

int64_t Middle(std::vector<int64_t> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Joins one lane, call by call.
class Joiner {
 public:
  Joiner(const Lane& lane, const Offset& offset) : lane_(lane), offset_(offset.offset_ns) {
    result_.entry_of.assign(lane.calls.size(), -1);
    result_.refusal.assign(lane.calls.size(), Refusal::kNone);
    Vote();
    Measure();
  }

  LaneJoin Join() {
    int64_t shift = common_shift_;
    int64_t last = -1;
    for (size_t call = 0; call < lane_.calls.size(); ++call) {
      // What one side alone has moves the shift: what the call itself votes for is tried as well.
      bool joined = false;
      for (int64_t tried : {shift, common_shift_, votes_[call]}) {
        int64_t entry = static_cast<int64_t>(call) + tried;
        if (entry <= last || Check(call, entry) != Refusal::kNone) continue;
        result_.entry_of[call] = static_cast<int32_t>(entry);
        shift = tried;
        last = entry;
        joined = true;
        break;
      }
      if (!joined) result_.refusal[call] = WhyNot(call);
    }
    return std::move(result_);
  }

 private:
  void Vote() {
    EntriesByOp by_op(lane_);
    std::map<int64_t, int64_t> count;
    for (size_t call = 0; call < lane_.calls.size(); ++call) {
      const Call& each = lane_.calls[call];
      int32_t entry = by_op.Nearest(each.op, each.start_ns + offset_);
      votes_.push_back(entry - static_cast<int64_t>(call));
      if (entry >= 0 && WhyOutside(each) == Refusal::kNone) ++count[votes_.back()];
    }
    auto most = std::max_element(count.begin(), count.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != count.end()) common_shift_ = most->first;
  }

  // What is usual: how far the nearest entry lies outside of an op (mostly it does not); and where
  // only kernels are known, how long before them at the commonest shift, and how much that varies.
  void Measure() {
    std::vector<int64_t> outside;
    std::vector<int64_t> late;
    for (size_t call = 0; call < lane_.calls.size(); ++call) {
      const bool has_op = lane_.calls[call].end_ns != kNone64;
      int64_t entry = static_cast<int64_t>(call) + (has_op ? votes_[call] : common_shift_);
      if (!InLane(entry)) continue;
      (has_op ? outside : late).push_back(has_op ? Outside(call, entry) : Late(call, entry));
    }
    if (!outside.empty())
      op_slack_ = std::min(kSlackNs, kLeastSlackNs + 4 * std::min(Middle(outside), kSlackNs));
    if (late.empty()) return;
    middle_ = Middle(late);
    for (int64_t& each : late) each = std::abs(each - middle_);
    tolerance_ = std::max(kSlackNs, 8 * std::min(Middle(late), kLongestQueueNs));
  }

  bool InLane(int64_t entry) const {
    return entry >= 0 && entry < static_cast<int64_t>(lane_.entries.size());
  }
  int64_t Late(size_t call, int64_t entry) const {
    return lane_.entries[static_cast<size_t>(entry)].created_ns - offset_ -
           lane_.calls[call].start_ns;
  }

  // How far the entry lies before the begin of the op or behind its end.
  int64_t Outside(size_t call, int64_t entry) const {
    int64_t late = Late(call, entry);
    int64_t duration = lane_.calls[call].end_ns - lane_.calls[call].start_ns;
    return std::max({-late, late - duration, int64_t{0}});
  }

  Refusal WhyOutside(const Call& call) const {
    if (lane_.entries.empty()) return Refusal::kNoEntries;
    Window window = WindowOf(call, kSlackNs);
    if (window.end + offset_ < lane_.entries.front().created_ns) return Refusal::kBefore;
    if (window.begin + offset_ > lane_.entries.back().created_ns) return Refusal::kAfter;
    return Refusal::kNone;
  }

  Refusal Check(size_t call, int64_t entry) const {
    if (!InLane(entry)) return Refusal::kOffTime;
    const Call& each = lane_.calls[call];
    if (lane_.entries[static_cast<size_t>(entry)].op != each.op) return Refusal::kOtherOp;
    bool fits = each.end_ns == kNone64 ? std::abs(Late(call, entry) - middle_) <= tolerance_
                                       : Outside(call, entry) <= op_slack_;
    return fits ? Refusal::kNone : Refusal::kOffTime;
  }

  Refusal WhyNot(size_t call) const {
    Refusal outside = WhyOutside(lane_.calls[call]);
    if (outside != Refusal::kNone) return outside;
    Refusal refusal = Check(call, static_cast<int64_t>(call) + common_shift_);
    return refusal == Refusal::kNone ? Refusal::kOffTime : refusal;
  }

  const Lane& lane_;
  int64_t offset_;
  std::vector<int64_t> votes_;
  int64_t common_shift_ = 0;
  int64_t middle_ = 0;
  int64_t tolerance_ = kSlackNs;
  int64_t op_slack_ = kLeastSlackNs;
  LaneJoin result_;
};

}  // namespace

CommonPoint FindCommonPoint(std::span<const Bound> bounds) {
  // Begins before ends at one point: bounds that touch share it.
  std::vector<std::pair<int64_t, int>> edges;
  for (const Bound& bound : bounds) {
    edges.emplace_back(bound.low, 0);
    edges.emplace_back(bound.high, 1);
  }
  std::sort(edges.begin(), edges.end());
  CommonPoint best;
  size_t open = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].second == 1) {
      --open;
      continue;
    }
    ++open;
    // An entry is made soon after the begin of its op at the earliest, and long before the end at
    // the latest: the upper end is the closer one.
    int64_t at = edges[i].first <= 0 && edges[i + 1].first >= 0 ? 0 : edges[i + 1].first;
    bool nearer = open == best.bounds && std::abs(at) < std::abs(best.at);
    if (open > best.bounds || nearer) best = {at, open};
  }
  return best;
}

Offset FindOffset(std::span<const Lane> lanes) {
  Lanes all(lanes);
  if (all.FitOf(0, kTightSlackNs).good()) return {Offset::State::kSame, 0};
  std::vector<int64_t> candidates;
  for (const Lane& lane : lanes) AddCandidates(lane, candidates);
  if (std::optional<int64_t> best = BestOf(candidates, all))
    return {Offset::State::kShifted, *best};
  // A clock that drifts: no one point suits all, but each call has its entry near.
  if (all.FitOf(0, kSlackNs).good()) return {Offset::State::kSame, 0};
  return {};
}

LaneJoin JoinLane(const Lane& lane, const Offset& offset) {
  LaneJoin join = Joiner(lane, offset).Join();
  if (offset.state != Offset::State::kUnknown) return join;
  // Nothing lies at its time as it should; a few that do lie there by chance.
  for (size_t call = 0; call < lane.calls.size(); ++call) {
    join.entry_of[call] = -1;
    Refusal& refusal = join.refusal[call];
    if (refusal == Refusal::kNone || refusal == Refusal::kOtherOp || refusal == Refusal::kOffTime)
      refusal = Refusal::kNoClock;
  }
  return join;
}

}  // namespace debrief::analyses::join_collectives
