// Tracebacks, and how one exception belongs to another: what wraps a second one says little, and
// the inner one is what happened. Python and PyTorch print such pairs in several ways:
//
//   The above exception was the direct cause of ...     the first one is the reason
//   During handling of the above exception, ...         the second one is
//   ValueError: Caught ValueError in DataLoader worker  the traceback inside of the message is
//   Original Traceback (most recent call last):
//   BackendCompilerFailed: backend='inductor' raised:   the next line is
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text/strings.h"
#include "inputs/job_text/error_file.h"
#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/line_texts.h"
#include "inputs/job_text/lines/device_details.h"
#include "inputs/job_text/lines/engine_lines.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "torch/end_signs.h"

namespace debrief::inputs::job_text {

namespace {

// Between an exception and the line below it that says why.
constexpr std::string_view kLastErrorMark = "\nLast error: ";

bool IsSyntaxError(std::string_view text) {
  return text.starts_with("SyntaxError") || text.starts_with("IndentationError") ||
         text.starts_with("TabError");
}

// The exception in a stack of text that says why, and its frame: that inside of the message, or the
// one that was the direct cause.
struct RootException {
  std::string_view text;
  std::string_view file;
  int32_t line = kNone32;
  bool is_user = false;
};
RootException RootOf(std::string_view stack) {
  RootException root, open;
  bool inside = false;
  while (!stack.empty()) {
    std::string_view one = FirstLine(stack);
    stack.remove_prefix(std::min(one.size() + 1, stack.size()));
    LineClass what = ClassOfTracebackLine(one);
    if (what == LineClass::kDirectCause || (inside && what == LineClass::kTraceback)) break;
    if (what == LineClass::kTraceback) {
      inside = IsInsideMessage(one);
      open = {};
    } else if (auto frame = MayBeFrame(one) ? ParseFrame(one) : std::nullopt) {
      bool better = frame->IsUser() || !open.is_user;
      if (better) open = {{}, frame->file, frame->line, frame->IsUser()};
    } else if (!open.file.empty() && LooksLikeException(one)) {
      root = std::exchange(open, {});
      root.text = one;
    }
  }
  return root.text.empty() ? open : root;
}

}  // namespace

// error.json: {"message": {"message": "OSError: ...", "extraInfo": {"py_callstack": "..."}}}
void EventBuilder::AddErrorFile(const Line& line, uint32_t index, int64_t number) {
  auto error = ParseErrorFile(line.text);
  if (!error) return;
  RootException root = RootOf(error->stack);
  std::string_view text = root.text.empty() ? std::string_view(error->message) : root.text;
  size_t event = Emit("traceback", index, number, text);
  if (event == kNothing) return;
  events_[event].row.time_ns = error->time_ns;
  FillPlace({std::string(root.file), root.line, root.is_user}, events_[event].row);
  ExitStatement exit{.said_by = "rank", .ranks = {}, .host = {}, .exit_code = 1};
  ProcessRows::Where where{streams_[index].owner, number, error->time_ns};
  rows_.AddExit(exit, where, CutText(error->message), *pools_);
}

void EventBuilder::BeginTraceback(const Line& line, uint32_t index, int64_t number) {
  EndTraceback(index, {});
  Stream& stream = streams_[index];
  Link link = std::exchange(stream.next, Link::kNone);
  if (IsInsideMessage(line.text)) link = Link::kInsideOf;
  const uint32_t other = std::exchange(stream.next_stream, Line::kNoStream);
  const bool fatal = std::exchange(stream.fatal_follows, false) || IsFatalHead(line.text);
  if (IsFatalHead(line.text))
    serving_.Add({.what = EngineWhat::kFatal}, number, line.time_ns, stream.owner,
                 CutText(line.text), *pools_);
  stream.answers = link == Link::kIgnored;
  stream.traceback_line = number;
  const int64_t time_ns = TimeOf(line.text);
  stream.traceback = {.number = number,
                      .time_ns = time_ns != kNone64 ? time_ns : line.time_ns,
                      .place = {},
                      .raised = line.raised || fatal,
                      .logged = line.logged && !fatal,
                      .fatal = fatal,
                      .last = line.text,
                      .link = link,
                      .stream = other == Line::kNoStream ? index : other};
}

// Python prints no header before the place of a syntax error; and a log that was rotated or cut
// lacks that of its first traceback.
void EventBuilder::BeginHeadless(const Line& line, uint32_t index, int64_t number) {
  const bool of_syntax = !line.text.empty() && IsDigit(line.text.back());
  // Stacks of faulthandler say "line 3 in f", innermost first.
  if (!of_syntax && !Contains(line.text, ", in ")) return;
  BeginTraceback(line, index, number);
  streams_[index].traceback.headless = number;
}

// Is it the exception of a traceback of which nothing else is left? What PyTorch marks was caught
// by nobody; without marks it stands at the top, below lines of source at most.
bool EventBuilder::IsCutBefore(const Line& line, uint32_t index) const {
  const Stream& stream = streams_[index];
  const bool at_top = line.at_top && at_top_;
  const bool first = stream.last_exception == kNothing && stream.traceback.number == 0;
  return first && (line.raised || at_top) && line.what == LineClass::kOther &&
         IsNamedException(line.text);
}

// Without its head, a stack may be one that a program printed while it went on: then no exception
// stands right below the last frame and its line of source. Lines of several ranks alternate.
bool EventBuilder::MayEnd(const Traceback& traceback, std::string_view text, int64_t number) const {
  // "Failures:" of a launcher's list
  if (text.ends_with(':') && !IsNamedException(text)) return false;
  if (traceback.headless == 0 || IsSyntaxError(text)) return true;
  constexpr int64_t kNear = 4, kNearWithMarks = 100;
  const bool marked = !streams_[traceback.stream].owner.IsNobody();
  return IsNamedException(text) && number - traceback.headless <= (marked ? kNearWithMarks : kNear);
}

void EventBuilder::AddFrame(const Line& line, uint32_t index, int64_t number) {
  auto frame = ParseFrame(line.text);
  if (!frame) return;
  Place place{std::string(frame->file), frame->line, frame->IsUser()};
  const bool wanted = streams_[index].fatal != kNothing && streams_[index].in_current_thread;
  const bool code = streams_[index].user_code != kNothing;
  if (streams_[index].traceback.number == 0 && !wanted && !code) BeginHeadless(line, index, number);
  Stream& stream = streams_[index];
  if (stream.traceback.number != 0) {
    const bool is_first = stream.traceback.place.file.empty();
    stream.traceback.whole |= is_first && line.text.ends_with(", in <module>");
    stream.traceback.of_child |= is_first && line.text.ends_with(", in _bootstrap");
    bool better = place.is_user || !stream.traceback.place.is_user;
    if (better) stream.traceback.place = std::move(place);
    stream.traceback.last = line.text;
    if (stream.traceback.headless != 0) stream.traceback.headless = number;
  } else if (code) {
    FillPlace(place, events_[stream.user_code].row);
  } else if (wanted) {  // a fatal error lists the innermost frame first
    TextEventRow& row = events_[stream.fatal].row;
    if (place.is_user || row.file == StringId::kNone) FillPlace(place, row);
    if (place.is_user) stream.fatal = kNothing;
  }
}

// Without `text` the traceback is cut off, and its last line stands for the exception.
void EventBuilder::EndTraceback(uint32_t index, std::string_view text) {
  Traceback traceback = std::exchange(streams_[index].traceback, {});
  bool none = traceback.number == 0 || traceback.link == Link::kIgnored ||
              (text.empty() && (traceback.headless != 0 || traceback.listed));
  if (none) return;
  size_t event =
      Emit("traceback", traceback.stream, traceback.number, text.empty() ? traceback.last : text);
  if (event == kNothing) return;
  TextEventRow& row = events_[event].row;
  row.time_ns = traceback.time_ns;
  row.of_thread = traceback.link == Link::kOfThread ? 1 : 0;
  events_[event].logged = traceback.logged;
  events_[event].fatal = traceback.fatal;
  events_[event].whole = traceback.whole;
  events_[event].of_child = traceback.of_child;
  FillPlace(traceback.place, row);
  size_t before = std::exchange(streams_[index].last_exception, event);
  if (before != kNothing) LinkException(traceback, before, event);
  if (before != kNothing && traceback.link == Link::kInsideOf)
    streams_[index].last_exception = before;
  if (GoesOnInNextLine(text)) streams_[index].continued = event;
  if (!text.empty()) AddExitOfException(traceback, index, text);
}

void EventBuilder::LinkException(const Traceback& traceback, size_t before, size_t event) {
  TextEventRow& first = events_[before].row;
  TextEventRow& second = events_[event].row;
  std::string_view text = pools_->Text(second.text);
  switch (traceback.link) {
    case Link::kRaisedFrom:
      // That a command failed says less than what it was for: "Error building extension 'x'".
      if (!Contains(pools_->Text(first.text), "CalledProcessError")) second.cause_line = first.line;
      return;
    case Link::kReplaces:
      // What failed while it was handled may only follow from the end of a peer, or from a file
      // that is closed after a write to it had failed.
      if (IsTeardown(text) || IsAboutAPeer(text) || Contains(text, ". unexpected pos ")) {
        second.cause_line = first.line;
      } else {
        first.cause_line = second.line;
      }
      return;
    case Link::kInsideOf:  // of several the first
      if (first.cause_line == kNone64) first.cause_line = second.line;
      return;
    default:
      return;
  }
}

// The interpreter ends with code 1; what only tells of a peer's end is told by that.
void EventBuilder::AddExitOfException(const Traceback& traceback, uint32_t index,
                                      std::string_view text) {
  bool own = traceback.raised && !traceback.listed && traceback.link != Link::kInsideOf &&
             traceback.link != Link::kOfThread;
  if (!own || text.starts_with("KeyboardInterrupt") || IsTeardown(text)) return;
  ExitStatement exit{.said_by = "rank", .ranks = {}, .host = {}, .exit_code = 1};
  rows_.AddExit(exit, {streams_[index].owner, traceback.number, traceback.time_ns}, CutText(text),
                *pools_);
}

// The traceback that follows is of a process that the speaker started.
void EventBuilder::AddSpawned(const Line& line, uint32_t index, int64_t number) {
  const int64_t pid = NumberAfter(line.text, "(pid=");
  if (pid != kNone64) {  // of Ray: the frames follow without a head
    EndTraceback(index, line.text);
    const uint32_t of_actor = StreamOf({.pid = pid});
    streams_[index].next = Link::kInsideOf;
    streams_[index].next_stream = of_actor;
    return BeginTraceback(line, index, number);
  }
  EndTraceback(index, {});
  // torch_xla: "Exception in device=TPU:6: RESOURCE_EXHAUSTED: ..."
  const bool of_device = line.text.starts_with("Exception in device=");
  if (!of_device) streams_[index].next = Link::kInsideOf;
  const int32_t local_rank = SmallNumberAfter(line.text, of_device ? "TPU:" : "-- Process ");
  if (local_rank == kNone32) return;
  const Owner owner{.local_rank = local_rank, .host = streams_[index].owner.host};
  const uint32_t of_process = StreamOf(owner);
  streams_[index].next_stream = of_process;
}

// The rest of an exception: what its wrapper raised it for, or NCCL's last error.
void EventBuilder::Continue(const Line& line, uint32_t index, int64_t number) {
  const size_t event = std::exchange(streams_[index].continued, kNothing);
  const std::string text(pools_->Text(events_[event].row.text));
  if (text.ends_with(" raised:") && LooksLikeException(line.text)) {
    const size_t inner = Emit("traceback", events_[event].stream, number, line.text);
    if (inner == kNothing) return;
    TextEventRow& row = events_[inner].row;
    row.file = events_[event].row.file;
    row.file_line = events_[event].row.file_line;
    events_[event].row.cause_line = number;
    streams_[index].last_exception = inner;
    return;
  }
  const bool listed = Trimmed(text).ends_with(':') && line.text.find_first_of(" \t") == 0;
  const std::string_view more = Trimmed(line.text);
  const bool bare = Trimmed(text).find(' ') == std::string_view::npos;  // the whole message follows
  const bool goes_on = bare && !more.empty() && IsAlphanumeric(more.back());
  if (listed)
    events_[event].row.text =
        pools_->Intern(CutText(fmt::format("{} {}{}", Trimmed(text), more, goes_on ? "..." : "")));
  if (!Contains(text, "NCCL error") || Contains(text, kLastErrorMark)) return;
  events_[event].row.text =
      pools_->Intern(CutText(fmt::format("{}{}{}", text, kLastErrorMark, line.text)));
}

// What a runtime prints below an exception says why, and perhaps whose it is.
void EventBuilder::AddDetail(const Line& line, uint32_t index, int64_t number) {
  constexpr int64_t kNear = 8;  // lines
  const size_t event = streams_[index].last_exception;
  const auto detail = ParseDeviceDetail(line.text);
  if (event == kNothing || !detail || number - last_end_ > kNear) return;
  TextEventRow& row = events_[event].row;
  if (row.rank == kNone32 && streams_[index].owner.IsNobody()) row.rank = detail->rank;
  const std::string_view text = pools_->Text(row.text);
  if (detail->reason.empty() || Contains(text, kLastErrorMark)) return;
  row.text = pools_->Intern(CutText(fmt::format("{}{}{}", text, kLastErrorMark, detail->reason)));
}

// Composer prints the outputs of its processes when one has failed, without marks.
uint32_t EventBuilder::OwnerOfBlock(const Line& line, uint32_t index) {
  if (line.what == LineClass::kBlock) block_rank_ = RankOfBlock(line.text);
  if (block_rank_ == kNone32) return index;
  const Owner owner{.rank = block_rank_, .host = streams_[index].owner.host};
  return StreamOf(owner);
}

// What ends a process is said once, or twice by who logs it and raises it again.
void EventBuilder::CountTimes() {
  using What = std::tuple<int32_t, StringId, StringId, StringId, int32_t>;
  auto what = [](const TextEventRow& row) {
    return What{row.rank, row.kind, row.text, row.file, row.file_line};
  };
  std::map<What, int32_t> times;
  for (const Event& event : events_) ++times[what(event.row)];
  for (Event& event : events_) event.row.times = times[what(event.row)];
}

}  // namespace debrief::inputs::job_text
