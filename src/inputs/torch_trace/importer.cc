// TORCH_TRACE logs: structured logs of torch.compile. Recognised; a reader comes with the compile part.
//
//   V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "rank": 0, ...}
//   <TAB>payload line
//
// The prefix may stand anywhere in the line (launchers put "[rank0]:" in front), and has no year.
#include <array>
#include <chrono>

#include "inputs/importer.h"
#include "inputs/sniffing.h"

namespace debrief::inputs::torch_trace {

namespace {

struct Prefix {
  int month, day, hour, minute, second;
  std::string_view envelope;  // the rest of the line, from '{'
};

bool IsDigits(std::string_view text) {
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

int TwoDigits(std::string_view text, size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; }

// "V1115 02:42:22.605000 3829 path:2126] {" at the start of `text`?
std::optional<Prefix> ParsePrefix(std::string_view text) {
  constexpr std::string_view kShape = "0000 00:00:00.000000 ";  // 0 stands for a digit
  if (text.size() < kShape.size() + 1) return std::nullopt;
  for (size_t i = 0; i < kShape.size(); ++i) {
    char c = text[i + 1];
    bool fits = kShape[i] == '0' ? c >= '0' && c <= '9' : c == kShape[i];
    if (!fits) return std::nullopt;
  }
  size_t close = text.find("] {\"", kShape.size());
  size_t line_end = text.find('\n');
  if (close == std::string_view::npos || close > line_end) return std::nullopt;
  size_t colon = text.rfind(':', close);
  if (!IsDigits(text.substr(colon + 1, close - colon - 1))) return std::nullopt;
  return Prefix{TwoDigits(text, 1), TwoDigits(text, 3),  TwoDigits(text, 6), TwoDigits(text, 9),
                TwoDigits(text, 12), text.substr(close + 2, line_end - close - 2)};
}

std::optional<Prefix> FindPrefix(std::string_view text) {
  for (size_t at = text.find_first_of("VIWEC"); at != std::string_view::npos;
       at = text.find_first_of("VIWEC", at + 1)) {
    if (auto prefix = ParsePrefix(text.substr(at))) return prefix;
  }
  return std::nullopt;
}

// The newest year in which that date is not in the future (a day of grace for time zones).
int64_t GuessTime(const Prefix& prefix, int64_t now_ns) {
  using namespace std::chrono;
  sys_time<nanoseconds> now{nanoseconds(now_ns)};
  year this_year = year_month_day(floor<days>(now)).year();
  for (year candidate : {this_year, this_year - years(1)}) {
    year_month_day date(candidate, month(static_cast<unsigned>(prefix.month)),
                        day(static_cast<unsigned>(prefix.day)));
    if (!date.ok()) continue;
    auto time = sys_days(date) + hours(prefix.hour) + minutes(prefix.minute) + seconds(prefix.second);
    if (time <= now + days(1)) return duration_cast<nanoseconds>(time.time_since_epoch()).count();
  }
  return kNone64;
}

// chromium_event payloads carry unix microseconds: <TAB>"ts": 1794710542605738.2
int64_t PayloadTime(std::string_view head) {
  constexpr std::string_view kKey = "\t\"ts\": ";
  size_t at = head.find(kKey);
  if (at == std::string_view::npos) return kNone64;
  auto micros = NumberAt(head, at + kKey.size());
  return micros ? UnixMicrosToNs(static_cast<double>(*micros)) : kNone64;
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  auto prefix = FindPrefix(input.head);
  if (input.json != nullptr || !prefix) return found;
  found.mine = true;
  constexpr std::string_view kRank = "\"rank\": ";
  if (size_t at = prefix->envelope.find(kRank); at != std::string_view::npos) {
    if (auto rank = NumberAt(prefix->envelope, at + kRank.size())) found.rank = static_cast<int32_t>(*rank);
  }
  found.start_ns = PayloadTime(input.head);
  if (found.start_ns == kNone64) found.start_ns = GuessTime(*prefix, input.now_ns);
  return found;
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "torch_trace",
               .sentence = "TORCH_TRACE log: what torch.compile did, as structured log lines with payloads",
               .example = "dedicated_log_torch_trace_rank_3_a1b2c3d4.log",
               .makes = {},
               .one_per_process = true},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::torch_trace
