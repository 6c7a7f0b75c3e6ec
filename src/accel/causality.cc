#include "accel/causality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace debrief::accel {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kToleranceUs = 0.5;    // traces are rounded to microseconds
constexpr size_t kToleratedShare = 10;  // one piece in ten may be recorded wrongly
constexpr size_t kMostPairs = size_t{1} << 20;

// Spans that overlap or are at most `gap` apart are one; the result is sorted.
std::vector<WorkSpan> Joined(std::vector<WorkSpan> spans, double gap) {
  std::ranges::sort(spans, {}, &WorkSpan::begin);
  std::vector<WorkSpan> joined;
  for (const WorkSpan& span : spans) {
    if (joined.empty() || span.begin > joined.back().end + gap) {
      joined.push_back(span);
    } else {
      joined.back().end = std::max(joined.back().end, span.end);
    }
  }
  return joined;
}

// The smallest distance between two windows: none lies between pieces of work that are closer.
double LeastGap(std::span<const WorkSpan> windows) {
  double least = kEndless;
  for (size_t i = 0; i + 1 < windows.size(); ++i)
    least = std::min(least, windows[i + 1].begin - windows[i].end);
  return std::isfinite(least) ? std::max(0.0, least - 2 * kToleranceUs) : 0;
}

// One end of a forbidden interval: +1 where it begins.
struct Border {
  double at = 0;
  int change = 0;
  bool operator<(const Border& other) const {
    return at != other.at ? at < other.at : change < other.change;
  }
};

void AddBorders(const WorkSpan& piece, std::span<const WorkSpan> windows,
                std::vector<Border>& borders) {
  // Before the first window: from minus infinity on, which the sweep begins with.
  borders.push_back({windows.front().begin - piece.begin - kToleranceUs, -1});
  for (size_t i = 0; i < windows.size(); ++i) {
    const double from = windows[i].end - piece.end + kToleranceUs;
    const double to =
        i + 1 < windows.size() ? windows[i + 1].begin - piece.begin - kToleranceUs : kEndless;
    if (!(from < to)) continue;
    borders.push_back({from, 1});
    if (std::isfinite(to)) borders.push_back({to, -1});
  }
}

// Offsets that the same number of intervals covers.
struct Region {
  double from = 0, to = 0;
  bool Has(double offset) const { return from <= offset && offset <= to; }
  double DistanceFrom0() const { return Has(0) ? 0 : std::min(std::abs(from), std::abs(to)); }
};

struct Sweep {
  std::vector<Region> best;
  size_t covered = 0;  // by so many intervals
};

Sweep SweepOffsets(std::span<const WorkSpan> pieces, std::span<const WorkSpan> windows) {
  std::vector<Border> borders;
  const size_t step = 1 + pieces.size() * windows.size() / kMostPairs;
  int64_t covering = 0;
  for (size_t i = 0; i < pieces.size(); i += step, ++covering)
    AddBorders(pieces[i], windows, borders);
  std::ranges::sort(borders, std::less<>());
  Sweep sweep;
  sweep.covered = static_cast<size_t>(covering);
  for (size_t i = 0; i < borders.size(); ++i) {
    covering += borders[i].change;
    const auto count = static_cast<size_t>(covering);
    if (borders[i].change > 0 || count > sweep.covered) continue;
    const double to = i + 1 < borders.size() ? borders[i + 1].at : kEndless;
    if (count < sweep.covered) sweep.best.clear();
    sweep.covered = count;
    sweep.best.push_back({borders[i].at, to});
  }
  return sweep;
}

size_t CountOutside(std::span<const WorkSpan> pieces, std::span<const WorkSpan> windows,
                    double offset) {
  size_t outside = 0, window = 0;
  for (const WorkSpan& piece : pieces) {
    const double begin = piece.begin + offset + kToleranceUs;
    while (window + 1 < windows.size() && windows[window + 1].begin <= begin) ++window;
    outside +=
        windows[window].begin > begin || piece.end + offset > windows[window].end + kToleranceUs;
  }
  return outside;
}

}  // namespace

std::vector<WorkSpan> WindowsOf(std::span<const WorkSpan> launches,
                                std::span<const WorkSpan> waits) {
  std::vector<WorkSpan> windows;
  size_t wait = 0;
  for (const WorkSpan& launch : launches) {
    while (wait < waits.size() && waits[wait].begin < launch.begin) ++wait;
    windows.push_back({launch.begin, wait < waits.size() ? waits[wait].end : kEndless});
  }
  return Joined(std::move(windows), 0);
}

Placement PlaceWork(std::vector<WorkSpan> work, std::span<const WorkSpan> windows) {
  Placement placement;
  if (work.empty() || windows.empty()) return placement;
  const std::vector<WorkSpan> pieces = Joined(std::move(work), LeastGap(windows));
  placement.pieces = pieces.size();
  const Sweep sweep = SweepOffsets(pieces, windows);
  if (sweep.best.empty()) return placement;
  const Region& best = *std::ranges::min_element(sweep.best, {}, &Region::DistanceFrom0);
  placement.agrees = best.Has(0);
  placement.is_bounded = std::isfinite(best.to);
  placement.offset_us = placement.is_bounded ? (best.from + best.to) / 2 : best.from + kToleranceUs;
  placement.residual_us = placement.is_bounded ? (best.to - best.from) / 2 : kEndless;
  placement.equally_good = sweep.best.size();
  placement.outside = CountOutside(pieces, windows, placement.agrees ? 0 : placement.offset_us);
  placement.found = placement.outside * kToleratedShare <= placement.pieces;
  return placement;
}

}  // namespace debrief::accel
