// Plain text: what ranks print to stdout and stderr. docs/formats/job_text.md
//
//   [rank3]:[E1115 02:42:35.285812108 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog caught collective
//   operation timeout: WorkNCCL(SeqNum=10, OpType=ALLREDUCE, ..., Timeout(ms)=10000) ran for 10013
//   milliseconds before timing out.
//
// Also the importer for any other text that nobody else takes, in which it finds nothing. Read
// finds the few lines that matter (LineScanner); Merge puts them together, which needs the lines of
// earlier ranges (EventBuilder). Kept lines do not travel in the Part, which holds nothing but rows
// of tables: they wait in the reader, in a slot per range that Read fills and Merge empties.
#include "inputs/importer.h"

#include <algorithm>
#include <array>

#include "base/json/outline.h"
#include "base/text/colours.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/labelled_pieces.h"
#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/lines/pods.h"
#include "inputs/job_text/wrapped_rows.h"
#include "inputs/sniffing.h"
#include "torch/prefixes/wrapped_lines.h"

namespace debrief::inputs::job_text {

namespace {

// Lines of JSON that a trainer writes, one a step.
bool IsStepsInJson(std::string_view head) {
  std::string_view first = FirstLine(head);
  return first.starts_with('{') && Trimmed(first).ends_with('}') && ParseProgress(first) &&
         head.size() > first.size() + 1 && head[first.size() + 1] == '{';
}

Recognition Sniff(const SniffInput& input) {
  bool text = !input.head.empty() && LooksLikeText(input.head);
  bool packed = input.json != nullptr && IsWrappedText(input.head);  // by a log service
  bool steps = input.json != nullptr && IsStepsInJson(input.head);
  bool error = input.json != nullptr && input.json->Has("message.extraInfo");
  bool pods = input.json != nullptr && IsPodJson(*input.json);
  return {.mine = text && (input.json == nullptr || packed || steps || error || pods)};
}

// Written by people, and no output of a rank: they quote errors without having had them.
bool IsDocument(std::string_view path) {
  constexpr std::string_view kEndings[] = {".md",   ".rst", ".py", ".c",   ".cc",   ".cpp",
                                           ".h",    ".cu",  ".sh", ".yml", ".yaml", ".toml",
                                           ".html", ".css", ".js", ".csv", ".tsv",  ".ipynb"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

// No program prints such a line; a file that is full of zeros, or one of another kind, has one.
constexpr uint64_t kLongestTextLine = 16 << 20;
constexpr uint64_t kLongestPods = 256 << 20;  // a document is read at once
constexpr uint64_t kLongestPieces = 256 << 20;
constexpr uint64_t kLongestCapture = 4 << 20;
// Where pieces of a line that a launcher labelled lie further apart, they are not joined.
constexpr uint64_t kLongestPiecesApart = 16 << 20;
constexpr DiagnosticKind kLongLine = {
    "job_text.long_line", Severity::kWarning, "a line has more than 16 MiB; it was read in pieces",
    "Look at what was written there: no output of a rank has such lines."};

class JobTextReader final : public Reader {
 public:
  explicit JobTextReader(const ImportContext& context)
      : input_(context.who.input),
        chunk_bytes_(context.chunk_bytes),
        now_ns_(context.now_ns),
        path_(context.path),
        builder_(context.who, context.now_ns) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    ASSIGN_OR_RETURN(ByteView head, source.View(0, kSniffBytes));
    auto json = JsonOutline::Of(head.text());
    // What Kubernetes says of a pod is YAML and no document.
    pods_ = source.size() <= kLongestPods && (json ? IsPodJson(*json) : IsPodYaml(head.text()));
    const bool is_document =
        IsDocument(path_) && !(MayBeNote(path_) && HasPastedOutput(head.text()));
    if (is_document && !pods_) return ranges_;
    style_ = DetectPrefixStyle(HasColours(head.text()) ? WithoutColours(head.text()) : head.text());
    if (source.size() > kSniffBytes) {
      ASSIGN_OR_RETURN(ByteView tail, source.View(source.size() - kSniffBytes, kSniffBytes));
      DetectPrefixesOfEnd(tail.text(), style_);
    }
    // Pieces of a line lie apart where two streams alternate: then the text is read at once.
    joins_pieces_ = source.size() <= kLongestPieces &&
                    (HasWord(head.text(), " stdout P ") || HasWord(head.text(), " stderr P "));
    width_ = WidthOfCapture(source.size(), head.text());
    if (width_.columns > 0) style_ = DetectPrefixStyle(UnwrapRows(head.text(), width_));
    for (uint64_t begin = 0; begin < source.size();) {
      uint64_t end = source.size();
      if (!pods_ && !joins_pieces_ && width_.columns == 0) {
        ASSIGN_OR_RETURN(end, EndOfLine(source, begin + chunk_bytes_ - 1));
        if (style_.labels == LineLabels::kColon) {
          ASSIGN_OR_RETURN(end, EndOfPieces(source, {begin, end}));
        }
      }
      ranges_.push_back({begin, end});
      begin = end;
    }
    slots_.resize(ranges_.size());
    for (auto& slot : slots_) slot = std::make_unique<RangeLines>();
    return ranges_;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)part;
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    auto at =
        std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                         [](const ByteRange& each, uint64_t begin) { return each.begin < begin; });
    *slots_[static_cast<size_t>(at - ranges_.begin())] =
        pods_ ? ReadPods(bytes.text())
              : LineScanner(style_, now_ns_, joins_pieces_, width_).Scan(bytes.text());
    return {};
  }

