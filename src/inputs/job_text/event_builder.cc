#include "inputs/job_text/event_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace debrief::inputs::job_text {

namespace {

constexpr DiagnosticKind kTooMany = {
    "job_text.too_many", Severity::kWarning,
    "the text says more than is kept of one input; the first events are kept",
    "Print less (TORCH_LOGS), or split the text."};

constexpr size_t kMaxEvents = size_t{1} << 18;
constexpr size_t kMaxStreams = size_t{1} << 17;
constexpr size_t kMaxWaiting = 16;

std::string_view KindOf(LineClass what) {
  static constexpr std::pair<LineClass, std::string_view> kKinds[] = {
      {LineClass::kWatchdogTimeout, "watchdog_timeout"},
      {LineClass::kWatchdogStatus, "watchdog_status"},
      {LineClass::kHeartbeatLost, "heartbeat_lost"},
      {LineClass::kDumpSignal, "dump_signal"},
      {LineClass::kNcclError, "nccl_error"},
      {LineClass::kOutOfMemory, "out_of_memory"},
      {LineClass::kSignal, "signal"},
      {LineClass::kExit, "exit"}};
  for (const auto& [known, kind] : kKinds) {
    if (known == what) return kind;
  }
  return "teardown";
}

// A text that was cut at kMaxText bytes, without the UTF-8 sequence that was cut in two.
std::string_view DropHalf(std::string_view text) {
  size_t size = text.size();
  while (size > 0 && text.size() - size < 3 && (text[size - 1] & 0xC0) == 0x80) --size;
  bool leads = size > 0 && (text[size - 1] & 0xC0) == 0xC0;
  return text.substr(0, leads ? size - 1 : text.size());
}

std::string_view CutText(std::string_view text) {
  return text.size() < kMaxText ? text : DropHalf(text.substr(0, kMaxText));
}

}  // namespace

void EventBuilder::Add(const RangeLines& range, Part& whole) {
  pools_ = &whole.pools;
  std::vector<uint32_t> ids;
  ids.reserve(range.streams.size());
  for (const RangeLines::Stream& stream : range.streams) {
    ids.push_back(StreamOf(stream.owner));
    streams_[ids.back()].last_number = lines_before_ + stream.last_number + 1;
    streams_[ids.back()].last_text = stream.last_text;
  }
  for (const Line& line : range.lines) {
    AddLine(line, ids[line.stream], lines_before_ + line.number + 1);
  }
  lines_before_ += range.line_count;
}

uint32_t EventBuilder::StreamOf(const Owner& owner) {
  auto found = by_owner_.find({owner.rank, owner.local_rank});
  if (found != by_owner_.end()) return found->second;
  Owner kept = streams_.size() < kMaxStreams ? owner : Owner{};
  auto [entry, is_new] =
      by_owner_.try_emplace({kept.rank, kept.local_rank}, static_cast<uint32_t>(streams_.size()));
  if (is_new) streams_.emplace_back().owner = kept;
  return entry->second;
}

void EventBuilder::AddLine(const Line& line, uint32_t index, int64_t number) {
  Stream& stream = streams_[index];
  if (line.what != LineClass::kStackFrame && line.what != LineClass::kOther) stack_of_.reset();
  bool ends = stream.traceback.number != 0 && LooksLikeException(line.text);
  Place place = stream.traceback.place;
  if (ends) EndTraceback(index, line.text);
  size_t before = events_.size();
  AddSingle(line, index, number);
  if (ends && events_.size() > before) FillPlace(place, events_[before].row);
}

