#include "base/text/units.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>

namespace debrief {

namespace {

struct Rounded {
  double value;
  int digits;
  size_t unit;
};

// Three digits of `number` in the largest unit in which it is at least 1; each unit is 1000 of the
// one before. Halves are rounded away from zero, of the number and not of a quotient that is a
// little off: web/src/parts/format.ts does the same.
Rounded InUnits(double number, size_t units) {
  size_t unit = 0;
  double size = 1;
  while (unit + 1 < units && std::abs(number) >= 999.5 * size) {
    size *= 1000;
    ++unit;
  }
  const double scaled = std::abs(number) / size;
  const int digits = unit == 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  const double parts = digits == 0 ? 1 : digits == 1 ? 10 : 100;
  return {.value = std::round(number / (size / parts)) / parts, .digits = digits, .unit = unit};
}

std::string WithUnit(double number, std::span<const std::string_view> units) {
  const Rounded rounded = InUnits(number, units.size());
  return fmt::format("{:.{}f} {}", rounded.value, rounded.digits, units[rounded.unit]);
}

constexpr std::string_view kTimes[] = {"ns", "us", "ms", "s"};

}  // namespace

std::string DurationText(int64_t ns) { return WithUnit(static_cast<double>(ns), kTimes); }

std::string SignedDurationText(int64_t ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "-") + DurationText(std::abs(ns));
}

std::string SecondsText(double seconds) {
  if (std::isnan(seconds)) return "-";
  return seconds == 0 ? "0 s" : DurationText(std::llround(seconds * 1e9));
}

std::string DurationInWords(int64_t duration_ns) {
  const Rounded rounded = InUnits(static_cast<double>(duration_ns), std::size(kTimes));
  return fmt::format("{} {}", rounded.value, kTimes[rounded.unit]);
}

std::string TimeOfDay(int64_t time_ns) {
  constexpr int64_t kDay = 86'400;
  int64_t second = ((time_ns / 1'000'000'000) % kDay + kDay) % kDay;
  return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

std::string BytesText(double bytes) {
  static constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  return WithUnit(bytes, kUnits);
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
