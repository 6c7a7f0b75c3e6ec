// Numbers as serde_json (without its feature float_roundtrip) reads and prints them.
//
// Integers that fit 64 bits stay integers. Everything else becomes a double, in a way that is not
// always the nearest one: the digits are read into a 64-bit significand (those that do not fit are
// dropped), which is rounded to a double, which is multiplied with or divided by a power of ten,
// which rounds again. 1715885247.9018195 prints as 1715885247.9018197, and so it must here.
// Doubles print as ryu prints them: the shortest digits that read back the same, without exponent
// for 1e-5 <= |x| < 1e16, always with a fraction or an exponent.
#pragma once

#include <cstddef>
#include <string_view>

namespace debrief {

// What a number may print longer than it was read ("1e15").
inline constexpr size_t kCanonicalNumberBytes = 26;

// Writes `token` at `to` and returns the end of it; nullptr when it is no number or too large. May
// write kCanonicalNumberBytes, or as many bytes as the token has if that is more.
char* WriteCanonicalNumber(std::string_view token, char* to);

}  // namespace debrief
