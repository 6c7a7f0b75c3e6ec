#include "inputs/job_text/line_scanner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text/colours.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "inputs/job_text/compile_lines.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/labelled_pieces.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "inputs/job_text/log_records.h"
#include "inputs/sniffing.h"
#include "torch/prefixes/wrapped_lines.h"

namespace debrief::inputs::job_text {

namespace {

bool IsIndented(std::string_view text) { return text[0] == ' ' || text[0] == '\t'; }

// "[./gloo/transport/tcp/context.cc:243] INFO Rank 1 is connected to 2. Expected number ..."
bool IsConnected(std::string_view text) {
  return text.starts_with("[") && Contains(text.substr(0, 64), "/gloo/transport/") &&
         Contains(text, "INFO Rank ") && Contains(text, " is connected to ");
}

// torchrun's closing list: "train.py FAILED", "Failures:", "[1]:".
bool IsOfFailureList(std::string_view text) {
  return text.ends_with(" FAILED") || text == "Failures:" || Contains(text, "ChildFailedError") ||
         (text.starts_with('[') && text.ends_with("]:") && text.size() < 8);
}

// Lines that every process prints, and parts of longer messages, say nothing of this rank.
bool IsTelling(std::string_view text) {
  constexpr std::string_view kOpens[] = {
      "frame #", "wandb:", "#", "^", "==", "--", "->", "**",
      // the source that rich (in a box) and notebooks print around each frame
      "\u2502", "\u2570", "ErrorMessage \"",
      // the compiler's advice behind an exception
      "from user code:", "Set TORCH", "User Stack (most recent", "You can suppress this exception",
      "Potential framework code culprit", "For more information, run with TORCH",
      "For extended logs when we create symbols", "If you suspect the guard was triggered",
      "For more debugging help"};
  constexpr std::string_view kParts[] = {" NCCL INFO ", "Warning: ", "Exception raised from",
                                         " sagemaker-training-toolkit "};
  if (IsIndented(text) || IsOfFailureList(text)) return false;
  for (std::string_view open : kOpens) {
    if (text.starts_with(open)) return false;
  }
  for (std::string_view part : kParts) {
    if (HasWord(text, part)) return false;
  }
  return true;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// The rest of the warning that `record` begins with, which has not told it yet.
bool IsRestOf(const CompileLine& record, std::string_view next) {
  if (!record.text.starts_with("torch._dynamo hit config.") || !ContinuesWarning(next))
    return false;
  const std::string_view rest = Trimmed(next, " ");
  return !Contains(record.text, rest.substr(0, rest.find(':')));
}

// torchrun logs the traceback of a function that it ran, each line behind its own head:
// "E0422 05:07:49.013000 204 torch/distributed/elastic/multiprocessing/api.py:732]   File ...".
std::string_view WithoutLaunchersHead(std::string_view text) {
  constexpr std::string_view kPlace = "torch/distributed/elastic/multiprocessing/api.py:";
  constexpr size_t kLongestHead = 120;
  const bool may_be = text.size() > 5 && text[0] == 'E' && IsDigit(text[1]) && IsDigit(text[4]);
  const size_t place = may_be ? text.substr(0, kLongestHead).find(kPlace) : std::string_view::npos;
  if (place == std::string_view::npos) return text;
  const size_t end = text.find("] ", place);
  if (end == std::string_view::npos) return text;
  const std::string_view rest = text.substr(end + 2);
  const bool of_child = rest.starts_with("  ") || rest.starts_with("Traceback (most recent") ||
                        IsNamedException(rest);
  return of_child ? rest : text;
}

}  // namespace

bool JoinLogText(std::string& text, std::string_view next) {
  const auto first = ParseCompileLine(text);
  if (!first) return false;
  const auto more = ParseCompileLine(next);
  const bool same =
      more && first->has_time() && first->head == more->head && !BeginsRecord(more->text);
  if (!same && (more || !IsRestOf(*first, next))) return false;
  const size_t longest = LongestRecord(first->artifact, first->text);
  if (text.size() >= longest) return true;
  text += '\n';
  text += (more ? more->text : next).substr(0, longest - text.size());
  return true;
}

RangeLines LineScanner::Scan(std::string_view range) {
  needs_cleaning_ = std::memchr(range.data(), '\x1b', range.size()) != nullptr ||
                    std::memchr(range.data(), '\r', range.size()) != nullptr;
  LineSplitter splitter(range);
  const bool pieces = style_.labels == LineLabels::kColon;
  for (std::string_view line; splitter.Next(line); ++result_.line_count) {
    if (style_.wrapped) {
      AddWrapped(line);
    } else if (width_.columns > 0) {
      AddRow(line);
    } else {
      Add(pieces ? JoinPieces(line) : joins_pieces_ ? JoinContainerPieces(line) : line);
    }
  }
  AddHeld();
  EndRows();
  // A line without end was cut, and goes on in the next range.
  if (!splitter.terminated() && result_.line_count > 0) --result_.line_count;
  for (size_t i = 0; i < streams_.size(); ++i) Finish(streams_[i], result_.streams[i]);
  return std::move(result_);
}

// A record of a log service may hold several lines; all have its number.
void LineScanner::AddWrapped(std::string_view record) {
  std::string& text = joined_.emplace_back();
  UnwrapLine(record, text);
  needs_cleaning_ |= text.find_first_of("\x1b\r") != std::string::npos;
  LineSplitter splitter(text);
  for (std::string_view line; splitter.Next(line);) Add(line);
}

// A row that fills the width goes on in the next one, unless that begins a line.
void LineScanner::AddRow(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  if (!row_is_full_ || BeginsLine(row, rows_, width_.is_sure)) {
    EndRows();
    first_row_ = result_.line_count;
  }
  if (rows_.size() < kMaxLook) rows_ += row;
  row_is_full_ = IsFull(row, width_);
}

// The line has the number of its first row.
void LineScanner::EndRows() {
  if (rows_.empty()) return;
  const int64_t next = std::exchange(result_.line_count, first_row_);
  Add(joined_.emplace_back(std::exchange(rows_, {})));
  result_.line_count = next;
}

// The texts of the last lines, which until now were only remembered where they stand.
void LineScanner::Finish(Stream& stream, RangeLines::Stream& result) {
  auto text_of = [&](std::string_view raw) {
    return PeelPrefixes(needs_cleaning_ ? Clean(raw) : raw.substr(0, kMaxLook), style_).text;
  };
  result.last_number = stream.last_number;
  result.last_text = text_of(stream.last).substr(0, kMaxText);
  size_t begin = stream.tail_size - std::min(stream.tail_size, kTailLines);
  for (size_t i = begin; i < stream.tail_size; ++i) {
    const auto& [number, raw] = stream.tail[i % kTailLines];
    result.tail.emplace_back(number, text_of(raw).substr(0, kMaxTail));
  }
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

// A piece that is full is held until the rest of its line comes; then empty is returned for it.
std::string_view LineScanner::JoinPieces(std::string_view raw) {
  const std::optional<LabelledLine> labelled = SplitLabel(raw);
  if (!labelled) return raw;
  auto held = held_.find(labelled->label);
  if (held == held_.end() && !labelled->goes_on()) return raw;
  if (held == held_.end()) held = held_.emplace(labelled->label, labelled->label).first;
  std::string& line = held->second;
  if (line.size() < kMaxLook) line += labelled->piece;
  if (labelled->goes_on()) return {};
  joined_.push_back(std::move(line));
  held_.erase(held);
  return joined_.back();
}

// containerd cuts lines at 16 KiB: pieces marked P, the last one F. They are held by stream.
std::string_view LineScanner::JoinContainerPieces(std::string_view raw) {
  constexpr size_t kLongestTime = 48;
  constexpr std::string_view kMark = " stdout F ";
  const std::string_view head = raw.substr(0, kLongestTime + kMark.size());
  size_t at = head.find(" stdout ");
  if (at == std::string_view::npos) at = head.find(" stderr ");
  if (at == std::string_view::npos || at + kMark.size() > raw.size()) return raw;
  const std::string_view stream = raw.substr(at, 8), tag = raw.substr(at + 8, 2);
  const bool goes_on = tag == "P ";
  if (!goes_on && tag != "F ") return raw;
  auto held = held_.find(stream);
  if (held == held_.end() && !goes_on) return raw;
  if (held == held_.end())
    held = held_.emplace(stream, std::string(raw.substr(0, at + 8)) + "F ").first;
  std::string& line = held->second;
  if (line.size() < kMaxLook) line += raw.substr(at + kMark.size());
  if (goes_on) return {};
  joined_.push_back(std::move(line));
  held_.erase(held);
  return joined_.back();
}

// What the range ended in.
void LineScanner::AddHeld() {
  if (held_.empty()) return;
  --result_.line_count;
  for (auto& [label, line] : held_) Add(joined_.emplace_back(std::move(line)));
  ++result_.line_count;
  held_.clear();
}

// Can it be the exception that ends a traceback? In torchrun's list that is indented, in an
// exception group it stands behind bars.
bool LineScanner::MayEndTraceback(LineClass what, std::string_view text, Stream& stream) const {
  const bool lists =
      what == LineClass::kFailureField && Contains(text, "traceback : Traceback (most recent");
  if (what == LineClass::kTraceback || what == LineClass::kFrame || lists) {
    stream.may_end = true;
    stream.listed |= lists;
    return false;
  }
  if (!stream.may_end) return false;
  std::string_view bare = WithoutBars(text);
  if (stream.listed && bare.size() == text.size() && text.starts_with("  ")) bare.remove_prefix(2);
  if (bare.empty() || IsIndented(bare) || !LooksLikeException(bare)) return false;
  stream.may_end = stream.listed = false;
  return true;
}

// A logger prints an exception at once, and only its first line has a head: what follows an error
// without one is of the same rank.
void LineScanner::GiveToRecord(PeeledLine& line) {
  if (line.rank != kNone32) {
    record_rank_ = line.is_error ? line.rank : kNone32;
  } else if (line.local_rank == kNone32 && line.pid == kNone64) {
    line.rank = record_rank_;
  }
}

void LineScanner::Add(std::string_view raw) {
  const std::string_view whole = needs_cleaning_ ? Clean(raw) : raw.substr(0, kMaxLook);
  PeeledLine line = PeelPrefixes(whole, style_);
  if (style_.rank_heads) GiveToRecord(line);
  line.text = WithoutLaunchersHead(line.text);
  std::string_view text = line.text;
  const auto& stamp = line.logged ? line.logged : line.kept;
  if (stamp && line.time_ns == kNone64) line.time_ns = GuessTime(*stamp, now_ns_);
  if (text.empty() || (IsIndented(text) && IsBlank(text))) return;
  result_.weights.Add(raw, text);
  if (result_.connected < 0 && IsConnected(text)) result_.connected = result_.line_count;
  uint32_t index = StreamOf(OwnerOf(line));
  Stream& stream = streams_[index];
  stream.last = raw;
  stream.last_number = result_.line_count;
  LineClass what = Classify(text);
  bool ends = MayEndTraceback(what, text, stream);
  bool keep = std::exchange(stream.keep_next, GoesOnInNextLine(text)) || ends ||
              (line.raised && IsNamedException(text));
  bool joined = what == LineClass::kTorchLog && stream.log != 0 &&
                JoinLogText(result_.lines[stream.log - 1].text, text);
  if (joined) ++result_.lines[stream.log - 1].joined;
  if (!joined && (what != LineClass::kOther || keep)) Keep(what, index, line);
  if (what == LineClass::kTraceback)
    AddStep(whole.substr(0, whole.find("Traceback")), line.time_ns, index);  // the bar before it
  if (what == LineClass::kOther || what == LineClass::kNormalEnd)
    AddPlain(raw, line, stream, index);
  if (!result_.streams[index].owner.IsNobody()) result_.last_marked = index;
  result_.at_top = result_.at_top && IsIndented(text);
}

bool LineScanner::AddStep(std::string_view text, int64_t time_ns, uint32_t index) {
  const auto progress = ParseProgress(text);
  if (!progress) return false;
  const int64_t time = TimeAtStart(Trimmed(text, " "), now_ns_);
  result_.progress.push_back(
      {index, result_.line_count, time != kNone64 ? time : time_ns, *progress});
  return true;
}

// A step of the training loop, or a line that may say what the rank did last.
void LineScanner::AddPlain(std::string_view raw, const PeeledLine& line, Stream& stream,
                           uint32_t index) {
  if (AddStep(line.text, line.time_ns, index) || !IsTelling(line.text)) return;
  stream.tail[stream.tail_size++ % kTailLines] = {result_.line_count, raw};
}

Owner LineScanner::OwnerOf(const PeeledLine& line) {
  Owner owner{line.rank, line.local_rank, line.pid, 0, line.engine.Pack()};
  if (line.host.empty()) return owner;
  auto found = hosts_.find(line.host);
  if (found == hosts_.end()) {
    result_.hosts.emplace_back(line.host);
    found = hosts_.emplace(line.host, static_cast<uint32_t>(result_.hosts.size())).first;
  }
  owner.host = found->second;
  return owner;
}

uint32_t LineScanner::StreamOf(const Owner& owner) {
  if (!streams_.empty() && owner == last_owner_) return last_stream_;
  auto [found, is_new] = by_owner_.try_emplace(owner, static_cast<uint32_t>(streams_.size()));
  if (is_new) {
    streams_.emplace_back();
    result_.streams.push_back({.owner = owner, .last_text = {}, .tail = {}});
  }
  last_owner_ = owner;
  last_stream_ = found->second;
  return last_stream_;
}

void LineScanner::Keep(LineClass what, uint32_t stream, const PeeledLine& line) {
  // An error file is one line, and its stack stands at the end.
  const size_t most = what == LineClass::kErrorFile ? kMaxLook : kMaxText;
  result_.lines.push_back({.what = what,
                           .stream = stream,
                           .number = result_.line_count,
                           .time_ns = line.time_ns,
                           .raised = line.raised,
                           .logged = line.logged.has_value(),
                           .at_top = result_.at_top,
                           .after = result_.last_marked,
                           .text = std::string(line.text.substr(0, most))});
  if (what == LineClass::kTorchLog) streams_[stream].log = result_.lines.size();
}

}  // namespace debrief::inputs::job_text
