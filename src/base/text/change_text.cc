#include "base/text/change_text.h"

#include <fmt/format.h>

#include <cmath>

namespace debrief {

namespace {

constexpr double kManyTimesPercent = 1000;  // from here on how many times as much is shown

}  // namespace

std::string ChangePercentText(int64_t from, int64_t to) {
  if (from <= 0) return "";
  const double percent = 100 * (static_cast<double>(to) / static_cast<double>(from) - 1);
  if (percent >= kManyTimesPercent) return fmt::format("{:.0f} times", percent / 100 + 1);
  return std::abs(percent) < 10 ? fmt::format("{:+.1f} %", percent)
                                : fmt::format("{:+.0f} %", percent);
}

}  // namespace debrief
