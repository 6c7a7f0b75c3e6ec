#include "inputs/job_text/event_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/job_text/line_texts.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "inputs/job_text/lines/replicas.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMaxEvents = size_t{1} << 18;
constexpr size_t kMaxStreams = size_t{1} << 17;
constexpr size_t kMaxTimeouts = 16;

// "Reason:       OOMKilled", of a container.
std::optional<std::string> ReasonOfPod(std::string_view text) {
  text = Trimmed(text);
  constexpr std::string_view kKey = "Reason:";
  if (!text.starts_with(kKey)) return std::nullopt;
  return std::string(Trimmed(text.substr(kKey.size())));
}

// In a traceback: a line of source, or the exception of Python's own sockets. PyTorch's store
// raises others.
bool IsOfTheProgram(bool in_traceback, std::string_view text) {
  return in_traceback && (text.starts_with(' ') || text.starts_with("ConnectionResetError") ||
                          text.starts_with("BrokenPipeError"));
}

// As a launcher spells it, else as programs do. 0 is a normal end.
int32_t CodeOfExit(std::string_view text) {
  auto exit = ParseExit(text);
  if (exit && exit->exit_code != kNone32) return exit->exit_code;
  return ParseExitCode(text);
}

}  // namespace

void EventBuilder::Add(const RangeLines& range, Part& whole) {
  pools_ = &whole.pools;
  std::vector<uint32_t> ids;
  ids.reserve(range.streams.size());
  for (const RangeLines::Stream& stream : range.streams) {
    Owner owner = stream.owner;
    if (owner.host != 0) {
      auto size = static_cast<uint32_t>(hosts_.size());
      owner.host = hosts_.try_emplace(range.hosts[owner.host - 1], size + 1).first->second;
    }
    ids.push_back(StreamOf(owner));
    streams_[ids.back()].last_number = lines_before_ + stream.last_number + 1;
    streams_[ids.back()].last_text = stream.last_text;
    AddTail(stream, streams_[ids.back()]);
  }
  for (const Line& line : range.lines) {
    uint32_t before = line.after == Line::kNoStream ? last_marked_ : ids[line.after];
    uint32_t index = ids[line.stream];
    const int64_t number = lines_before_ + line.number + 1;
    const bool unmarked = before != Line::kNoStream && streams_[index].owner.IsNobody();
    const bool continues = unmarked && IsContinuation(line) && who_.rank == kNone32;
    if (continues || (unmarked && ContinuesRecord(line, before, number))) index = before;
    if (streams_[index].owner.IsNobody()) index = OwnerOfBlock(line, index);
    AddLine(line, index, number);
  }
  for (const ProgressAt& each : range.progress) {
    const bool served =
        each.line.step == kNone64 && !each.line.has_loss && each.line.throughput > 0;
    if (served) serving_.AddServed(lines_before_ + each.number + 1);
    rows_.AddProgress(
        each.line,
        {streams_[ids[each.stream]].owner, lines_before_ + each.number + 1, each.time_ns}, *pools_);
  }
  weights_.Join(range.weights);
  if (connected_ == 0 && range.connected >= 0) connected_ = lines_before_ + range.connected + 1;
  if (range.last_marked != Line::kNoStream) last_marked_ = ids[range.last_marked];
  lines_before_ += range.line_count;
  at_top_ = at_top_ && range.at_top;
}

void EventBuilder::AddTail(const RangeLines::Stream& from, Stream& stream) const {
  for (const auto& [number, text] : from.tail)
    stream.tail.emplace_back(lines_before_ + number + 1, text);
  if (stream.tail.size() > kTailLines)
    stream.tail.erase(stream.tail.begin(), stream.tail.end() - kTailLines);
}

