// Numbers and texts as Python reads, writes and rounds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debrief::accel {

// repr(float): the shortest digits that read back as the same number, plain between 1e-4 and 1e16
// ("2.0", "0.0001") and with an exponent of two digits or more outside ("1e-05", "1e+16"). NaN and
// Infinity as json.dumps writes them. Cost: some 30 ns a number.
void AppendPythonFloat(std::string& out, double value);
std::string PythonFloat(double value);

// round(value, digits): the decimal that is nearest to the exact value of the double, ties to even.
// value * 10^digits is rounded itself and gets 2.675 and its like wrong.
double PythonRound(double value, int digits);

// int(text, 0): decimal, 0x, 0o, 0b, blanks around it, `_` between digits left out; null when it is
// none.
std::optional<int64_t> PythonInteger(std::string_view text);

// float(text); null when it is none.
std::optional<double> PythonNumber(std::string_view text);

// The contents of a JSON string in ASCII: \uXXXX for everything else, \" \\ \n \r \t \b \f.
void AppendPythonEscaped(std::string& out, std::string_view text);

// `\uXXXX`, four digits.
void AppendPythonUnit(std::string& out, uint32_t unit);

}  // namespace debrief::accel
