// The text forms of pickle protocol 0: a number or a string on a line.
#pragma once

#include <string>
#include <string_view>

#include "base/pickle/pickle.h"

namespace debrief::pickle {

// "12", "12L", and "01" and "00" for True and False. What does not fit 64 bits is a kBigInt.
bool ParseIntegerLine(std::string_view line, PickleValue& value);

bool ParseFloatLine(std::string_view line, PickleValue& value);

// Python's raw-unicode-escape: \uXXXX and \UXXXXXXXX, all other bytes are Latin-1. To UTF-8; a lone
// surrogate becomes U+FFFD.
bool DecodeUnicodeLine(std::string_view line, std::string& text);

// A quoted string with Python's escapes.
bool DecodeStringLine(std::string_view line, std::string& text);

}  // namespace debrief::pickle
