// TORCH_TRACE logs: structured logs of torch.compile.
//
//   V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "rank": 0, ...}
//   <TAB>payload line
//
// docs/formats/torch_trace.md describes all of it. A range of the log begins with a line that is
// neither empty nor begins with a tab, so an entry lies in one range with its payload. A log whose
// lines have marks of a launcher is one range (prefixed.h).
#include "inputs/importer.h"

#include <array>

#include "inputs/sniffing.h"
#include "inputs/torch_trace/log_joiner.h"
#include "inputs/torch_trace/prefixed.h"
#include "inputs/torch_trace/range_reader.h"
#include "torch/glog_time.h"
#include "torch/prefixes/glog_prefix.h"

namespace debrief::inputs::torch_trace {

namespace {

// The first prefix of an entry in the text, and the JSON behind it. The rare "] {" is searched,
// then the line around it is looked at.
struct FirstEntry {
  std::optional<GlogTime> time;
  std::string_view thread;  // of Python's logs: the process
  std::string_view json;
};

std::optional<FirstEntry> FindEntry(std::string_view text) {
  constexpr std::string_view kClose = "] {\"";
  for (size_t close = text.find(kClose); close != std::string_view::npos;) {
    size_t begin = text.rfind('\n', close) + 1;  // npos + 1 is 0
    size_t end = std::min(text.find('\n', close), text.size());
    std::string_view line = text.substr(begin, end - begin);
    auto prefix = FindGlogPrefix(line);
    if (prefix && line.substr(prefix->rest).starts_with("{\""))
      return FirstEntry{ParseGlogTime(prefix->time), prefix->thread, line.substr(prefix->rest)};
    close = text.find(kClose, end);
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

// The rank that the first entries name; {"str": ...} and some others name none.
int32_t FirstRank(std::string_view text) {
  constexpr std::string_view kRank = "\"rank\": ";
  size_t at = text.find(kRank);
  if (at == std::string_view::npos) return kNone32;
  return RankOrNone(NumberAt(text, at + kRank.size()));
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  if (input.json != nullptr) return found;
  auto entry = FindEntry(input.head);
  if (!entry) return found;
  found.mine = true;
  found.rank = FirstRank(entry->json);
  found.pid = NumberAt(entry->thread, 0).value_or(kNone64);
  found.start_ns = PayloadTime(input.head);
  if (found.start_ns == kNone64 && entry->time)
    found.start_ns = GuessTime(*entry->time, input.now_ns);
  return found;
}

// What an entry with its payload may take. PyTorch writes a few megabytes; the rest of a longer one
// is read as lines of no entry, which is told.
constexpr uint64_t kLongestEntry = 256 << 20;

// Where the first entry begins at or behind `at`: a line that is not empty and has no tab.
Result<uint64_t> NextEntry(const Source& source, uint64_t at) {
  constexpr size_t kWindow = 64 * 1024;
  const uint64_t last = at + kLongestEntry;
  for (; at < source.size(); at += kWindow) {
    if (at >= last) return at;
    ASSIGN_OR_RETURN(ByteView bytes, source.View(at - 1, kWindow + 2));
    std::string_view text = bytes.text();
    for (size_t newline = text.find('\n'); newline < kWindow;
         newline = text.find('\n', newline + 1)) {
      char next = newline + 1 < text.size() ? text[newline + 1] : '\n';
      if (next != '\t' && next != '\n' && next != '\r') return at + newline;
    }
  }
  return source.size();
}

class TorchTraceReader final : public Reader {
 public:
  explicit TorchTraceReader(const ImportContext& context)
      : log_{.who = context.who}, chunk_bytes_(context.chunk_bytes), now_ns_(context.now_ns) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    source_ = &source;
    ASSIGN_OR_RETURN(ByteView head, source.View(0, kSniffBytes));
    log_.first_logged = FirstRank(head.text());
    marks_ = MarksOf(head.text());
    joiner_.Begin(log_, marks_.has_value());
    std::vector<ByteRange> ranges;
    if (marks_ && source.size() > 0) return std::vector<ByteRange>{{0, source.size()}};
    for (uint64_t begin = 0; begin < source.size();) {
      ASSIGN_OR_RETURN(uint64_t end, NextEntry(source, begin + chunk_bytes_));
      ranges.push_back({begin, end});
      begin = end;
    }
    return ranges;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    if (marks_) return ReadPrefixed(log_, now_ns_, *marks_, source, part);
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    ReadRange(log_, now_ns_, bytes.text(), range.begin, part);
    return {};
  }

  Status Merge(Part&& part, Part& whole) override {
    if (part.notes != nullptr) joiner_.Join(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override { return joiner_.Finish(*source_, whole); }

 private:
  LogIdentity log_;
  uint64_t chunk_bytes_;
  int64_t now_ns_;
  const Source* source_ = nullptr;
  std::optional<PrefixStyle> marks_;  // that a launcher put before each line
  LogJoiner joiner_;
};

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<TorchTraceReader>(context);
}

constexpr std::array<std::string_view, 9> kMakes = {
    "compile_log",     "compile_life",  "compile_string", "compile_entry", "compile_metrics",
    "compile_restart", "compile_shape", "compile_tensor", "compile_event"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "torch_trace",
               .sentence =
                   "TORCH_TRACE log: what torch.compile did, as structured log lines with payloads",
               .example = "dedicated_log_torch_trace_rank_3_a1b2c3d4.log",
               .makes = kMakes,
               .one_per_process = true},
      .sniff = Sniff,
      .open = Open};
  return kImporter;
}

}  // namespace debrief::inputs::torch_trace
