// Does a rank do what it always did after the same operations?
#pragma once

#include <cstdint>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

enum class Habit : uint8_t {
  kUnknown,  // the same operations never came before
  kUsual,    // they were followed by this one, mostly
  kNever,    // they were followed by others, twice or more
};

// `unit`, a position in Index::units, compared with the rank's own past in all groups. The longest
// context that occurred often enough decides. Cost: linear in the rank's units.
Habit HabitOf(const Index& index, int32_t unit);

}  // namespace debrief::analyses::flight
