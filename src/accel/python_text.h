// Numbers as Python reads and writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debrief::accel {

// repr(float): the shortest text that reads back as the same number; 1e16 and above and below 1e-4
// with an exponent of two digits at least; always a point or an exponent. NaN and Infinity as
// json.dumps writes them.
void AppendPythonFloat(std::string& out, double number);

// int(text, 0): decimal, 0x, 0o, 0b, blanks around it, `_` between digits left out; null when it is
// none.
std::optional<int64_t> PythonInteger(std::string_view text);

// float(text); null when it is none.
std::optional<double> PythonNumber(std::string_view text);

// The contents of a JSON string in ASCII: \uXXXX for everything else, \" \\ \n \r \t \b \f.
void AppendPythonEscaped(std::string& out, std::string_view text);

}  // namespace debrief::accel