uint32_t EventBuilder::StreamOf(const Owner& owner) {
  auto found = by_owner_.find(owner);
  if (found != by_owner_.end()) return found->second;
  Owner kept = streams_.size() < kMaxStreams ? owner : Owner{};
  auto [entry, is_new] = by_owner_.try_emplace(kept, static_cast<uint32_t>(streams_.size()));
  if (is_new) streams_.emplace_back().owner = kept;
  return entry->second;
}

void EventBuilder::AddLine(const Line& line, uint32_t index, int64_t number) {
  line_time_ns_ = line.time_ns;
  line_logged_ = line.logged;
  if (streams_[index].continued != kNothing) Continue(line, index, number);
  AddProcess(line, index, number);
  if (line.what != LineClass::kStackFrame && line.what != LineClass::kOther &&
      line.what != LineClass::kNccl)
    stack_of_.reset();
  if (line.what != LineClass::kFrame) streams_[index].user_code = kNothing;
  if (IsCutBefore(line, index)) BeginTraceback(line, index, number);
  const Traceback& open = streams_[index].traceback;
  std::string_view text = WithoutBars(line.text);
  if (open.listed && text.starts_with("  ")) text.remove_prefix(2);
  bool ends = open.number != 0 && LooksLikeException(text);
  if (ends && !MayEnd(open, text, number)) {
    EndTraceback(index, {});
    ends = false;
  }
  Place place = open.place;
  bool of_thread = open.link == Link::kOfThread;
  bool ignored = ends && open.link == Link::kIgnored;
  const bool logged = open.logged;
  const bool fatal = open.fatal;
  const bool unmarked = open.link == Link::kNone && !open.raised && !open.fatal &&
                        open.headless == 0 && !open.listed && !logged;
  const size_t known = events_.size();
  if (ends) EndTraceback(index, text);
  if (ends) last_end_ = number;
  if (ends && events_.size() > known) {
    events_.back().end = number;
    events_.back().unmarked = unmarked;
  }
  if (ignored) return;
  if (line.what == LineClass::kStoreError && IsOfTheProgram(open.number != 0 || ends, line.text))
    return;
  size_t before = events_.size();
  AddSingle(line, index, number);
  if (!ends || events_.size() == before) return;
  FillPlace(place, events_[before].row);
  events_[before].row.of_thread = of_thread ? 1 : 0;
  events_[before].logged = logged;
  events_[before].fatal = fatal;
}

