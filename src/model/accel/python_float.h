// Doubles as Python writes and rounds them.
//
// Trace files of Python tools hold repr(x): the shortest digits that read back as the same double,
// plain between 1e-4 and 1e16 ("2.0", "0.0001") and with an exponent of two digits or more outside
// ("1e-05", "1e+16"). json.dumps writes the same, and NaN, Infinity and -Infinity.
//
// Cost: some 30 ns a number; no allocation.
#pragma once

#include <string>

namespace debrief::accel {

// Enough for every double.
inline constexpr int kPythonFloatSize = 32;

// Writes at most kPythonFloatSize bytes to `out`, no terminator; the end of what was written.
char* WritePythonFloat(double value, char* out);

void AppendPythonFloat(double value, std::string& out);
std::string PythonFloat(double value);

// round(value, digits): the decimal that is nearest to the exact value of the double, ties to even.
// value * 10^digits is rounded itself and gets 2.675 and its like wrong.
double PythonRound(double value, int digits);

}  // namespace debrief::accel
