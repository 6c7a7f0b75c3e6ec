#include "base/json/event_ranges.h"

#include <algorithm>

#include "base/json/array_splitter.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr uint64_t kFirstWindow = 64 * 1024;
constexpr uint64_t kWindowGrowth = 8;
// What stands before and behind the events, and what stands between two of them, is at most this
// much: a file may be full of holes, and all of a piece is held in memory.
constexpr uint64_t kMaxWindow = 64 << 20;

bool BeginsKey(char c) { return IsAlphabetic(c) || c == '_'; }

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// The last byte before `at` that is no white space.
char LastBefore(std::string_view text, size_t at, char before) {
  while (at > 0 && IsSpace(text[at - 1])) --at;
  return at > 0 ? text[at - 1] : before;
}

bool BeginsElement(std::string_view text, size_t at, char before) {
  size_t quote = SkipSpace(text, at + 1);
  if (quote + 1 >= text.size() || text[quote] != '"' || !BeginsKey(text[quote + 1])) return false;
  char last = LastBefore(text, at, before);
  return last == ',' || last == '[';
}

// Behind the closing quote of the string that begins at `at`; npos when it does not end.
size_t StringEnd(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

struct ObjectScan {
  size_t end = std::string_view::npos;
  bool has_phase = false;  // a member "ph" of the object itself
};

// Events are hundreds of bytes, rarely thousands, and a few levels deep. What is longer or deeper
// is no place to cut at. A byte is looked at once for each level that it is in, so that a text made
// to look like the beginning of many objects costs no more than kEventDepth times its size.
constexpr size_t kMaxScan = 64 * 1024;
constexpr size_t kEventDepth = 48;

// What may stand behind a string, a value or a bracket that closes.
bool EndsValue(std::string_view text, size_t at) {
  at = SkipSpace(text, at);
  if (at == text.size()) return true;
  const char c = text[at];
  return c == ',' || c == ':' || c == '}' || c == ']';
}

// Is the object at `at` closed, and has it a phase? It need not be JSON throughout: that is for the
// parser to find. But a quote that ends a string in front of a letter, and an object in the place
// of a key, tell that a string or an object before was never closed.
ObjectScan ScanObject(std::string_view text, size_t at) {
  ObjectScan scan;
  text = text.substr(0, std::min(text.size(), at + kMaxScan));
  size_t depth = 0;
  uint64_t objects = 0;  // a bit for each open bracket, innermost lowest: an object, not an array
  char last = '\0';      // the last byte that was no white space
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = StringEnd(text, at);
      if (end == std::string_view::npos || !EndsValue(text, end)) return scan;
      scan.has_phase |= depth == 1 && text.substr(at, end - at) == "\"ph\"";
      at = end;
      last = c;
      continue;
    }
    if (c == '{' || c == '[') {
      const bool is_key = depth > 0 && (objects & 1) != 0 && last != ':';
      if (is_key || ++depth > kEventDepth) return scan;
      objects = objects << 1 | (c == '{' ? 1 : 0);
    } else if (c == '}' || c == ']') {
      --depth;
      objects >>= 1;
    }
    if (!IsSpace(c)) last = c;
    ++at;
    if (depth == 0) {
      scan.end = at;
      return scan;
    }
  }
  return scan;
}

bool IsEvent(std::string_view text, size_t at, char before) {
  if (!BeginsElement(text, at, before)) return false;
  ObjectScan scan = ScanObject(text, at);
  return scan.has_phase && scan.end != std::string_view::npos;
}

bool IsSeparator(char c) { return static_cast<unsigned char>(c) <= ' ' || c == ','; }

size_t FindLastEvent(std::string_view text, char before) {
  size_t at = text.rfind('{');
  while (at != std::string_view::npos && !IsEvent(text, at, before))
    at = at == 0 ? std::string_view::npos : text.rfind('{', at - 1);
  return at;
}

// The first event that begins in [from, limit); npos when none does.
size_t FindEventBefore(std::string_view text, size_t from, size_t limit) {
  const std::string_view searched = text.substr(0, limit);
  size_t at = searched.find('{', from);
  while (at != std::string_view::npos && !IsEvent(text, at, '\0')) at = searched.find('{', at + 1);
  return at;
}

// Members of the top-level object in `text`, which has no array of events.
void AddMembers(std::string_view text, std::vector<JsonMember>& members) {
  JsonReader reader;
  std::string padded(text);
  padded.resize(text.size() + simdjson::SIMDJSON_PADDING);
  if (!reader.Open(std::string_view(padded).substr(0, text.size())).ok()) return;
  (void)reader.root().ForEachField([&](std::string_view key, JsonValue value) {
    if (auto raw = value.Raw()) members.push_back({std::string(key), std::string(*raw)});
  });
}

class RangeFinder {
 public:
  RangeFinder(const Source& source, uint64_t range_bytes)
      : source_(source), range_bytes_(std::max<uint64_t>(range_bytes, 1)) {}

  Result<EventRanges> Find() {
    TRY(ReadHead());
    if (!found_.found) return std::move(found_);
    TRY(ReadTail());
    TRY(CutRanges());
    return std::move(found_);
  }