void EventBuilder::AddSingle(const Line& line, uint32_t index, int64_t number) {
  Stream& stream = streams_[index];
  switch (line.what) {
    case LineClass::kOther:
      return;
    case LineClass::kTraceback:
      return BeginTraceback(line, index, number);
    case LineClass::kFrame:
      return AddFrame(line, index, number);
    case LineClass::kTorchLog:
      return AddLog(line, index, number);
    case LineClass::kFailureField:
      return AddFailureField(line.text, index, number);
    case LineClass::kStackHeader:
      return BeginStack(index);
    case LineClass::kStackFrame:
      return AddStackFrame(line.text);
    case LineClass::kReason:
      return AddReason(line.text, index);
    case LineClass::kCurrentThread:
      stream.in_current_thread = true;
      return;
    case LineClass::kErrorFile:
      return AddErrorFile(line, index, number);
    case LineClass::kDirectCause:
      EndTraceback(index, {});
      stream.next = stream.answers ? Link::kIgnored : Link::kRaisedFrom;
      return;
    case LineClass::kWhileHandled:
      EndTraceback(index, {});
      stream.next = stream.answers ? Link::kIgnored : Link::kReplaces;
      return;
    case LineClass::kOfThread:
    case LineClass::kIgnored:
      EndTraceback(index, {});
      stream.next = line.what == LineClass::kIgnored ? Link::kIgnored : Link::kOfThread;
      return;
    case LineClass::kEngine:
      return AddEngine(line, index, number);
    case LineClass::kSpawned:
      return AddSpawned(line, index, number);
    case LineClass::kUserCode:
      if (stream.traceback.headless != 0) stream.traceback = {};
      stream.user_code = stream.last_exception;
      return;
    case LineClass::kLastError:
      stream.continued = stream.last_exception;
      return;
    case LineClass::kDetail:
      return AddDetail(line, index, number);
    case LineClass::kIdentity:
    case LineClass::kReplica:
    case LineClass::kNccl:
    case LineClass::kRootCause:
    case LineClass::kRestOfExit:
    case LineClass::kPodName:
    case LineClass::kBlock:
      return;
    case LineClass::kNoStart:
      return AddNoStart(line, index, number);
    case LineClass::kPodEvent:
      return AddPodEvent(line, index, number);
    case LineClass::kDeviceAssert:  // one per thread of a kernel: the first says it all
      if (stream.device_assert == kNothing)
        stream.device_assert = Emit("device_assert", index, number, line.text);
      return;
    default:
      break;
  }
  size_t event = Emit(KindOf(line.what), index, number, line.text);
  if (event == kNothing) return;
  if (line.what == LineClass::kTerminate) {
    stream.terminate = event;
    if (IsTeardown(line.text))
      events_[event].row.kind = pools_->Intern(KindOf(LineClass::kTeardown));
  }
  if (line.what == LineClass::kWatchdogStatus) JoinGroup(index, event);
  const bool failed_work = line.what == LineClass::kNcclError && events_[event].row.seq != kNone64;
  if (line.what == LineClass::kWatchdogTimeout || failed_work) {
    if (stream.timeouts.size() == kMaxTimeouts) stream.timeouts.erase(stream.timeouts.begin());
    stream.timeouts.push_back(event);
  }
  if (line.what == LineClass::kSignal && line.text.starts_with("Fatal Python error")) {
    stream.fatal = event;
    stream.in_current_thread = false;
  }
}

size_t EventBuilder::Emit(std::string_view kind, uint32_t index, int64_t number,
                          std::string_view text) {
  if (events_.size() >= kMaxEvents) {
    ++dropped_;
    return kNothing;
  }
  Event& event = events_.emplace_back();
  event.stream = index;
  event.logged = line_logged_;
  event.row = Part::RowOf<TextEventRow>(who_);
  event.row.rank = ParseTask(text);
  event.row.input = who_.input;
  event.row.line = number;
  event.row.kind = pools_->Intern(kind);
  event.row.text = pools_->Intern(CutText(text));
  FillFromText(text, event.row);
  if (kind == "exit") event.row.exit_code = CodeOfExit(text);
  if (kind == "signal" || kind == "stopping") event.row.exit_code = ParseSignal(text);
  constexpr std::string_view kAt = "CANCELLED AT ";
  if (size_t at = text.find(kAt); kind == "scheduler" && at != std::string_view::npos)
    event.row.time_ns = ParseIsoTime(text.substr(at + kAt.size()));
  if (event.row.time_ns == kNone64) event.row.time_ns = line_time_ns_;
  return events_.size() - 1;
}

ProcessRows::Where EventBuilder::WhereOf(const Line& line, uint32_t index, int64_t number) const {
  int64_t time = TimeOf(line.text);
  return {streams_[index].owner, number, time != kNone64 ? time : line.time_ns};
}