void EventBuilder::AddSingle(const Line& line, uint32_t index, int64_t number) {
  Stream& stream = streams_[index];
  switch (line.what) {
    case LineClass::kOther:
      return;
    case LineClass::kTraceback:
      return BeginTraceback(line, index, number);
    case LineClass::kFrame:
      return AddFrame(line, index);
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
    default:
      break;
  }
  size_t event = Emit(KindOf(line.what), index, number, line.text);
  if (event == kNothing) return;
  if (line.what == LineClass::kTerminate) stream.terminate = event;
  if (line.what == LineClass::kWatchdogStatus) JoinGroup(index, event);
  if (line.what == LineClass::kWatchdogTimeout) {
    if (stream.timeouts.size() == kMaxWaiting) stream.timeouts.erase(stream.timeouts.begin());
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
  event.row = Part::RowOf<TextEventRow>(who_);
  event.row.rank = ParseTask(text);
  event.row.input = who_.input;
  event.row.line = number;
  event.row.kind = pools_->Intern(kind);
  event.row.text = pools_->Intern(CutText(text));
  FillFromText(text, event.row);
  if (kind == "exit") event.row.exit_code = ParseExitCode(text);
  if (kind == "signal") event.row.exit_code = ParseSignal(text);
  return events_.size() - 1;
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
  if (row.seq == kNone64) row.seq = first_of({"work sequence id: ", "Timeout at NCCL work: "});
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

int64_t EventBuilder::TimeOf(std::string_view text) const {
  if (auto header = ParseLogHeader(text)) return GuessTime(header->time, now_ns_);
  return ParseIsoTime(text.starts_with('[') ? text.substr(1) : text);
}

void EventBuilder::BeginTraceback(const Line& line, uint32_t index, int64_t number) {
  EndTraceback(index, {});
  streams_[index].traceback = {.number = number, .time_ns = TimeOf(line.text), .last = line.text};
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
  if (field->key == "rank") failure.rank = SmallNumberAfter(field->value, "");
  if (field->key == "exitcode") failure.exit_code = SmallNumberAfter(field->value, "");
  if (failure.text.size() < kMaxText)
    failure.text +=
        fmt::format("{}{}: {}", failure.text.empty() ? "" : "; ", field->key, field->value);
  if (field->key == "traceback") EndFailure(index);
}

void EventBuilder::EndFailure(uint32_t index) {
  Failure failure = std::exchange(streams_[index].failure, {});
  if (failure.exit_code == kNone32) return;
  std::string_view kind = failure.exit_code < 0 ? "signal" : "exit";
  size_t event = Emit(kind, index, failure.number, failure.text);
  if (event == kNothing) return;
  events_[event].row.rank = failure.rank;
  events_[event].row.exit_code = failure.exit_code;
  events_[event].row.time_ns = failure.time_ns;
}

void EventBuilder::AddLog(const Line& line, uint32_t index, int64_t number) {
  if (streams_[index].log.number != 0 && JoinLogText(streams_[index].log.text, line.text)) return;
  EndLog(index);
  streams_[index].log = {number, line.text};
}

void EventBuilder::EndLog(uint32_t index) {
  Log log = std::exchange(streams_[index].log, {});
  if (log.number == 0) return;
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
  row.text = pools_->Intern(CutText(joined));
}

void EventBuilder::Finish(Part& whole) {
  pools_ = &whole.pools;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    EndTraceback(i, {});
    EndFailure(i);
    EndLog(i);
  }
  LearnLocalRanks();
  for (Event& event : events_) {
    if (event.row.rank == kNone32) event.row.rank = RankOf(streams_[event.stream].owner);
  }
  AddLastLines(whole);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.row.line < b.row.line; });
  for (const Event& event : events_) whole.tables.Edit<TextEventTable>().Add(event.row);
  if (dropped_ > 0)
    whole.diagnostics.Add(kTooMany, who_.input, {.detail = fmt::format("{} left out", dropped_)});
}

// Lines that carry both marks tell which rank a local rank is; two hosts in one text contradict
// each other.
void EventBuilder::LearnLocalRanks() {
  for (const Stream& stream : streams_) {
    if (stream.owner.local_rank == kNone32 || stream.owner.rank == kNone32) continue;
    auto [known, is_new] = rank_of_local_.try_emplace(stream.owner.local_rank, stream.owner.rank);
    if (!is_new && known->second != stream.owner.rank) known->second = kNone32;
  }
}

int32_t EventBuilder::RankOf(const Owner& owner) const {
  if (owner.rank != kNone32) return owner.rank;
  if (owner.local_rank == kNone32) return who_.rank;
  auto known = rank_of_local_.find(owner.local_rank);
  if (known != rank_of_local_.end()) return known->second;
  return who_.rank != kNone32 ? who_.rank : owner.local_rank;
}

// One per rank: marked and unmarked lines of a rank are the same rank's.
void EventBuilder::AddLastLines(Part& whole) {
  std::map<int32_t, uint32_t> last;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    int32_t rank = RankOf(streams_[i].owner);
    if (rank == kNone32) continue;
    auto [entry, is_new] = last.try_emplace(rank, i);
    if (!is_new && streams_[entry->second].last_number < streams_[i].last_number) entry->second = i;
  }
  for (auto [rank, i] : last) {
    Event& event = events_.emplace_back();
    event.row = Part::RowOf<TextEventRow>(who_);
    event.row.rank = rank;
    event.row.input = who_.input;
    event.row.line = streams_[i].last_number;
    event.row.time_ns = TimeOf(streams_[i].last_text);
    event.row.kind = whole.pools.Intern("last_line");
    event.row.text = whole.pools.Intern(CutText(streams_[i].last_text));
  }
}

}  // namespace debrief::inputs::job_text
