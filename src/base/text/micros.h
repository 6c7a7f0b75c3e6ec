// Times of the Trace Event Format: microseconds as decimal text, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace debrief {

// Nanoseconds of a number of microseconds: "3853805014190.827" is 3853805014190827. Digits behind
// the third decimal round to the nearest. Quotes around it do not matter. None when it is no number
// or beyond +-2e18: sums of a base, a time and a duration then stay inside of 63 bits.
std::optional<int64_t> MicrosToNs(std::string_view token);

}  // namespace debrief
