// A moment as people say it: "02:47:56".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace debrief {

// Hours, minutes and seconds of a time in nanoseconds since 1970, in UTC.
inline std::string TimeOfDay(int64_t time_ns) {
  constexpr int64_t kDay = 86'400;
  int64_t second = ((time_ns / 1'000'000'000) % kDay + kDay) % kDay;
  return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

// "10 s", "45.1 s", "1.2 s": whole where that is all there is to say.
inline std::string SecondsInWords(int64_t duration_ns) {
  int64_t tenths = (duration_ns + 50'000'000) / 100'000'000;
  if (tenths % 10 == 0 || tenths >= 1000) return fmt::format("{} s", (tenths + 5) / 10);
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

}  // namespace debrief
