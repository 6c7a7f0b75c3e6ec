// Times as logs write them: glog's, which have neither year nor zone, and ISO 8601.
//
//   1115 02:42:35.180236563      month and day, then the time of day
//   2026-11-15 02:42:35,180      also with T or _ in the middle, and . before the fraction
//
// Nothing here knows a time zone: what the line says is taken as UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace debrief {

// Does `text` begin like `shape`, in which 0 stands for a digit and ? for any character?
bool HasShape(std::string_view text, std::string_view shape);

struct GlogTime {
  int month = 0;
  int day = 0;
  int64_t of_day_ns = 0;
  size_t size = 0;  // bytes of text
};

// The time at the start of `text`, which begins behind the letter of the level.
std::optional<GlogTime> ParseGlogTime(std::string_view text);

// Nanoseconds since 1970 in the newest year in which that date is not in the future (a day of grace
// for time zones); kNone64 for a date that does not exist.
int64_t GuessTime(const GlogTime& time, int64_t now_ns);

// The time at the start of `text`, kNone64 when there is none.
int64_t ParseIsoTime(std::string_view text);

}  // namespace debrief
