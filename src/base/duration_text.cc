#include "base/duration_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace debrief {

std::string DurationText(int64_t ns) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  auto number = static_cast<double>(ns);
  if (std::abs(number) < 1000) return fmt::format("{} ns", ns);
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(number) >= 999.5) {
    number /= 1000;
    ++unit;
  }
  int digits = std::abs(number) >= 99.95 ? 0 : std::abs(number) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, digits, kUnits[unit]);
}

}  // namespace debrief
