#include "inputs/sniffing.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text/newlines.h"
#include "base/text/strings.h"

namespace debrief {

bool HasWord(std::string_view text, std::string_view word) {
  return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

bool LooksLikePickle(std::string_view head) {
  if (head.size() < 2) return false;
  if (head[0] == '\x80') return head[1] >= 1 && head[1] <= 5;
  // Protocols 0 and 1 have no header: MARK and DICT or LIST, or an empty dict or list that is then
  // put into the memo.
  if (head[0] == '(') return head[1] == 'd' || head[1] == 'l';
  return (head[0] == '}' || head[0] == ']') && head[1] == 'q';
}

std::string_view FirstPrinted(std::string_view head) {
  while (!head.empty()) {
    const std::string_view line = FirstLine(head);
    const std::string_view words = Trimmed(line);
    const std::string_view prompt = words.substr(0, words.find("$ "));
    const bool is_prompt = prompt.size() < words.size() && Contains(prompt, "@") &&
                           prompt.find('"') == std::string_view::npos;
    if (!words.empty() && !is_prompt && !StartsWithAny(words, {"$ ", "+ "})) return line;
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return {};
}

bool LooksLikeText(std::string_view head) {
  auto odd = [](unsigned char c) {
    return c < 32 && c != '\n' && c != '\r' && c != '\t' && c != 27 && c != '\b';
  };
  auto count = std::count_if(head.begin(), head.end(),
                             [&](char c) { return odd(static_cast<unsigned char>(c)); });
  // PyTorch's messages of dying workers end with a zero; files of numbers have several in a row.
  constexpr std::string_view kZeros("\0\0", 2);
  if (head.find(kZeros) != std::string_view::npos) return false;
  return static_cast<size_t>(count) * 100 <= head.size();
}

bool MayBeNote(std::string_view path) {
  constexpr std::string_view kOfProjects[] = {"README", "CHANGELOG", "CONTRIBUTING"};
  const bool of_project = std::ranges::any_of(
      kOfProjects, [&](std::string_view name) { return FileName(path).starts_with(name); });
  return path.ends_with(".md") && !of_project && !Contains(path, "docs/");
}

bool HasPastedOutput(std::string_view head) {
  constexpr std::string_view kMark = "[rank";
  constexpr size_t kLongestMark = 16;
  bool inside = false;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    if (line.starts_with("```")) inside = !inside;
    const bool marked = line.starts_with(kMark) && line.size() > kMark.size() &&
                        IsDigit(line[kMark.size()]) && Contains(line.substr(0, kLongestMark), "]:");
    if (inside && marked) return true;
  }
  return false;
}

bool LooksLikeTraceEvents(const SniffInput& input) {
  if (input.json == nullptr) return false;
  const JsonOutline& json = *input.json;
  if (!json.is_array()) {
    // The outline keeps a bounded number of keys; a file may begin with a long list of other
    // things.
    return json.Has("traceEvents") || HasWord(input.head, "\"traceEvents\":");
  }
  return json.Has("[].ph") || (json.Has("[].ts") && json.Has("[].name"));
}

bool HasCycleStamps(const SniffInput& input) {
  return HasWord(input.head, "\"TS1\"") && !HasWord(input.head, "\"deviceProperties\"");
}

Recognition RecogniseTrace(const JsonOutline& json) {
  Recognition found;
  found.mine = true;
  found.rank = RankOrNone(json.Integer("distributedInfo.rank"));
  found.world_size = RankOrNone(json.Integer("distributedInfo.world_size"));
  found.pid = ProcessOf(json.Integer(json.is_array() ? "[].pid" : "traceEvents[].pid"));
  auto first_time = json.Scalar(json.is_array() ? "[].ts" : "traceEvents[].ts");
  auto micros = first_time ? NumberAt(*first_time, 0) : std::nullopt;
  if (micros) found.start_ns = UnixMicrosToNs(*micros);
  return found;
}

std::optional<int64_t> NumberAt(std::string_view text, size_t at) {
  if (at >= text.size()) return std::nullopt;
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

int32_t RankOrNone(std::optional<int64_t> number) {
  constexpr int64_t kMostRanks = 1 << 17;  // several places hold something for each of a world
  return number && *number >= 0 && *number <= kMostRanks ? static_cast<int32_t>(*number) : kNone32;
}

int32_t CountOrNone(std::optional<int64_t> number) {
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int32_t>(*number) : kNone32;
}

int64_t ProcessOf(std::optional<int64_t> number) {
  constexpr int64_t kMostDevices = 256;
  return number && *number > kMostDevices ? *number : kNone64;
}

int64_t UnixMicrosToNs(int64_t micros) {
  constexpr int64_t kYear2001 = 1'000'000'000'000'000;
  constexpr int64_t kYear2262 = 9'200'000'000'000'000;  // the last that int64 nanoseconds can hold
  return micros >= kYear2001 && micros < kYear2262 ? micros * 1000 : kNone64;
}

}  // namespace debrief
