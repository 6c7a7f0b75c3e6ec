#include "torch/glog_time.h"

#include <chrono>

#include "base/pools/ids.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

int TwoDigits(std::string_view text, size_t at) {
  return (text[at] - '0') * 10 + text[at + 1] - '0';
}

// ".180236563" or ",180" at `at`, moved behind it; digits beyond nanoseconds are dropped.
int64_t Fraction(std::string_view text, size_t& at) {
  bool has = at + 1 < text.size() && (text[at] == '.' || text[at] == ',') && IsDigit(text[at + 1]);
  if (!has) return 0;
  int64_t ns = 0;
  int64_t unit = 100'000'000;
  for (++at; at < text.size() && IsDigit(text[at]); ++at, unit /= 10) ns += unit * (text[at] - '0');
  return ns;
}

// "02:42:35" and a fraction at `at`, moved behind it. A leap second counts as the next minute.
int64_t OfDay(std::string_view text, size_t& at) {
  int64_t seconds =
      TwoDigits(text, at) * 3600 + TwoDigits(text, at + 3) * 60 + TwoDigits(text, at + 6);
  at += 8;
  return seconds * 1'000'000'000 + Fraction(text, at);
}

std::optional<std::chrono::nanoseconds> StartOf(int year, int month, int day) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                      std::chrono::day(static_cast<unsigned>(day)));
  constexpr int kFirst = 1970, kLast = 2261;  // what int64 nanoseconds can hold
  if (!date.ok() || year < kFirst || year > kLast) return std::nullopt;
  return nanoseconds(sys_days(date).time_since_epoch());
}

}  // namespace

bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool fits = shape[i] == '?' || (shape[i] == '0' ? IsDigit(text[i]) : text[i] == shape[i]);
    if (!fits) return false;
  }
  return true;
}

std::optional<GlogTime> ParseGlogTime(std::string_view text) {
  // C++ does not fill up the month: 115 is the 15th of January.
  bool is_short = HasShape(text, "000 00:00:00.0");
  if (!is_short && !HasShape(text, "0000 00:00:00.0")) return std::nullopt;
  size_t digits = is_short ? 1 : 2;
  GlogTime time{.month = is_short ? text[0] - '0' : TwoDigits(text, 0),
                .day = TwoDigits(text, digits),
                .size = digits + 3};
  time.of_day_ns = OfDay(text, time.size);
  return time;
}

int64_t GuessTime(const GlogTime& time, int64_t now_ns) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  sys_time<nanoseconds> now{nanoseconds(now_ns)};
  int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
  // Nine years back there is a 29th of February for certain.
  for (int year = this_year + 1; year >= this_year - 8; --year) {
    auto start = StartOf(year, time.month, time.day);
    if (!start) continue;
    nanoseconds at = *start + nanoseconds(time.of_day_ns);
    if (at <= now.time_since_epoch() + days(1)) return at.count();
  }
  return kNone64;
}

int64_t ParseIsoTime(std::string_view text) {
  if (!HasShape(text, "0000-00-00?00:00:00")) return kNone64;
  if (text[10] != ' ' && text[10] != 'T' && text[10] != '_') return kNone64;
  int year = TwoDigits(text, 0) * 100 + TwoDigits(text, 2);
  auto start = StartOf(year, TwoDigits(text, 5), TwoDigits(text, 8));
  if (!start) return kNone64;
  size_t at = 11;
  return start->count() + OfDay(text, at);
}

}  // namespace debrief
