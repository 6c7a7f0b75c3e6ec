#include "base/text/micros.h"

#include <cmath>

#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr int64_t kMaxNs = 2'000'000'000'000'000'000;
constexpr int64_t kMaxMicros = kMaxNs / 1000;

std::optional<int64_t> FromDouble(std::string_view text) {
  const std::optional<double> micros = ParseNumber<double>(text);
  // NaN is no number either.
  if (!micros || !(std::abs(*micros) <= static_cast<double>(kMaxMicros))) return std::nullopt;
  return std::llround(*micros * 1000);
}

std::string_view Trim(std::string_view token) {
  while (!token.empty() && (token.back() <= ' ' || token.back() == '"')) token.remove_suffix(1);
  if (!token.empty() && token.front() == '"') token.remove_prefix(1);
  return token;
}

}  // namespace

std::optional<int64_t> MicrosToNs(std::string_view token) {
  token = Trim(token);
  size_t at = 0;
  bool negative = !token.empty() && token[0] == '-';
  if (negative) ++at;
  size_t first = at;
  int64_t ns = 0;
  for (; at < token.size() && IsDigit(token[at]); ++at) {
    ns = ns * 10 + (token[at] - '0');
    if (ns > kMaxMicros) return std::nullopt;
  }
  if (at == first) return std::nullopt;
  ns *= 1000;
  if (at < token.size() && token[at] == '.') {
    int64_t unit = 100;
    for (++at; at < token.size() && IsDigit(token[at]); ++at, unit /= 10) {
      if (unit > 0) ns += unit * (token[at] - '0');
      // Behind the third decimal: the fourth decides.
      if (unit == 0) {
        if (token[at] >= '5') ++ns;
        while (at < token.size() && IsDigit(token[at])) ++at;
        break;
      }
    }
  }
  if (at != token.size()) return FromDouble(token);
  return negative ? -ns : ns;
}

}  // namespace debrief
