// Seconds as compile logs have them, in the words of all durations.
#pragma once

#include <cmath>
#include <string>

#include "base/text/units.h"

namespace debrief {

// "17.0 s", "340 ms", "0 s"; "-" for none.
inline std::string SecondsText(double seconds) {
  if (std::isnan(seconds)) return "-";
  return seconds == 0 ? "0 s" : DurationText(std::llround(seconds * 1e9));
}

}  // namespace debrief
