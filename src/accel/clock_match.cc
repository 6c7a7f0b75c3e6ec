#include "accel/clock_match.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stats/statistics.h"

namespace debrief::accel {
namespace {

constexpr size_t kMostShifts = 4096;
constexpr size_t kSample = 256;       // names compared of each way at first
constexpr size_t kFinalists = 64;     // ways compared in full
constexpr double kWorthTrying = 0.5;  // share of names that must meet

// Index in `reference` minus index in `other`.
using Shift = int64_t;

struct Common {
  int64_t begin = 0, end = 0;  // indices of `other`
};

class Matcher {
 public:
  Matcher(std::span<const TimedName> reference, std::span<const TimedName> other)
      : reference_(reference), other_(other) {}

  ClockMatch Run() {
    std::vector<std::pair<double, Shift>> rated;
    for (const Shift shift : Shifts()) {
      const double share = Share(shift);
      if (share >= kWorthTrying) rated.emplace_back(-share * Length(CommonOf(shift)), shift);
    }
    const size_t kept = std::min(kFinalists, rated.size());
    std::partial_sort(rated.begin(), rated.begin() + static_cast<std::ptrdiff_t>(kept),
                      rated.end());
    rated.resize(kept);
    return Best(rated);
  }

 private:
  static double Length(Common overlap) {
    return static_cast<double>(std::max<int64_t>(overlap.end - overlap.begin, 0));
  }

  Common CommonOf(Shift shift) const {
    return {std::max<int64_t>(0, -shift),
            std::min(static_cast<int64_t>(other_.size()),
                     static_cast<int64_t>(reference_.size()) - shift)};
  }

  bool Meets(int64_t index, Shift shift) const {
    return other_[static_cast<size_t>(index)].name ==
           reference_[static_cast<size_t>(index + shift)].name;
  }

  // Of names spread over the overlap.
  double Share(Shift shift) const {
    const Common overlap = CommonOf(shift);
    const int64_t length = overlap.end - overlap.begin;
    if (length <= 0) return 0;
    const int64_t step = std::max<int64_t>(1, length / static_cast<int64_t>(kSample));
    size_t met = 0, compared = 0;
    for (int64_t i = overlap.begin; i < overlap.end; i += step, ++compared) met += Meets(i, shift);
    return static_cast<double>(met) / static_cast<double>(compared);
  }

  // Places of each piece of `length` names, numbered alike in both sequences.
  struct Pieces {
    std::vector<uint32_t> reference, other;
    uint32_t distinct = 0;
  };

  static Pieces Join(const Pieces& shorter, size_t length) {
    std::unordered_map<uint64_t, uint32_t> numbers;
    const auto join = [&](const std::vector<uint32_t>& from, std::vector<uint32_t>& to) {
      for (size_t i = 0; i + length < from.size(); ++i) {
        const uint64_t key = uint64_t{from[i]} << 32 | from[i + length];
        to.push_back(numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second);
      }
    };
    Pieces pieces;
    join(shorter.reference, pieces.reference);
    join(shorter.other, pieces.other);
    pieces.distinct = static_cast<uint32_t>(numbers.size());
    return pieces;
  }

  Pieces Names() const {
    std::unordered_map<uint32_t, uint32_t> numbers;
    Pieces pieces;
    const auto number = [&](std::span<const TimedName> from, std::vector<uint32_t>& to) {
      for (const TimedName& timed : from) {
        to.push_back(
            numbers.try_emplace(timed.name, static_cast<uint32_t>(numbers.size())).first->second);
      }
    };
    number(reference_, pieces.reference);
    number(other_, pieces.other);
    pieces.distinct = static_cast<uint32_t>(numbers.size());
    return pieces;
  }