// Whatever the line says of the end or the name of a process.
void EventBuilder::AddProcess(const Line& line, uint32_t index, int64_t number) {
  Stream& stream = streams_[index];
  switch (line.what) {
    case LineClass::kIdentity:
      if (auto identity = ParseIdentity(line.text)) {
        rows_.AddIdentity(*identity, WhereOf(line, index, number), *pools_);
        nccl_.AddSetUp(*identity, line.text, *pools_);
      }
      return;
    case LineClass::kNccl:
      if (auto said = ParseNcclLine(line.text)) nccl_.Add(*said, number, *pools_);
      return;
    case LineClass::kReplica:
      if (auto replica = ParseReplica(line.text))
        rows_.AddReplica(*replica, WhereOf(line, index, number), *pools_);
      return;
    case LineClass::kRootCause:
      stream.root_cause = true;
      return rows_.AddSummary(number);
    case LineClass::kRestOfExit:
      return rows_.EndExit(ParseRestOfExit(line.text));
    case LineClass::kPodName:
      stream.pod = Trimmed(std::string_view(line.text).substr(5));
      return;
    case LineClass::kExit:
    case LineClass::kSignal:
    case LineClass::kStopping:
    case LineClass::kOutOfMemory:
    case LineClass::kSpawned:
      break;
    default:
      return;
  }
  if (auto reason = ReasonOfPod(line.text)) stream.pod_reason = *reason;
  auto exit = ParseExit(line.text);
  bool fatal = line.text.starts_with("Fatal Python error");
  if (!exit && fatal)
    exit = ExitStatement{
        .said_by = "rank", .ranks = {}, .host = {}, .exit_code = ParseSignal(line.text)};
  if (!exit && line.what == LineClass::kExit)
    exit = ExitStatement{.said_by = "rank",
                         .how = "unknown",
                         .ranks = {},
                         .host = {},
                         .exit_code = WithoutShell(ParseExitCode(line.text))};
  if (exit && exit->said_by == "kubernetes") return AddPodExit(*exit, line, index, number);
  if (exit) rows_.AddExit(*exit, WhereOf(line, index, number), CutText(line.text), *pools_);
}

// Why it ended stands in a line before.
void EventBuilder::AddPodExit(ExitStatement exit, const Line& line, uint32_t index,
                              int64_t number) {
  Stream& stream = streams_[index];
  if (exit.host.empty()) exit.host = stream.pod;
  std::string text(Trimmed(line.text));
  if (!stream.pod_reason.empty()) text += fmt::format(" ({})", stream.pod_reason);
  rows_.AddExit(exit, WhereOf(line, index, number), CutText(text), *pools_);
  stream.pod_reason.clear();
}

// Whatever of group, work and time the line tells.
void EventBuilder::FillFromText(std::string_view text, TextEventRow& row) {
  row.time_ns = TimeOf(text);
  if (auto group = ParseGroup(text)) {
    row.group_name = Word(group->name);
    row.group_desc = Word(group->desc);
  }
  if (size_t work = text.find("WorkNCCL("); work != std::string_view::npos) {
    std::string_view rest = text.substr(work);
    row.seq = NumberAfter(rest, "SeqNum=");
    row.timeout_ms = NumberAfter(rest, "Timeout(ms)=");
    row.ran_ms = NumberAfter(rest, "ran for ");
    constexpr std::string_view kOp = "OpType=";
    if (size_t op = rest.find(kOp); op != std::string_view::npos) {
      op += kOp.size();
      size_t end = std::min(rest.find_first_of(",)", op), rest.size());
      row.op = Word(rest.substr(op, end - op));
    }
  }
  auto first_of = [&](std::initializer_list<std::string_view> keys) {
    int64_t number = kNone64;
    for (std::string_view key : keys) {
      if (number == kNone64) number = NumberAfter(text, key);
    }
    return number;
  };
  if (row.seq == kNone64)
    row.seq = first_of({"work sequence id: ", "Timeout at NCCL work: ", "watchdog at work: "});
  row.last_enqueued = first_of({"ast enqueued work: ", "ast enqueued NCCL work: "});
  row.last_completed = first_of({"ast completed work: ", "ast completed NCCL work: "});
}

StringId EventBuilder::Word(std::string_view text) {
  return text.empty() ? StringId::kNone : pools_->Intern(text);
}

void EventBuilder::FillPlace(const Place& place, TextEventRow& row) {
  row.file = Word(place.file);
  row.file_line = place.line;
}

int64_t EventBuilder::TimeOf(std::string_view text) const { return TimeAtStart(text, now_ns_); }

}  // namespace debrief::inputs::job_text
