#include "inputs/torch_trace/prefixed.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text/newlines.h"
#include "inputs/torch_trace/range_reader.h"
#include "torch/prefixes/glog_prefix.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr size_t kPrefixedWindow = 4 << 20;
constexpr size_t kLongestPrefixed = 256 << 20;  // of one line
constexpr size_t kMostHeld = 64 << 20;

// An entry whose payload may not be complete.
struct HeldEntry {
  std::string text;
  std::vector<LinePlace> places;
  bool is_closed = false;
};

class PrefixedReader {
 public:
  PrefixedReader(const LogIdentity& log, int64_t now_ns, const PrefixStyle& style, Part& part)
      : style_(style), reader_(log, now_ns, part) {}

  // `line` has its end; it begins at `offset` of the log.
  void Add(std::string_view line, int64_t offset) {
    ++lines_;
    const PeeledLine peeled = PeelPrefixes(line, style_);
    const std::string_view text = peeled.text;
    if (text.empty() || text[0] == '\n' || text == "\r\n") return;
    const LinePlace place = {.offset = offset + static_cast<int64_t>(line.size() - text.size()),
                             .number = lines_,
                             .bytes = static_cast<int64_t>(text.size())};
    const bool is_marked = text.size() < line.size();
    if (text[0] != '\t') {
      uint64_t& open = OpenOf(peeled);
      Close(open);
      last_ = open = Begin(text, place);
    } else {
      Append(is_marked ? OpenOf(peeled) : last_, text, place);
    }
    ReadComplete();
  }

  void Finish() {
    for (HeldEntry& entry : held_) entry.is_closed = true;
    ReadComplete();
    reader_.SetLines(lines_);
  }

 private:
  // Whose lines: rank, local rank, process, host.
  using Writer = std::tuple<int32_t, int32_t, int64_t, std::string>;
  static constexpr uint64_t kNoEntry = ~uint64_t{0};

  // The number of the entry that the writer of the line wrote last.
  uint64_t& OpenOf(const PeeledLine& line) {
    Writer writer(line.rank, line.local_rank, line.pid, line.host);
    return open_.try_emplace(std::move(writer), kNoEntry).first->second;
  }

  // A writer writes one entry after the other.
  void Close(uint64_t number) {
    if (number != kNoEntry && number >= first_) held_[number - first_].is_closed = true;
  }

  uint64_t Begin(std::string_view text, const LinePlace& place) {
    HeldEntry& entry = held_.emplace_back();
    Put(text, place, entry);
    return first_ + held_.size() - 1;
  }

  void Append(uint64_t number, std::string_view text, const LinePlace& place) {
    if (number == kNoEntry || number < first_) {  // of no entry, which is what this reports
      HeldEntry& loose = held_.emplace_back();
      loose.is_closed = true;
      return Put(text, place, loose);
    }
    Put(text, place, held_[number - first_]);
  }

  void Put(std::string_view text, const LinePlace& place, HeldEntry& entry) {
    const size_t before = entry.text.size();
    entry.text += text;
    if (!text.ends_with('\n')) entry.text += '\n';
    entry.places.push_back(place);
    bytes_ += entry.text.size() - before;
  }

  void ReadComplete() {
    while (!held_.empty() && (held_.front().is_closed || bytes_ > kMostHeld)) {
      HeldEntry& entry = held_.front();
      const size_t size = entry.text.size();
      entry.text.append(kPadding, '\0');
      reader_.Read(std::string_view(entry.text).substr(0, size), entry.places);
      bytes_ -= size;
      held_.pop_front();
      ++first_;
    }
  }

  PrefixStyle style_;
  EntryReader reader_;
  int64_t lines_ = 0;
  std::map<Writer, uint64_t> open_;
  uint64_t last_ = kNoEntry;  // entry that began last, whoever wrote it
  std::deque<HeldEntry> held_;
  uint64_t first_ = 0;  // number of the first that is held
  size_t bytes_ = 0;    // held
};

}  // namespace

std::optional<PrefixStyle> MarksOf(std::string_view head) {
  PrefixStyle style = DetectPrefixStyle(head);
  size_t marked = 0, bare = 0;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    const std::string_view text = PeelPrefixes(line, style).text;
    auto prefix = FindGlogPrefix(text);
    const bool is_ours = text.starts_with('\t') || (prefix && prefix->begin == 0);
    if (is_ours) ++(text.size() < line.size() ? marked : bare);
  }
  if (marked <= bare) return std::nullopt;
  return style;
}

Status ReadPrefixed(const LogIdentity& log, int64_t now_ns, const PrefixStyle& style,
                    const Source& source, Part& part) {
  PrefixedReader reader(log, now_ns, style, part);
  size_t window = kPrefixedWindow;
  for (uint64_t at = 0; at < source.size();) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(at, window));
    const std::string_view text = bytes.text();
    const bool is_last = at + text.size() >= source.size() || text.empty();
    size_t end = is_last ? text.size() : text.rfind('\n') + 1;  // npos + 1 is 0
    if (end == 0 && window < kLongestPrefixed) {
      window *= 2;
      continue;
    }
    if (end == 0) end = text.size();
    for (size_t begin = 0; begin < end;) {
      const size_t stop = std::min(text.find('\n', begin), end - 1) + 1;
      reader.Add(text.substr(begin, stop - begin), static_cast<int64_t>(at + begin));
      begin = stop;
    }
    if (text.empty()) break;
    at += end;
    window = kPrefixedWindow;
  }
  reader.Finish();
  return {};
}

}  // namespace debrief::inputs::torch_trace
