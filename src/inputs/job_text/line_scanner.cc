#include "inputs/job_text/line_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "base/text/newlines.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr int32_t kMaxRank = 1 << 20;

// Takes "<open>3<close>" off the front of `text`.
bool TakeMark(std::string_view& text, std::string_view open, std::string_view close,
              int32_t& number) {
  if (!text.starts_with(open)) return false;
  const char* begin = text.data() + open.size();
  const char* stop = text.data() + text.size();
  int32_t found = 0;
  auto [end, error] = std::from_chars(begin, stop, found);
  bool plain = error == std::errc() && *begin != '-' && found < kMaxRank;
  if (!plain) return false;
  std::string_view rest(end, static_cast<size_t>(stop - end));
  if (!rest.starts_with(close)) return false;
  number = found;
  text = rest.substr(close.size());
  return true;
}

void SkipBlank(std::string_view& text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
}

bool TakeLabel(std::string_view& text, Labels labels, int32_t& rank) {
  if (labels == Labels::kNone) return false;
  std::string_view rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  bool taken = labels == Labels::kColon
                   ? TakeMark(rest, "", ": ", rank)
                   : TakeMark(rest, "[", "]:", rank) || TakeMark(rest, "[", "]", rank);
  if (!taken) return false;
  if (labels == Labels::kBracket) SkipBlank(rest);
  text = rest;
  return true;
}

// Takes all marks off the front. PyTorch's own mark decides, whatever stands around it.
Owner TakePrefix(std::string_view& text, Labels labels) {
  Owner owner;
  TakeLabel(text, labels, owner.rank);
  if (!text.starts_with('[')) return owner;
  int32_t job = kNone32;
  std::string_view rest = text;
  if (TakeMark(rest, "[", ",", job) && (TakeMark(rest, "", "]<stdout>:", owner.rank) ||
                                        TakeMark(rest, "", "]<stderr>:", owner.rank)))
    text = rest;  // mpirun --tag-output
  if (!TakeMark(text, "[default", "]:", owner.local_rank))
    TakeMark(text, "[trainer", "]:", owner.local_rank);
  if (TakeMark(text, "[rank", "]:", owner.rank)) SkipBlank(text);
  return owner;
}

// ESC [ parameters letter. Any other escape loses its first two bytes.
void StripColours(std::string_view text, std::string& clean) {
  clean.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      clean += text[i];
      continue;
    }
    ++i;
    if (i >= text.size() || text[i] != '[') continue;
    ++i;
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
  }
}

bool IsIndented(std::string_view text) { return text[0] == ' ' || text[0] == '\t'; }

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// A torch log line up to the compile id, and its message.
struct LogParts {
  std::string_view header;
  std::string_view message;
};
LogParts SplitLog(std::string_view text) {
  auto header = ParseLogHeader(text);
  auto message = header ? ParseCompileMessage(header->message) : std::nullopt;
  if (!message) return {};
  size_t size = static_cast<size_t>(message->text.data() - text.data());
  return {text.substr(0, text[size - 1] == ' ' ? size - 1 : size), message->text};
}

}  // namespace

bool JoinLogText(std::string& text, std::string_view next) {
  LogParts first = SplitLog(text);
  LogParts more = SplitLog(next);
  if (more.header.empty() || first.header != more.header) return false;
  if (text.size() >= kMaxText) return true;
  text += '\n';
  text += more.message.substr(0, kMaxText - text.size());
  return true;
}

Labels DetectLabels(std::string_view head) {
  constexpr size_t kFewest = 4;
  for (Labels labels : {Labels::kColon, Labels::kBracket}) {
    size_t lines = 0, labelled = 0;
    std::set<int32_t> seen;
    LineSplitter splitter(head);
    for (std::string_view line; splitter.Next(line);) {
      if (IsBlank(line)) continue;
      ++lines;
      int32_t rank = kNone32;
      if (!TakeLabel(line, labels, rank)) continue;
      ++labelled;
      seen.insert(rank);
    }
    if (labelled >= kFewest && labelled * 10 >= lines * 9 && seen.size() < labelled) return labels;
  }
  return Labels::kNone;
}

RangeLines LineScanner::Scan(std::string_view range) {
  needs_cleaning_ = std::memchr(range.data(), '\x1b', range.size()) != nullptr ||
                    std::memchr(range.data(), '\r', range.size()) != nullptr;
  LineSplitter splitter(range);
  for (std::string_view line; splitter.Next(line); ++result_.line_count) Add(line);
  for (size_t i = 0; i < streams_.size(); ++i) {
    std::string_view text = needs_cleaning_ ? Clean(streams_[i].last) : streams_[i].last;
    TakePrefix(text, labels_);
    result_.streams[i].last_number = streams_[i].last_number;
    result_.streams[i].last_text = text.substr(0, kMaxText);
  }
  return std::move(result_);
}

// A progress bar draws over itself: what stands behind the last carriage return is what is seen.
std::string_view LineScanner::Clean(std::string_view raw) {
  raw = raw.substr(0, raw.find_last_not_of('\r') + 1);  // npos + 1 is 0
  raw = raw.substr(raw.rfind('\r') + 1);
  raw = raw.substr(0, kMaxLook);
  if (raw.find('\x1b') == std::string_view::npos) return raw;
  StripColours(raw, clean_);
  return clean_;
}

void LineScanner::Add(std::string_view raw) {
  std::string_view text = needs_cleaning_ ? Clean(raw) : raw.substr(0, kMaxLook);
  if (text.empty()) return;
  Owner owner;
  if (text[0] == '[' || labels_ != Labels::kNone) owner = TakePrefix(text, labels_);
  if (text.empty() || (IsIndented(text) && IsBlank(text))) return;
  uint32_t index = StreamOf(owner);
  Stream& stream = streams_[index];
  stream.last = raw;
  stream.last_number = result_.line_count;
  LineClass what = Classify(text);
  bool ends = stream.may_end && !IsIndented(text) && LooksLikeException(text);
  if (what == LineClass::kTraceback || what == LineClass::kFrame) {
    stream.may_end = true;
  } else if (ends) {
    stream.may_end = false;
  }
  bool joined = what == LineClass::kTorchLog && stream.log != 0 &&
                JoinLogText(result_.lines[stream.log - 1].text, text);
  if (joined) return;
  if (what != LineClass::kOther || ends) Keep(what, index, text);
}

uint32_t LineScanner::StreamOf(const Owner& owner) {
  if (!streams_.empty() && owner == last_owner_) return last_stream_;
  uint64_t key =
      uint64_t{static_cast<uint32_t>(owner.rank)} << 32 | static_cast<uint32_t>(owner.local_rank);
  auto [found, is_new] = by_owner_.try_emplace(key, static_cast<uint32_t>(streams_.size()));
  if (is_new) {
    streams_.emplace_back();
    result_.streams.push_back({.owner = owner, .last_text = {}});
  }
  last_owner_ = owner;
  last_stream_ = found->second;
  return last_stream_;
}

void LineScanner::Keep(LineClass what, uint32_t stream, std::string_view text) {
  result_.lines.push_back(
      {what, stream, result_.line_count, std::string(text.substr(0, kMaxText))});
  if (what == LineClass::kTorchLog) streams_[stream].log = result_.lines.size();
}

}  // namespace debrief::inputs::job_text