  // By the rarest piece that both have; longer pieces are rarer, until no piece is in both.
  std::vector<Shift> Shifts() const {
    std::vector<Shift> best;
    Pieces pieces = Names();
    for (size_t length = 1; !pieces.reference.empty() && !pieces.other.empty(); length *= 2) {
      std::vector<Shift> shifts = ShiftsByRarest(pieces);
      if (shifts.empty()) break;
      if (best.empty() || shifts.size() <= best.size()) best = std::move(shifts);
      if (best.size() == 1) break;
      pieces = Join(pieces, length);
    }
    return best;
  }

  static std::vector<Shift> ShiftsByRarest(const Pieces& pieces) {
    std::vector<uint64_t> in_reference(pieces.distinct, 0), in_other(pieces.distinct, 0);
    for (const uint32_t piece : pieces.reference) ++in_reference[piece];
    for (const uint32_t piece : pieces.other) ++in_other[piece];
    uint32_t rarest = UINT32_MAX;
    for (uint32_t piece = 0; piece < pieces.distinct; ++piece) {
      if (in_reference[piece] == 0 || in_other[piece] == 0) continue;
      const bool rarer = rarest == UINT32_MAX || in_reference[piece] * in_other[piece] <
                                                     in_reference[rarest] * in_other[rarest];
      if (rarer) rarest = piece;
    }
    return rarest == UINT32_MAX ? std::vector<Shift>() : ShiftsOf(pieces, rarest);
  }

  // Every place in one on every place in the other; of too many, those with the first and the last.
  static std::vector<Shift> ShiftsOf(const Pieces& pieces, uint32_t piece) {
    std::vector<int64_t> reference, other;
    for (size_t i = 0; i < pieces.reference.size(); ++i) {
      if (pieces.reference[i] == piece) reference.push_back(static_cast<int64_t>(i));
    }
    for (size_t i = 0; i < pieces.other.size(); ++i) {
      if (pieces.other[i] == piece) other.push_back(static_cast<int64_t>(i));
    }
    if (reference.size() * other.size() > kMostShifts) {
      other = {other.front(), other.back()};
      if (reference.size() > kMostShifts / 2) reference.resize(kMostShifts / 2);
    }
    std::vector<Shift> shifts;
    for (const int64_t i : reference) {
      for (const int64_t k : other) shifts.push_back(i - k);
    }
    std::sort(shifts.begin(), shifts.end());
    shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
    return shifts;
  }

  ClockMatch Measure(Shift shift) const {
    const Common overlap = CommonOf(shift);
    std::vector<double> distances;
    for (int64_t i = overlap.begin; i < overlap.end; ++i) {
      if (!Meets(i, shift)) continue;
      distances.push_back(reference_[static_cast<size_t>(i + shift)].ts -
                          other_[static_cast<size_t>(i)].ts);
    }
    ClockMatch match;
    match.matched = distances.size();
    match.compared = static_cast<size_t>(Length(overlap));
    if (distances.empty()) return match;
    match.offset_us = Median(distances);
    for (double& distance : distances) distance = std::abs(distance - match.offset_us);
    match.spread_us = Median(std::move(distances));
    return match;
  }

  ClockMatch Best(const std::vector<std::pair<double, Shift>>& ways) const {
    std::vector<ClockMatch> matches;
    size_t most = 0;
    for (const auto& [rating, shift] : ways) {
      matches.push_back(Measure(shift));
      most = std::max(most, matches.back().matched);
    }
    ClockMatch best;
    size_t equally_good = 0;
    for (const ClockMatch& match : matches) {
      if (match.matched * 50 < most * 49) continue;
      ++equally_good;
      if (best.matched == 0 || match.spread_us < best.spread_us) best = match;
    }
    best.equally_good = equally_good;
    return best;
  }

  std::span<const TimedName> reference_, other_;
};

}  // namespace

ClockMatch MatchClocks(std::span<const TimedName> reference, std::span<const TimedName> other) {
  if (reference.empty() || other.empty()) return {};
  return Matcher(reference, other).Run();
}

}  // namespace debrief::accel
