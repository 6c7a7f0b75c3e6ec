// TORCH_TRACE logs: structured logs of torch.compile. Recognised; a reader comes with the compile
// part.
//
//   V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "rank": 0, ...}
//   <TAB>payload line
//
// The prefix may stand anywhere in the line (launchers put "[rank0]:" in front), and has no year.
#include "inputs/importer.h"

#include <array>
#include <chrono>

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

int TwoDigits(std::string_view text, size_t at) {
  return (text[at] - '0') * 10 + text[at + 1] - '0';
}

// "V1115 02:42:22.605000 3829 path:2126" as the whole of `text`, which ends before "] {"?
bool IsPrefix(std::string_view text) {
  constexpr std::string_view kLevels = "VIWEC";
  constexpr std::string_view kShape = "0000 00:00:00.000000 ";  // 0 stands for a digit
  if (text.size() <= kShape.size() || kLevels.find(text[0]) == std::string_view::npos) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    char c = text[i + 1];
    bool fits = kShape[i] == '0' ? c >= '0' && c <= '9' : c == kShape[i];
    if (!fits) return false;
  }
  return IsDigits(text.substr(text.rfind(':') + 1));
}

// The first prefix in the text. The rare "] {" is searched, then the line in front of it is looked
// at.
std::optional<Prefix> FindPrefix(std::string_view text) {
  constexpr std::string_view kClose = "] {\"";
  size_t looked_at = 0;  // no byte is looked at twice: a prefix has no "] {" inside
  for (size_t close = text.find(kClose); close != std::string_view::npos;
       close = text.find(kClose, close + 1)) {
    std::string_view line = text.substr(looked_at, close - looked_at);
    size_t begin = looked_at + (line.rfind('\n') + 1);  // npos + 1 is 0
    looked_at = close;
    for (; begin < close; ++begin) {
      std::string_view candidate = text.substr(begin, close - begin);
      if (!IsPrefix(candidate)) continue;
      return Prefix{
          TwoDigits(candidate, 1),  TwoDigits(candidate, 3),
          TwoDigits(candidate, 6),  TwoDigits(candidate, 9),
          TwoDigits(candidate, 12), text.substr(close + 2, text.find('\n', close) - close - 2)};
    }
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
    auto time =
        sys_days(date) + hours(prefix.hour) + minutes(prefix.minute) + seconds(prefix.second);
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
  return micros ? UnixMicrosToNs(*micros) : kNone64;
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  auto prefix = FindPrefix(input.head);
  if (input.json != nullptr || !prefix) return found;
  found.mine = true;
  constexpr std::string_view kRank = "\"rank\": ";
  if (size_t at = prefix->envelope.find(kRank); at != std::string_view::npos) {
    found.rank = RankOrNone(NumberAt(prefix->envelope, at + kRank.size()));
  }
  found.start_ns = PayloadTime(input.head);
  if (found.start_ns == kNone64) found.start_ns = GuessTime(*prefix, input.now_ns);
  return found;
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "torch_trace",
               .sentence =
                   "TORCH_TRACE log: what torch.compile did, as structured log lines with payloads",
               .example = "dedicated_log_torch_trace_rank_3_a1b2c3d4.log",
               .makes = {},
               .one_per_process = true},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::torch_trace
