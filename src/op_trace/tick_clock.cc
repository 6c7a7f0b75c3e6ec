#include "op_trace/tick_clock.h"

#include <algorithm>

namespace debrief::op_trace {
namespace {

__extension__ using Int128 = __int128;

constexpr int64_t kFarthestNs = int64_t{1} << 61;
constexpr int64_t kSecondNs = 1'000'000'000;
// Below it the wall clock was trimmed, not set.
constexpr int64_t kSmallestStepNs = 1'000'000;

int64_t Bounded(Int128 ns) {
  return static_cast<int64_t>(std::clamp<Int128>(ns, -kFarthestNs, kFarthestNs));
}

Int128 Between(uint64_t from, uint64_t to) { return static_cast<Int128>(to) - from; }

}  // namespace

TickClock::TickClock(const recorder::ReadRecording& recording)
    : opened_(recording.header.opened), ticks_per_second_(recording.header.ticks_per_second) {
  if (ticks_per_second_ == 0 || recording.header.clock_kind == recorder::ClockKind::kMonotonic)
    ticks_per_second_ = kSecondNs;
  AddPoint(opened_);
  std::vector<recorder::ClockTriple> triples;
  for (const recorder::ChunkInfo& chunk : recording.chunks) triples.push_back(chunk.clock);
  std::sort(triples.begin(), triples.end(),
            [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  for (const recorder::ClockTriple& triple : triples) {
    const bool rises = triple.ticks > points_.back().ticks &&
                       Bounded(triple.monotonic_ns) >= points_.back().steady_ns;
    if (!Believed(triple)) {
      ++contradictions_;
    } else if (rises) {
      AddPoint(triple);
    }
  }
  SettleWall();
}

void TickClock::AddPoint(const recorder::ClockTriple& triple) {
  points_.push_back({triple.ticks, Bounded(triple.monotonic_ns)});
  wall_offsets_.push_back(Bounded(Between(triple.monotonic_ns, triple.realtime_ns)));
}

// The rate of the header was measured for a millisecond, so that a hundredth is far beyond its
// error.
bool TickClock::Believed(const recorder::ClockTriple& triple) const {
  const Int128 told = Between(opened_.monotonic_ns, triple.monotonic_ns);
  const Int128 counted = Between(opened_.ticks, triple.ticks) * kSecondNs / ticks_per_second_;
  const Int128 off = told > counted ? told - counted : counted - told;
  return off <= (told < 0 ? -told : told) / 100 + kSmallestStepNs;
}

void TickClock::SettleWall() {
  const auto middle = wall_offsets_.begin() + static_cast<std::ptrdiff_t>(wall_offsets_.size() / 2);
  const auto [least, most] = std::minmax_element(wall_offsets_.begin(), wall_offsets_.end());
  wall_step_ns_ = *most - *least >= kSmallestStepNs ? *most - *least : 0;
  std::nth_element(wall_offsets_.begin(), middle, wall_offsets_.end());
  wall_offset_ = *middle;
}

int64_t TickClock::SteadyNs(uint64_t ticks) const {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), ticks,
                       [](uint64_t ticks, const Point& point) { return ticks < point.ticks; });
  const bool inside = after != points_.begin() && after != points_.end();
  const Point& from = after == points_.begin() ? points_.front() : *(after - 1);
  const Int128 run = inside ? Between(from.ticks, after->ticks) : Int128{ticks_per_second_};
  const Int128 rise = inside ? Int128{after->steady_ns} - from.steady_ns : Int128{kSecondNs};
  return Bounded(from.steady_ns + Between(from.ticks, ticks) * rise / run);
}

int64_t TickClock::WallNs(uint64_t ticks) const {
  return Bounded(Int128{SteadyNs(ticks)} + wall_offset_);
}

}  // namespace debrief::op_trace
