#include "base/text/units.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>

namespace debrief {

namespace {

// `number` in the largest of `units` in which it is at least 1; each is 1000 of the one before.
std::string InUnits(double number, std::span<const std::string_view> units) {
  size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(number) >= 999.5) {
    number /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} {}", number, units[0]);
  int digits = std::abs(number) >= 99.95 ? 0 : std::abs(number) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, digits, units[unit]);
}

}  // namespace

std::string DurationText(int64_t ns) {
  static constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s"};
  return InUnits(static_cast<double>(ns), kUnits);
}

std::string SignedDurationText(int64_t ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "-") + DurationText(std::abs(ns));
}

std::string SecondsText(double seconds) {
  if (std::isnan(seconds)) return "-";
  return seconds == 0 ? "0 s" : DurationText(std::llround(seconds * 1e9));
}

std::string SecondsInWords(int64_t duration_ns) {
  int64_t tenths = (duration_ns + 50'000'000) / 100'000'000;
  if (tenths % 10 == 0 || tenths >= 1000) return fmt::format("{} s", (tenths + 5) / 10);
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

std::string TimeOfDay(int64_t time_ns) {
  constexpr int64_t kDay = 86'400;
  int64_t second = ((time_ns / 1'000'000'000) % kDay + kDay) % kDay;
  return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

std::string BytesText(double bytes) {
  static constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  return InUnits(bytes, kUnits);
}

std::string PercentText(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string ChangePercentText(int64_t from, int64_t to) {
  constexpr double kManyTimesPercent = 1000;  // from here on how many times as much is shown
  if (from <= 0) return "";
  const double percent = 100 * (static_cast<double>(to) / static_cast<double>(from) - 1);
  if (percent >= kManyTimesPercent) return fmt::format("{:.0f} times", percent / 100 + 1);
  return std::abs(percent) < 10 ? fmt::format("{:+.1f} %", percent)
                                : fmt::format("{:+.0f} %", percent);
}

std::string Plural(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace debrief
