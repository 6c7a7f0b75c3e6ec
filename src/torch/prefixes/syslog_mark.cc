// What syslog and journalctl put before a line of a process.
#include <algorithm>
#include <array>
#include <string>

#include "base/text/strings.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief {

namespace {

constexpr size_t kLongestSyslogMark = 200;

// When a line of the host's log was written: "Nov 15 23:22:09 ", or an ISO time with its zone.
struct SyslogTime {
  size_t size = 0;  // bytes, with the blank; 0: there is none
  int64_t time_ns = kNone64;
  std::optional<GlogTime> of_year;
};

SyslogTime SyslogTimeOf(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() < 20) return {};
  if (IsDigit(text[0])) {
    const size_t blank = text.find(' ');
    const int64_t time = text[10] == 'T' ? ParseIsoTime(text) : kNone64;
    if (time == kNone64 || blank == std::string_view::npos) return {};
    return {blank + 1, time, std::nullopt};
  }
  if (text[3] != ' ' || text[6] != ' ') return {};
  const auto month = std::ranges::find(kMonths, text.substr(0, 3));
  const auto day = ParseNumber<int>(Trimmed(text.substr(4, 2)));
  if (month == kMonths.end() || !day || text[9] != ':' || text[12] != ':') return {};
  // glog's form of the same: 1115 23:22:09
  const auto number = static_cast<int>(month - kMonths.begin()) + 1;
  std::string as_glog = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10),
                         static_cast<char>('0' + *day / 10), static_cast<char>('0' + *day % 10)};
  const size_t end = text.find(' ', 7);
  if (end == std::string_view::npos) return {};
  as_glog += text.substr(6, 9);
  as_glog += ".0";
  const auto time = ParseGlogTime(as_glog);
  if (!time) return {};
  return {end + 1, kNone64, time};
}

}  // namespace

bool TakeSyslogMark(PeeledLine& line) {
  const SyslogTime time = SyslogTimeOf(line.text);
  if (time.size == 0) return false;
  std::string_view rest = line.text.substr(time.size);
  const size_t blank = rest.find(' ');
  const size_t open = rest.find('['), close = rest.find("]: ");
  const bool fits = blank != std::string_view::npos && blank > 0 &&
                    open != std::string_view::npos && close != std::string_view::npos &&
                    blank < open && open + 1 < close && close < kLongestSyslogMark;
  if (!fits) return false;
  const std::string_view program = rest.substr(blank + 1, open - blank - 1);
  const auto pid = ParseNumber<int64_t>(rest.substr(open + 1, close - open - 1));
  const bool foreign = program.empty() || program.starts_with("systemd") || program == "kernel" ||
                       program.find_first_of(" :") != std::string_view::npos;
  if (!pid || foreign) return false;
  line.host = rest.substr(0, blank);
  line.pid = *pid;
  line.time_ns = time.time_ns;
  line.kept = time.of_year;
  const size_t rank = program.rfind("rank");
  if (rank != std::string_view::npos && line.rank == kNone32) {
    const std::string_view number = Trimmed(program.substr(rank + 4), "-_@=:");
    line.rank = ParseNumber<int32_t>(number).value_or(kNone32);
  }
  line.text = rest.substr(close + 3);
  return true;
}

}  // namespace debrief
