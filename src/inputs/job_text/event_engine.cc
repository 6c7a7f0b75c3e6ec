// Serving engines: which rank a worker is, which tracebacks end its process, and what an orderly
// end of the server makes of everything behind it.
#include <algorithm>
#include <vector>

#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/line_texts.h"
#include "inputs/job_text/lines/engine_lines.h"
#include "torch/engine_marks.h"

namespace debrief::inputs::job_text {

namespace {

// text_event.kind of a line that says more than its traceback; empty for all others.
std::string_view KindOfEngine(EngineWhat what) {
  if (what == EngineWhat::kDead) return "engine_dead";
  if (what == EngineWhat::kWaiting) return "engine_waits";
  return what == EngineWhat::kStuck ? "engine_stuck" : "";
}

}  // namespace

// SGLang marks the first line of a record alone: its traceback follows without marks.
bool EventBuilder::ContinuesRecord(const Line& line, uint32_t before, int64_t number) const {
  constexpr int64_t kLongestTraceback = 300;
  const Stream& stream = streams_[before];
  const bool marks_records = stream.owner.engine != 0 && stream.owner.pid == kNone64;
  if (!marks_records || stream.traceback_line == 0) return false;
  const bool is_record = line.what == LineClass::kEngine || line.what == LineClass::kExit ||
                         line.text.starts_with('[');
  return !is_record && number - stream.traceback_line <= kLongestTraceback;
}

void EventBuilder::AddEngine(const Line& line, uint32_t index, int64_t number) {
  const auto engine = ParseEngineLine(line.text);
  if (!engine) return;
  const auto where = WhereOf(line, index, number);
  serving_.Add(*engine, number, where.time_ns, streams_[index].owner, CutText(line.text), *pools_);
  if (engine->what == EngineWhat::kFatal) streams_[index].fatal_follows = true;
  const std::string_view kind = KindOfEngine(engine->what);
  if (kind.empty()) return;
  const size_t event = Emit(kind, index, number, line.text);
  if (event == kNothing) return;
  constexpr double kMost = 1e9;
  const bool timed = engine->seconds >= 0 && engine->seconds < kMost;
  if (timed) events_[event].row.ran_ms = static_cast<int64_t>(engine->seconds * 1000);
  events_[event].logged = false;
  events_[event].fatal = engine->what == EngineWhat::kDead;
}

// A worker's place gives its rank. Where no line is of a worker, the engine itself is the worker.
void EventBuilder::LearnEngineRanks() {
  std::vector<EnginePlace> cores;
  for (const Stream& stream : streams_) {
    const EnginePlace place = EnginePlace::Unpack(stream.owner.engine);
    workers_.Add(place);
    if (place.role == EngineRole::kCore) cores.push_back(place);
  }
  if (workers_.empty()) {
    for (EnginePlace core : cores) {
      const uint32_t packed = core.Pack();
      core.role = EngineRole::kWorker;
      rows_.ranks().LearnEngine(packed, workers_.RankOf(core));
    }
  }
  for (const Stream& stream : streams_) {
    const EnginePlace place = EnginePlace::Unpack(stream.owner.engine);
    if (place.role == EngineRole::kWorker)
      rows_.ranks().LearnEngine(stream.owner.engine, workers_.RankOf(place));
    const int32_t rank = stream.owner.engine == 0 ? kNone32 : rows_.RankOf(stream.owner);
    if (rank == kNone32 || stream.owner.pid == kNone64) continue;
    // The kernel names a process by its id alone.
    IdentityLine identity;
    identity.rank = rank;
    identity.pid = stream.owner.pid;
    identity.said_by = "vllm";
    rows_.AddIdentity(identity, {stream.owner, stream.last_number, kNone64}, *pools_);
  }
}

void EventBuilder::AddLostWorkers() {
  for (const ServingRows::Lost& lost : serving_.lost()) {
    if (lost.index == kNone32 || lost.line < serving_.ServedLine()) continue;
    const ExitStatement exit{
        .said_by = "vllm", .ranks = {workers_.RankOfIndex(lost.data, lost.index)}, .host = {}};
    rows_.AddExit(exit, {{}, lost.line, lost.time_ns}, pools_->Text(lost.text), *pools_);
  }
}

// What an engine logs and goes on from is no failure; and nothing is that belongs to an orderly
// end.
void EventBuilder::EndServing() {
  const auto last = std::ranges::max_element(streams_, {}, &Stream::last_number);
  if (last != streams_.end()) serving_.SetEnd(last->last_number);
  const int64_t shutdown = serving_.ShutdownLine();
  // What an engine went on behind was no end, whatever it said.
  const int64_t served = serving_.ServedLine();
  std::erase_if(events_, [&](const Event& each) { return each.fatal && each.row.line < served; });
  rows_.DropRaisedBefore(served, *pools_);
  if (shutdown == 0) {
    if (!serving_.failed()) std::erase_if(events_, [](const Event& each) { return each.logged; });
    return AddLostWorkers();
  }
  const StringId kind = pools_->Intern("shutdown");
  for (Event& event : events_) {
    const bool is_told = pools_->Text(event.row.text).starts_with("KeyboardInterrupt");
    if (event.row.line >= shutdown || is_told || event.logged) event.row.kind = kind;
  }
  rows_.DropExitsFrom(shutdown, *pools_);
}

}  // namespace debrief::inputs::job_text
