#include "analyses/flight/waits/habits.h"

#include <array>

namespace debrief::analyses::flight {

namespace {

// The same call: operation, sizes, group and, of an exchange, direction and partner.
bool IsSameCall(const Unit& a, const Unit& b) {
  return a.group == b.group && a.p2p == b.p2p && a.send == b.send && a.partner == b.partner &&
         a.signature == b.signature;
}

bool EqualBefore(std::span<const Unit> units, size_t a, size_t b, size_t length) {
  for (size_t i = 1; i <= length; ++i) {
    if (!IsSameCall(units[a - i], units[b - i])) return false;
  }
  return true;
}

}  // namespace

Habit HabitOf(const Index& index, int32_t unit) {
  constexpr std::array<size_t, 4> kLengths = {8, 4, 2, 1};
  int32_t rank = index.UnitAt(unit).rank;
  std::span<const Unit> units = index.UnitsOf(rank);
  auto now = static_cast<size_t>(unit - index.RankAt(rank).first_unit);
  for (size_t length : kLengths) {
    size_t same = 0, all = 0;
    for (size_t i = length; now >= length && i < now; ++i) {
      if (!EqualBefore(units, i, now, length)) continue;
      ++all;
      same += IsSameCall(units[i], units[now]) ? 1 : 0;
    }
    if (same == 0 && all >= 2) return Habit::kNever;
    if (same > 0) return same * 2 >= all ? Habit::kUsual : Habit::kUnknown;
  }
  return Habit::kUnknown;
}

}  // namespace debrief::analyses::flight
