#include "torch/prefixes/line_starts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief {

namespace {

bool IsHostLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The word before ": " at the start of a line, when it can be the name of a host.
std::string_view HostBefore(std::string_view line) {
  size_t size = 0;
  bool numbered = false, named = false;
  for (; size < line.size(); ++size) {
    char c = line[size];
    if (IsDigit(c) || c == '-' || c == '.') {
      numbered = true;
    } else if (IsHostLetter(c)) {
      named = true;
    } else {
      break;
    }
  }
  bool fits = size > 0 && line.substr(size).starts_with(": ") && named;
  return fits && (numbered || line.starts_with("localhost")) ? line.substr(0, size)
                                                             : std::string_view();
}

// "vllm-1  | text", of docker compose: the service and the bytes up to the text; both empty for any
// other line.
std::pair<std::string_view, size_t> ServiceBefore(std::string_view line) {
  size_t size = 0;
  while (size < line.size() && (IsHostLetter(line[size]) || IsDigit(line[size]) ||
                                line[size] == '-' || line[size] == '.'))
    ++size;
  const size_t bar = line.find_first_not_of(' ', size);
  const bool fits = size > 0 && bar != std::string_view::npos && bar > size && line[bar] == '|';
  if (!fits) return {};
  const bool blank = line.substr(bar + 1).starts_with(' ');
  return {line.substr(0, size), bar + (blank ? 2 : 1)};
}

// The bytes of a time at the start of `text`, 0 when there is none.
size_t TimeSize(std::string_view text) {
  size_t size = 0;
  for (std::string_view shape : {"0000-00-00?00:00:00", "0000/00/00 00:00:00", "00:00:00"})
    if (size == 0 && HasShape(text, shape)) size = shape.size();
  const bool month = text.size() > 15 && IsHostLetter(text[0]) && IsHostLetter(text[2]);
  if (month && HasShape(text.substr(3), " ?0 00:00:00")) size = 15;
  if (size == 0) return 0;
  // The fraction, and the zone.
  return std::min(text.find_first_not_of("0123456789.,Z", size), text.size());
}

// The stamp with what sets it apart from the text: "[time] ", "time ", "time: ", a tab.
size_t StampSize(std::string_view line) {
  const bool bracket = line.starts_with('[');
  size_t size = TimeSize(line.substr(bracket ? 1 : 0));
  if (size == 0) return 0;
  size += bracket ? 1 : 0;
  std::string_view rest = line.substr(size);
  if (HasShape(rest, "+00:00") || HasShape(rest, "-00:00")) size += 6;
  rest = line.substr(size);
  if (bracket && !rest.starts_with(']')) return 0;
  size += bracket ? 1 : 0;
  rest = line.substr(size);
  if (rest.starts_with(": ")) return size + 2;
  return rest.empty() ? size : rest[0] == ' ' || rest[0] == '\t' ? size + 1 : 0;
}

// Lines that loggers do not write, and so do not stamp.
bool IsOfNoLogger(std::string_view text) {
  const PeeledLine peeled = PeelPrefixes(text, {});
  const bool marked = peeled.rank != kNone32 || peeled.local_rank != kNone32;
  std::string_view head = text.starts_with('[') ? text.substr(1) : text;
  const bool glog = head.size() > 12 && head[0] >= 'A' && head[0] <= 'Z' &&
                    ParseGlogTime(head.substr(1)).has_value();
  return marked || glog || text.starts_with("Traceback (most recent call last)") ||
         text.starts_with("  File \"") || Contains(text.substr(0, 120), " NCCL INFO ");
}

}  // namespace

bool TakeHost(PeeledLine& line) {
  if (auto [service, size] = ServiceBefore(line.text); size > 0) {
    line.host = service;
    line.text.remove_prefix(size);
    return true;
  }
  std::string_view word = HostBefore(line.text);
  if (word.empty()) return false;
  line.host = word;
  line.text.remove_prefix(word.size() + 2);
  return true;
}

bool TakeStamp(PeeledLine& line) {
  const size_t size = StampSize(line.text);
  if (size == 0) return false;
  const int64_t time = ParseIsoTime(line.text.substr(line.text.starts_with('[') ? 1 : 0));
  if (line.time_ns == kNone64) line.time_ns = time;
  line.text.remove_prefix(size);
  return true;
}

bool HasStamps(std::string_view head) {
  constexpr size_t kFewest = 4;
  size_t lines = 0, stamped = 0;
  bool surely = false;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    line = PeelPrefixes(line, {}).text;  // marks that need no style, with times of their own
    if (Trimmed(line).empty()) continue;
    ++lines;
    const size_t size = StampSize(line);
    stamped += size > 0 ? 1 : 0;
    surely = surely || (size > 0 && IsOfNoLogger(line.substr(size)));
  }
  return surely && stamped >= kFewest && stamped * 10 >= lines * 9;
}

bool HasHosts(std::string_view head, bool stamps) {
  constexpr size_t kFewest = 4, kMostHosts = 4096;
  size_t lines = 0, marked = 0;
  std::set<std::string_view> hosts;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    line = PeelPrefixes(line, {.stamps = stamps}).text;
    if (Trimmed(line).empty()) continue;
    ++lines;
    std::string_view host = HostBefore(line);
    if (host.empty()) host = ServiceBefore(line).first;
    if (host.empty()) continue;
    ++marked;
    if (hosts.size() < kMostHosts) hosts.insert(host);
  }
  return marked >= kFewest && marked * 10 >= lines * 9 && hosts.size() * 2 <= marked;
}

}  // namespace debrief
