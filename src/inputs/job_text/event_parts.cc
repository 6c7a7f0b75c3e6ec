// Events that take several lines: stacks of collectives, entries of torchrun's list, messages of
// the compiler, C++ exceptions.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/strings.h"
#include "inputs/job_text/compile_lines.h"
#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/line_texts.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "inputs/job_text/lines/pod_lines.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMaxWaiting = 16;

}  // namespace

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
  if (field->key != "traceback") return;
  const int32_t rank = failure.rank;
  const int64_t time = failure.time_ns;
  EndFailure(index);
  if (!field->value.starts_with("Traceback (most recent")) return;
  const uint32_t of_rank = rank == kNone32 ? index : StreamOf({.rank = rank});
  streams_[index].traceback = {.number = number,
                               .time_ns = time,
                               .place = {},
                               .last = std::string(text),
                               .listed = true,
                               .stream = of_rank};
}

void EventBuilder::EndFailure(uint32_t index) {
  Failure failure = std::exchange(streams_[index].failure, {});
  if (failure.exit_code == kNone32) return;
  // The first failure had ended before the launcher stopped anybody.
  constexpr int32_t kStopped = -15;
  const bool first = std::exchange(streams_[index].root_cause, false);
  ExitStatement exit{.said_by = "torchrun",
                     .how = failure.exit_code == kStopped && !first ? "stopped" : "own",
                     .ranks = {failure.rank},
                     .local_rank = failure.local_rank,
                     .pid = failure.pid,
                     .host = failure.host,
                     .exit_code = failure.exit_code};
  ProcessRows::Where where{streams_[index].owner, failure.number, failure.time_ns};
  rows_.AddEntry(exit, first, where, CutText(failure.text), *pools_);
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
  const auto said = ParseCompileLine(log.text);
  if (!said) return;
  size_t event = Emit("torch_log", index, log.number, {});
  if (event == kNothing) return;
  TextEventRow& row = events_[event].row;
  row.time_ns = said->Time(now_ns_);
  row.compile_id = Word(said->id);
  row.file = pools_->Intern(said->file);
  row.file_line = said->line;
  std::string text(said->text);
  if (!said->artifact.empty()) text = fmt::format("[__{}] {}", said->artifact, text);
  row.text = pools_->Intern(log.text.size() < kMaxText ? text : DropHalf(text));
}

// Of srun's lines the first names the node, of a container's log the first says why; of a table of
// pods the first row that failed, or who lacked memory.
void EventBuilder::AddNoStart(const Line& line, uint32_t index, int64_t number) {
  constexpr int64_t kNear = 3;  // lines
  constexpr std::string_view kAgain = "srun: error: Application launch failed: ";
  const std::string pod = TroubleOfPod(line.text);
  if (!pod.empty() && pod_row_ != kNothing) {
    TextEventRow& row = events_[pod_row_].row;
    const bool more = pod.ends_with("OOMKilled") && !pools_->Text(row.text).ends_with("OOMKilled");
    if (more) row.text = pools_->Intern(pod);
    if (more) row.line = number;
    return;
  }
  if (IsLineOfContainerLog(line.text)) {
    const int64_t before = std::exchange(streams_[index].container_line, number);
    if (before != 0 && number - before <= kNear) return;
  }
  if (line.text.starts_with(kEndOfHydra)) return AddHydra(index, number);
  const bool again = line.text.starts_with(kAgain) && !events_.empty() &&
                     pools_->Text(events_.back().row.text).starts_with("srun: error: Task launch");
  if (again) return;
  const size_t event =
      Emit(KindOf(LineClass::kNoStart), index, number, pod.empty() ? line.text : pod);
  if (!pod.empty()) pod_row_ = event;
}

// Hydra prints what is wrong with a command in the lines above its last one, a link among them.
// Where an exception stands there, that has been told.
void EventBuilder::AddHydra(uint32_t index, int64_t number) {
  constexpr int64_t kNear = 8;  // lines
  if (streams_[index].last_exception != kNothing) return;
  const auto& tail = streams_[index].tail;
  for (size_t i = tail.size(); i-- > 0;) {
    const auto& [line, text] = tail[i];
    const bool says = line < number && number - line <= kNear && !text.starts_with(' ') &&
                      !text.starts_with("See http");
    if (!says) continue;
    (void)Emit(KindOf(LineClass::kNoStart), index, line, text);
    return;
  }
}

// A pod that starts later had to wait only.
void EventBuilder::AddPodEvent(const Line& line, uint32_t index, int64_t number) {
  Stream& stream = streams_[index];
  if (PodEventOf(line.text) == PodEvent::kGoesOn) {
    stream.pod_line = 0;
  } else if (stream.pod_line == 0) {
    stream.pod_line = number;
    stream.pod_words = WordsOfPodEvent(line.text, stream.pod);
  }
}

void EventBuilder::EndPodEvents() {
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].pod_line == 0) continue;
    line_time_ns_ = kNone64;
    (void)Emit(KindOf(LineClass::kNoStart), i, streams_[i].pod_line, streams_[i].pod_words);
  }
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
