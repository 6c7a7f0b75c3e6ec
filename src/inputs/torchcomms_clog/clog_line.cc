#include "inputs/torchcomms_clog/clog_line.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text/strings.h"

namespace debrief::inputs::torchcomms_clog {

namespace {

// The part before the next '|', which is taken off.
std::string_view TakeField(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find('|'));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

// 7 of "C7" for letter C; -1 when it is something else.
int64_t NumberAfter(char letter, std::string_view field) {
  if (field.size() < 2 || field.front() != letter) return -1;
  return ParseNumber<int64_t>(field.substr(1)).value_or(-1);
}

// "all_reduce|in_count=8": words with an equals sign are fields.
void TakeFields(std::string_view rest, ClogLine& line) {
  while (!rest.empty()) {
    const std::string_view field = TakeField(rest);
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    line.fields.emplace_back(field.substr(0, equals), field.substr(equals + 1));
  }
}

LineKind EventOf(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, LineKind>, 4> kEvents = {
      {{"Q", LineKind::kEnqueue},
       {"S", LineKind::kStart},
       {"E", LineKind::kEnd},
       {"W", LineKind::kWait}}};
  for (const auto& [letter, kind] : kEvents) {
    if (letter == word) return kind;
  }
  return LineKind::kOther;
}

// What follows "C7|".
void ParseOfSignature(std::string_view rest, ClogLine& line) {
  const std::string_view word = TakeField(rest);
  if (word == "sig") {
    line.kind = LineKind::kSignature;
    line.op = TakeField(rest);
    TakeFields(rest, line);
    return;
  }
  const LineKind kind = EventOf(word);
  const size_t plus = rest.rfind('+');
  const auto time = plus == std::string_view::npos ? std::nullopt : MillisOf(rest.substr(plus + 1));
  if (kind == LineKind::kOther || !time) return;
  line.kind = kind;
  line.after_ms = *time;
  TakeFields(rest.substr(0, plus), line);
}

}  // namespace

std::string_view ClogLine::Get(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

ClogLine ParseLine(std::string_view text) {
  ClogLine line;
  std::string_view rest = text;
  std::string_view word = TakeField(rest);
  if (word == "V") {
    line.version = TakeField(rest);
    TakeFields(rest, line);
    const auto time = MillisOf(line.Get("base_timestamp"));
    if (time) line.kind = LineKind::kHead;
    line.head_ms = time.value_or(0);
    return line;
  }
  if (word == "new_comm" || word == "split") {
    line.kind = word == "split" ? LineKind::kSplit : LineKind::kComm;
    TakeFields(rest, line);
    return line;
  }
  if (word == "WARN") {
    line.kind = LineKind::kWarning;
    return line;
  }
  line.graph = NumberAfter('G', word);
  if (line.graph >= 0) word = TakeField(rest);
  if (line.graph >= 0 && NumberAfter('R', word) >= 0) {
    line.kind = LineKind::kReplay;
    return line;
  }
  line.signature = NumberAfter('C', word);
  if (line.signature >= 0) ParseOfSignature(rest, line);
  return line;
}

std::optional<int64_t> MillisOf(std::string_view seconds) {
  const size_t dot = seconds.find('.');
  const auto whole = ParseNumber<int64_t>(seconds.substr(0, dot));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4'000'000'000;  // fits as ns
  if (!whole || *whole < 0 || *whole > kMost) return std::nullopt;
  if (dot == std::string_view::npos) return *whole * 1000;
  std::string digits(seconds.substr(dot + 1, 3));
  digits.resize(3, '0');
  const auto millis = ParseNumber<int64_t>(digits);
  return millis && *millis >= 0 ? std::optional(*whole * 1000 + *millis) : std::nullopt;
}

std::string ShapesOf(std::string_view counts) {
  if (counts.empty()) return "[]";
  std::string shapes = "[[";
  for (const char c : counts) {
    if (c == ',') {
      shapes += "], [";
    } else {
      shapes += c;
    }
  }
  return shapes += "]]";
}

std::optional<int64_t> SumOf(std::string_view counts) {
  int64_t sum = 0;
  while (!counts.empty()) {
    const std::string_view word = counts.substr(0, counts.find(','));
    const auto count = ParseNumber<int64_t>(word);
    if (!count || __builtin_add_overflow(sum, *count, &sum)) return std::nullopt;
    counts.remove_prefix(std::min(word.size() + 1, counts.size()));
  }
  return sum;
}

std::string_view DtypeOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kNames = {
      {{"f32", "Float"},
       {"f64", "Double"},
       {"f16", "Half"},
       {"bf16", "BFloat16"},
       {"i32", "Int"},
       {"i64", "Long"},
       {"i16", "Short"},
       {"i8", "Char"},
       {"u8", "Byte"},
       {"bool", "Bool"},
       {"fp8e4m3", "Float8_e4m3fn"},
       {"fp8e5m2", "Float8_e5m2"}}};
  for (const auto& [own, pytorch] : kNames) {
    if (own == name) return pytorch;
  }
  return name;
}

}  // namespace debrief::inputs::torchcomms_clog
