#include "torch/prefixes/wrapped_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/json/outline.h"
#include "base/pools/ids.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief {

namespace {

constexpr size_t kLongestRecord = 1 << 20;

// In the order in which they are asked for.
constexpr std::array<std::string_view, 10> kTextKeys = {
    "log",      "message", "MESSAGE", "textPayload", "jsonPayload.message",
    "@message", "line",    "msg",     "body",        "text"};
constexpr std::array<std::string_view, 7> kTimeKeys = {
    "time", "timestamp", "@timestamp", "ts", "__REALTIME_TIMESTAMP", "asctime", "ingestionTime"};
constexpr std::array<std::string_view, 15> kWhoKeys = {"kubernetes.pod_name",
                                                       "kubernetes.pod.name",
                                                       "resource.labels.pod_name",
                                                       "pod_name",
                                                       "pod",
                                                       "labels.pod",
                                                       "stream.pod",
                                                       "logStreamName",
                                                       "logStream",
                                                       "@logStream",
                                                       "container_name",
                                                       "_HOSTNAME",
                                                       "hostname",
                                                       "host",
                                                       "instance"};
constexpr std::array<std::string_view, 4> kLevelKeys = {"level", "levelname", "severity",
                                                        "record.level.name"};  // of loguru
constexpr std::array<std::string_view, 3> kRankKeys = {"rank", "global_rank", "RANK"};
constexpr std::array<std::string_view, 4> kStackKeys = {"exception", "exc_info", "stack_trace",
                                                        "traceback"};
constexpr std::array<std::string_view, 3> kStepKeys = {"loss", "step", "iteration"};

using Scalar = std::optional<std::string_view>;

Scalar FirstOf(const JsonOutline& record, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Scalar value = record.Scalar(key);
    if (value && !value->empty() && *value != "null") return value;
  }
  return std::nullopt;
}

void AppendUtf8(uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code >= 0xD800 && code < 0xE000) {  // half of a pair: no letter of any message
    text += '?';
  } else {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// The contents of a JSON string. Carriage returns stay: they end what a progress bar draws over.
std::string Unescaped(std::string_view raw) {
  std::string text;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      text += raw[i];
      continue;
    }
    const char escaped = raw[++i];
    constexpr std::string_view kLetters = "ntrbf", kMeanings = "\n\t\r\b\f";
    const size_t letter = kLetters.find(escaped);
    if (letter != std::string_view::npos) {
      text += kMeanings[letter];
    } else if (escaped == 'u' && i + 4 < raw.size()) {
      uint32_t code = '?';
      std::from_chars(raw.data() + i + 1, raw.data() + i + 5, code, 16);
      AppendUtf8(code, text);
      i += 4;
    } else {
      text += escaped;
    }
  }
  return text;
}

// "2026-11-15T23:22:09.123456Z" of an ISO time, or of a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970; empty when it is none of these.
std::string TimeMark(Scalar value) {
  if (!value) return {};
  if (ParseIsoTime(*value) != kNone64 && value->size() >= 19) {
    std::string mark(value->substr(0, value->find_first_of("Z+", 19)));
    mark[10] = 'T';
    return mark + "Z ";
  }
  const auto number = ParseNumber<double>(*value);
  if (!number || *number < 1e9) return {};
  double seconds = *number;
  while (seconds > 1e11) seconds /= 1e3;
  const auto micros = static_cast<int64_t>(seconds * 1e6);
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(micros)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z ", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

// The last part of "job/algo-3-1794650400", without the number that only tells when it began.
std::string_view NameOfSource(std::string_view who) {
  who = who.substr(who.rfind('/') + 1);
  const size_t digits = who.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  const bool stamped = digits > 1 && who.size() - digits >= 9 && who[digits - 1] == '-';
  return stamped ? who.substr(0, digits - 1) : who;
}

// What stands before each line of a record.
std::string MarksOf(const JsonOutline& record) {
  std::string marks;
  const Scalar who = FirstOf(record, kWhoKeys);
  const Scalar pid = record.Scalar("_PID");
  if (who && pid) {
    marks = fmt::format("(log pid={}, ip={}) ", *pid, NameOfSource(*who));
  } else if (who && who->find_first_of("] ") == std::string_view::npos) {
    marks = fmt::format("[pod/{}/log] ", NameOfSource(*who));
  }
  marks += TimeMark(FirstOf(record, kTimeKeys));
  const Scalar rank = FirstOf(record, kRankKeys);
  if (rank && std::ranges::all_of(*rank, IsDigit)) marks += fmt::format("[RANK {}] ", *rank);
  return marks;
}

struct Record {
  JsonOutline outline;
  std::string_view text;  // as it stands in the line
};

// Steps of a trainer are left as they are.
enum class Steps : uint8_t { kAreRecords, kAreNone };

std::optional<Record> RecordOf(std::string_view line, Steps steps = Steps::kAreNone) {
  line = Trimmed(line);
  if (!line.starts_with('{') || !line.ends_with('}') || line.size() > kLongestRecord)
    return std::nullopt;
  auto outline = JsonOutline::Of(line);
  if (!outline) return std::nullopt;
  if (steps == Steps::kAreNone && FirstOf(*outline, kStepKeys)) return std::nullopt;
  Scalar text = FirstOf(*outline, kTextKeys);
  if (!text && FirstOf(*outline, kLevelKeys)) text = outline->Scalar("event");
  const bool told =
      FirstOf(*outline, kTimeKeys) || FirstOf(*outline, kWhoKeys) || FirstOf(*outline, kLevelKeys);
  if (!text || !told) return std::nullopt;
  Record record{std::move(*outline), {}};
  record.text = FirstOf(record.outline, kTextKeys).value_or(std::string_view());
  if (record.text.empty()) record.text = record.outline.Scalar("event").value_or("");
  return record;
}

// Each line of `said` behind `marks`; a blank line needs none.
void AppendMarked(std::string_view marks, std::string_view said, std::string& text) {
  while (said.ends_with('\n')) said.remove_suffix(1);
  LineSplitter splitter(said);
  for (std::string_view line; splitter.Next(line);) {
    if (!text.empty()) text += '\n';
    text += marks;
    text += line;
  }
}

}  // namespace

bool IsWrappedText(std::string_view head) {
  constexpr size_t kLooked = 64;
  if (head.starts_with("{\"log\":\"")) return true;  // Docker's, also where the first one is cut
  size_t lines = 0, records = 0;
  LineSplitter splitter(head);
  for (std::string_view line; lines < kLooked && splitter.Next(line);) {
    line = Trimmed(line);
    if (line.empty()) continue;
    const bool cut =
        line.starts_with('{') && line.data() + line.size() == head.data() + head.size();
    if (cut && lines > 0) break;
    ++lines;
    if (line[0] == '{' && RecordOf(line, Steps::kAreRecords)) ++records;
  }
  return records * 2 > lines;
}

void UnwrapLine(std::string_view line, std::string& text) {
  text.clear();
  const auto record = line.starts_with('{') ? RecordOf(line) : std::nullopt;
  if (!record) {
    text = line;
    return;
  }
  const std::string marks = MarksOf(record->outline);
  AppendMarked(marks, Unescaped(record->text), text);
  if (const Scalar stack = FirstOf(record->outline, kStackKeys))
    AppendMarked(marks, Unescaped(*stack), text);
}

std::string UnwrapText(std::string_view text) {
  std::string plain, piece;
  LineSplitter splitter(text);
  for (std::string_view line; splitter.Next(line);) {
    UnwrapLine(line, piece);
    plain += piece;
    plain += '\n';
  }
  return plain;
}

}  // namespace debrief
