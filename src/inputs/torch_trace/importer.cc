// TORCH_TRACE logs: structured logs of torch.compile. Recognised; a reader comes with the compile
// part.
//
//   V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "rank": 0, ...}
//   <TAB>payload line
//
// The prefix may stand anywhere in the line (launchers put "[rank0]:" in front), and has no year.
#include "inputs/importer.h"

#include <array>

#include "inputs/glog_time.h"
#include "inputs/sniffing.h"

namespace debrief::inputs::torch_trace {

namespace {

struct Prefix {
  GlogTime time;
  std::string_view envelope;  // the rest of the line, from '{'
};

bool IsDigits(std::string_view text) {
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

// The time of "V1115 02:42:22.605000 3829 path:2126", if that is the whole of `text`.
std::optional<GlogTime> TimeOfPrefix(std::string_view text) {
  constexpr std::string_view kLevels = "VIWEC";
  if (text.empty() || kLevels.find(text[0]) == std::string_view::npos) return std::nullopt;
  auto time = ParseGlogTime(text.substr(1));
  bool whole = time && text.substr(1 + time->size).starts_with(' ') &&
               IsDigits(text.substr(text.rfind(':') + 1));
  return whole ? time : std::nullopt;
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
      auto time = TimeOfPrefix(candidate);
      if (!time) continue;
      return Prefix{*time, text.substr(close + 2, text.find('\n', close) - close - 2)};
    }
  }
  return std::nullopt;
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
  if (found.start_ns == kNone64) found.start_ns = GuessTime(prefix->time, input.now_ns);
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
