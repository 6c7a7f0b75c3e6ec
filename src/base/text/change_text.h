// How much more or less one amount is than another, in words that all comparisons share.
#pragma once

#include <cstdint>
#include <string>

namespace debrief {

// "+6.3 %", "-85 %", of much more "15 times"; empty when the first is not above 0.
std::string ChangePercentText(int64_t from, int64_t to);

}  // namespace debrief