  Status Merge(Part&& part, Part& whole) override {
    (void)part;
    builder_.Add(*slots_[next_], whole);
    slots_[next_++].reset();
    return {};
  }

  Status Finish(Part& whole) override {
    builder_.Finish(whole);
    if (long_line_ != kNone64) whole.diagnostics.Add(kLongLine, input_, {.offset = long_line_});
    return {};
  }

 private:
  // A capture of a screen is small, and of one width from its beginning to its end.
  RowWidth WidthOfCapture(uint64_t size, std::string_view head) const {
    const bool may = size <= kLongestCapture && !style_.wrapped && !joins_pieces_;
    return may ? WidthOfRows(head.substr(0, head.rfind('\n') + 1)) : RowWidth{};  // npos + 1 is 0
  }

  // Behind the first newline at or after `at`.
  Result<uint64_t> EndOfLine(const Source& source, uint64_t at) {
    constexpr size_t kStep = 4096;
    const uint64_t last = at + kLongestTextLine;
    for (; at < source.size(); at += kStep) {
      if (at >= last) {
        if (long_line_ == kNone64) long_line_ = static_cast<int64_t>(at - kLongestTextLine);
        return at;
      }
      ASSIGN_OR_RETURN(ByteView bytes, source.View(at, kStep));
      size_t newline = bytes.text().find('\n');
      if (newline != std::string_view::npos) return at + newline + 1;
    }
    return source.size();
  }

  // Where a range with labelled lines can end: no line of it goes on behind. Ranges before it ended
  // so, too. One whose rest never comes, of a task that died, ends the search.
  Result<uint64_t> EndOfPieces(const Source& source, ByteRange range) {
    OpenPieces open;
    uint64_t begin = range.begin, end = range.end;
    for (;;) {
      ASSIGN_OR_RETURN(ByteView bytes, source.View(begin, end - begin));
      LineSplitter lines(bytes.text());
      for (std::string_view line; lines.Next(line);) open.Add(line);
      const bool is_cut = end < source.size() && !open.empty();
      if (!is_cut || end - range.begin >= range.size() + kLongestPiecesApart) return end;
      begin = end;
      ASSIGN_OR_RETURN(end, EndOfLine(source, begin));
    }
  }

  int32_t input_;
  uint64_t chunk_bytes_;
  int64_t now_ns_;
  std::string path_;
  bool joins_pieces_ = false;    // containerd cut its lines
  RowWidth width_;               // a terminal broke its lines there
  bool pods_ = false;            // what Kubernetes says of pods, as JSON or YAML
  int64_t long_line_ = kNone64;  // where the first begins, or a little behind
  PrefixStyle style_;
  std::vector<ByteRange> ranges_;
  std::vector<std::unique_ptr<RangeLines>> slots_;
  size_t next_ = 0;
  EventBuilder builder_;
};

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<JobTextReader>(context);
}

constexpr std::array<std::string_view, 12> kMakes = {
    "text_event",   "process_exit", "process_identity", "progress",
    "tail_line",    "torch_log",    "output_weight",    "nccl_link",
    "nccl_channel", "nccl_setting", "replica_event",    "serving_event"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "job_text",
               .sentence =
                   "plain text: output of ranks and launchers, with errors, exits and progress",
               .example = "stdout_rank3.txt",
               .makes = kMakes,
               .fallback = true},
      .sniff = Sniff,
      .open = Open};
  return kImporter;
}

}  // namespace debrief::inputs::job_text