 private:
  Status ReadHead() {
    for (uint64_t window = std::min(kFirstWindow, source_.size());; window *= kWindowGrowth) {
      window = std::min(window, source_.size());
      ASSIGN_OR_RETURN(ByteView bytes, source_.View(0, window));
      found_.is_bare = FirstByte(bytes.text()) == '[';
      auto head = MakeMemorySource(std::string(bytes.text()));
      ASSIGN_OR_RETURN(JsonArraySplit split,
                       SplitJsonArray(*head, found_.is_bare ? "" : "traceEvents", window));
      if (split.found) return TakeHead(bytes.text(), split);
      if (window == source_.size() || window >= kMaxWindow) return {};
    }
  }

  static char FirstByte(std::string_view text) {
    size_t at = SkipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    return at < text.size() ? text[at] : '\0';
  }

  Status TakeHead(std::string_view text, const JsonArraySplit& split) {
    found_.found = true;
    begin_ = split.array_begin + 1;
    for (const auto& [key, value] : split.others) {
      if (value.begin > begin_) break;  // ReadTail finds those behind the array
      found_.members.push_back({key, std::string(text.substr(value.begin, value.size()))});
    }
    return {};
  }

  // From the last event on, the end of the array is where its bracket closes.
  Status ReadTail() {
    for (uint64_t window = kFirstWindow;; window *= kWindowGrowth) {
      window = std::min({window, source_.size() - begin_, kMaxWindow});
      uint64_t from = source_.size() - window;
      ASSIGN_OR_RETURN(ByteView bytes, source_.View(from, window));
      bool is_all = from == begin_;
      size_t event = FindLastEvent(bytes.text(), is_all ? '[' : '\0');
      if (event == std::string_view::npos && !is_all && window < kMaxWindow) continue;
      if (event == std::string_view::npos) event = 0;
      return TakeTail(bytes.text().substr(event), from + event);
    }
  }

  Status TakeTail(std::string_view text, uint64_t offset) {
    auto tail = MakeMemorySource("[" + std::string(text));
    ASSIGN_OR_RETURN(JsonArraySplit split, SplitJsonArray(*tail, "", text.size() + 1));
    found_.closed = split.closed;
    found_.end = split.closed ? offset + split.array_end - 2 : source_.size();
    if (!split.closed) return {};
    std::string_view rest = text.substr(split.array_end - 1);
    size_t comma = SkipSpace(rest, 0);
    if (comma < rest.size() && rest[comma] == ',')
      AddMembers("{" + std::string(rest.substr(comma + 1)), found_.members);
    return {};
  }

  Status CutRanges() {
    uint64_t begin = begin_;
    while (begin < found_.end) {
      uint64_t end = found_.end;
      if (range_bytes_ < found_.end - begin) {
        ASSIGN_OR_RETURN(end, NextEvent(begin + range_bytes_));
      }
      found_.ranges.push_back({begin, end});
      begin = end;
    }
    return {};
  }

  // Of the first event at or behind `at`; the end of the events when there is none. Where none is
  // near, the cut is anywhere: there is nothing that it could break.
  Result<uint64_t> NextEvent(uint64_t at) {
    for (uint64_t window = kFirstWindow; at < found_.end;
         window = std::min(window * kWindowGrowth, kMaxWindow)) {
      // One byte more in front, to see what stands there.
      uint64_t from = at - 1;
      uint64_t length = std::min(window, found_.end - from);
      ASSIGN_OR_RETURN(ByteView bytes, source_.View(from, length));
      size_t event = FindEvent(bytes.text(), 1);
      if (event != std::string_view::npos) return from + event;
      if (from + length == found_.end) break;
      if (window >= kMaxWindow) return from + length;
    }
    return found_.end;
  }

  const Source& source_;
  uint64_t range_bytes_;
  uint64_t begin_ = 0;  // of the events
  EventRanges found_;
};

}  // namespace

size_t FindEvent(std::string_view text, size_t from) {
  return FindEventBefore(text, from, text.size());
}

std::string_view TrimEvents(std::string_view text) {
  while (!text.empty() && IsSeparator(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSeparator(text.back())) text.remove_suffix(1);
  return text;
}

size_t FindBadByte(std::string_view text) {
  bool in_string = false;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte >= 0x80) {
      const Utf8Step step = StepUtf8(text.substr(at));
      if (!step.valid) return at;
      at += step.bytes;
      continue;
    }
    if (in_string && byte < ' ') return at;
    if (byte == '"') in_string = !in_string;
    // What is escaped ends no string; what is no ASCII is looked at by itself.
    const bool escapes = in_string && byte == '\\' && at + 1 < text.size() &&
                         static_cast<uint8_t>(text[at + 1]) >= ' ' &&
                         static_cast<uint8_t>(text[at + 1]) < 0x80;
    at += escapes ? 2 : 1;
  }
  return text.size();
}

std::string_view TakeEvent(std::string_view& text) {
  // Only a broken event reaches as far as the next one: what is whole ends the search.
  size_t end = text[0] == '{' ? std::min(text.size(), ScanObject(text, 0).end) : text.size();
  end = std::min(end, FindEventBefore(text, 1, end));
  std::string_view event = TrimEvents(text.substr(0, end));
  text = TrimEvents(text.substr(end));
  return event;
}

Result<EventRanges> FindEventRanges(const Source& source, uint64_t range_bytes) {
  return RangeFinder(source, range_bytes).Find();
}

}  // namespace debrief
