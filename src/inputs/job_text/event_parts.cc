// Events that take several lines: tracebacks, stacks of collectives, entries of torchrun's list,
// messages of the compiler, C++ exceptions, error files.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/job_text/error_file.h"
#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/line_texts.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMaxWaiting = 16;

}  // namespace

// error.json: {"message": {"message": "OSError: ...", "extraInfo": {"py_callstack": "..."}}}
void EventBuilder::AddErrorFile(const Line& line, uint32_t index, int64_t number) {
  auto error = ParseErrorFile(line.text);
  if (!error) return;
  Place place;
  for (std::string_view rest = error->stack; !rest.empty();) {
    std::string_view one = FirstLine(rest);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    auto frame = ParseFrame(one);
    bool better = frame && (frame->IsUser() || !place.is_user);
    if (better) place = {std::string(frame->file), frame->line, frame->IsUser()};
  }
  size_t event = Emit("traceback", index, number, error->message);
  if (event == kNothing) return;
  events_[event].row.time_ns = error->time_ns;
  FillPlace(place, events_[event].row);
  ExitStatement exit{.said_by = "rank", .ranks = {}, .host = {}, .exit_code = 1};
  ProcessRows::Where where{streams_[index].owner, number, error->time_ns};
  rows_.AddExit(exit, where, CutText(error->message), *pools_);
}

void EventBuilder::BeginTraceback(const Line& line, uint32_t index, int64_t number) {
  EndTraceback(index, {});
  streams_[index].traceback = {.number = number,
                               .time_ns = TimeOf(line.text),
                               .place = {},
                               .raised = line.raised,
                               .last = line.text};
}

void EventBuilder::AddFrame(const Line& line, uint32_t index) {
  Stream& stream = streams_[index];
  auto frame = ParseFrame(line.text);
  if (!frame) return;
  if (stream.traceback.number != 0) {
    Place& place = stream.traceback.place;
    bool better = frame->IsUser() || !place.is_user;
    if (better) place = {std::string(frame->file), frame->line, frame->IsUser()};
    stream.traceback.last = line.text;
    return;
  }
  // A fatal error lists the innermost frame first.
  bool wanted = stream.fatal != kNothing && stream.in_current_thread;
  if (!wanted) return;
  TextEventRow& row = events_[stream.fatal].row;
  if (frame->IsUser() || row.file == StringId::kNone)
    FillPlace({std::string(frame->file), frame->line, frame->IsUser()}, row);
  if (frame->IsUser()) stream.fatal = kNothing;
}

// Without `text` the traceback is cut off, and its last line stands for the exception.
void EventBuilder::EndTraceback(uint32_t index, std::string_view text) {
  Traceback traceback = std::exchange(streams_[index].traceback, {});
  if (traceback.number == 0) return;
  size_t event = Emit("traceback", index, traceback.number, text.empty() ? traceback.last : text);
  if (event == kNothing) return;
  events_[event].row.time_ns = traceback.time_ns;
  FillPlace(traceback.place, events_[event].row);
  // The interpreter ends with code 1; what only tells of a peer's end is told by that.
  bool interrupted = text.starts_with("KeyboardInterrupt");
  if (!traceback.raised || text.empty() || interrupted || IsTeardown(text)) return;
  ExitStatement exit{.said_by = "rank", .ranks = {}, .host = {}, .exit_code = 1};
  rows_.AddExit(exit, {streams_[index].owner, traceback.number, traceback.time_ns}, CutText(text),
                *pools_);
}

// The line of a timeout often does not tell the group; the status that follows does.
void EventBuilder::JoinGroup(uint32_t index, size_t status) {
  Stream& stream = streams_[index];
  const TextEventRow& from = events_[status].row;
  auto same = std::find_if(stream.timeouts.begin(), stream.timeouts.end(),
                           [&](size_t timeout) { return events_[timeout].row.seq == from.seq; });
  size_t timeout = same == stream.timeouts.end() ? kNothing : *same;
  if (stream.stacks.size() < kMaxWaiting) stream.stacks.emplace_back(status, timeout);
  if (timeout == kNothing) return;
  TextEventRow& row = events_[timeout].row;
  if (row.group_name == StringId::kNone) {
    row.group_name = from.group_name;
    row.group_desc = from.group_desc;
  }
  row.last_enqueued = from.last_enqueued;
  row.last_completed = from.last_completed;
  stream.timeouts.erase(same);
}

// The stack of the failed collective follows its status. When several threads wait to print theirs,
// nothing says whose it is, until all of them have.
void EventBuilder::BeginStack(uint32_t index) {
  Stream& stream = streams_[index];
  if (stream.stacks.size() == 1) stack_of_ = stream.stacks[0];
  if (++stream.stacks_seen < stream.stacks.size()) return;
  stream.stacks.clear();
  stream.stacks_seen = 0;
}

