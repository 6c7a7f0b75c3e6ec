// Amounts as people read them, each in one way: three digits that count, decimal units, a blank
// before the unit. The page has the same (web/src/parts/format.ts); tests/amounts.def holds both to
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief {

// For tables and lists: "850 ns", "12.5 us", "412 ms", "1.30 s", "83.1 s".
std::string DurationText(int64_t ns);
// The same with its sign: "+1.30 s", "-412 ms", "0".
std::string SignedDurationText(int64_t ns);

// Of seconds, as compile logs have them: "17.0 s", "340 ms", "0 s"; "-" for none.
std::string SecondsText(double seconds);

// For sentences: "10 s", "45.1 s", "1.2 s": without zeros at the end.
std::string DurationInWords(int64_t duration_ns);

// Hours, minutes and seconds of a time in nanoseconds since 1970, in UTC: "02:47:56".
std::string TimeOfDay(int64_t time_ns);

// "640 B", "12.5 kB", "6.10 MB", "1.30 GB".
std::string BytesText(double bytes);

// Of a share of 1: "17.3 %".
std::string PercentText(double share);

// How much more or less the second is: "+6.3 %", "-85 %", of much more "15 times"; empty when the
// first is not above 0.
std::string ChangePercentText(int64_t from, int64_t to);

// "1 rank", "3 ranks".
std::string Plural(size_t count, std::string_view noun);

}  // namespace debrief