// Its lines carry no mark, so they belong to the header above them. Innermost first.
void EventBuilder::AddStackFrame(std::string_view text) {
  if (!stack_of_) return;
  auto frame = ParseStackFrame(text);
  if (!frame) return;
  Place place{std::string(frame->file), frame->line, frame->IsUser()};
  for (size_t event : {stack_of_->first, stack_of_->second}) {
    bool better =
        event != kNothing && (place.is_user || events_[event].row.file == StringId::kNone);
    if (better) FillPlace(place, events_[event].row);
  }
  if (place.is_user) stack_of_.reset();
}

void EventBuilder::AddFailureField(std::string_view text, uint32_t index, int64_t number) {
  auto field = ParseFailureField(text);
  if (!field) return;
  if (field->key == "time") EndFailure(index);
  Failure& failure = streams_[index].failure;
  if (failure.number == 0) failure.number = number;
  if (field->key == "time") failure.time_ns = ParseIsoTime(field->value);
  if (field->key == "host") failure.host = field->value;
  if (field->key == "rank") {
    failure.rank = SmallNumberAfter(field->value, "");
    failure.local_rank = SmallNumberAfter(field->value, "(local_rank: ");
  }
  if (field->key == "exitcode") {
    failure.exit_code = WithoutShell(SmallNumberAfter(field->value, ""));
    failure.pid = NumberAfter(field->value, "(pid: ");
  }
  if (failure.text.size() < kMaxText)
    failure.text +=
        fmt::format("{}{}: {}", failure.text.empty() ? "" : "; ", field->key, field->value);
  if (field->key == "traceback") EndFailure(index);
}

void EventBuilder::EndFailure(uint32_t index) {
  Failure failure = std::exchange(streams_[index].failure, {});
  if (failure.exit_code == kNone32) return;
  constexpr int32_t kStopped = -15;
  ExitStatement exit{.said_by = "torchrun",
                     .how = failure.exit_code == kStopped ? "stopped" : "own",
                     .ranks = {failure.rank},
                     .local_rank = failure.local_rank,
                     .pid = failure.pid,
                     .host = failure.host,
                     .exit_code = failure.exit_code};
  ProcessRows::Where where{streams_[index].owner, failure.number, failure.time_ns};
  rows_.AddEntry(exit, std::exchange(streams_[index].root_cause, false), where,
                 CutText(failure.text), *pools_);
  std::string_view kind = failure.exit_code < 0 ? "signal" : "exit";
  size_t event = Emit(kind, index, failure.number, failure.text);
  if (event == kNothing) return;
  events_[event].row.rank = failure.rank;
  events_[event].row.exit_code = failure.exit_code;
  events_[event].row.time_ns = failure.time_ns;
}

void EventBuilder::AddLog(const Line& line, uint32_t index, int64_t number) {
  Log& open = streams_[index].log;
  if (open.number != 0 && JoinLogText(open.text, line.text)) {
    open.lines += line.joined;
    return;
  }
  EndLog(index);
  streams_[index].log = {number, line.joined, line.text};
}

// A row of torch_log, and an event with the beginning of it.
void EventBuilder::EndLog(uint32_t index) {
  Log log = std::exchange(streams_[index].log, {});
  if (log.number == 0) return;
  records_.Add(log.text, log.number, log.lines, index, now_ns_, *pools_);
  log.text.resize(std::min(log.text.size(), kMaxText));
  auto header = ParseLogHeader(log.text);
  auto message = header ? ParseCompileMessage(header->message) : std::nullopt;
  if (!message) return;
  size_t event = Emit("torch_log", index, log.number, {});
  if (event == kNothing) return;
  TextEventRow& row = events_[event].row;
  row.time_ns = GuessTime(header->time, now_ns_);
  row.compile_id = Word(message->id);
  row.file = pools_->Intern(header->file);
  row.file_line = header->line;
  row.text = pools_->Intern(log.text.size() < kMaxText ? message->text : DropHalf(message->text));
}

void EventBuilder::AddReason(std::string_view text, uint32_t index) {
  size_t event = std::exchange(streams_[index].terminate, kNothing);
  if (event == kNothing) return;
  TextEventRow& row = events_[event].row;
  std::string joined(pools_->Text(row.text));
  joined += text.substr(0, kMaxText - std::min(joined.size(), kMaxText));
  FillFromText(joined, row);
  if (IsOutOfMemory(text)) row.kind = pools_->Intern(KindOf(LineClass::kOutOfMemory));
  bool faulty = Contains(text, "CUDA error: ");
  if (faulty) row.kind = pools_->Intern(KindOf(LineClass::kCudaError));
  if (!faulty && IsTeardown(joined)) row.kind = pools_->Intern(KindOf(LineClass::kTeardown));
  row.text = pools_->Intern(CutText(joined));
}

}  // namespace debrief::inputs::job_text
