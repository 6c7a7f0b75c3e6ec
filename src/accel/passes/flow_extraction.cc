// flow_extraction (--flow): an arrow from every send of a complete collective to its receive, and
// with -R a slice per rank over the whole collective (collective_slices.h).
//
// Steps come in the order of time. A collective is looked at when a step behind its end comes, and
// at the end; one that is still incomplete long after its end never will be.
//
// Cost: O(log open collectives) a step: what has not changed is not looked at again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>

#include "accel/passes/collective_group.h"
#include "accel/passes/collective_slices.h"
#include "accel/passes/passes.h"
#include "accel/python_text.h"

namespace debrief::accel {
namespace {

constexpr int64_t kFirstId = 1'000'001;
constexpr double kReceiveEnd = 0.001;      // inside of the slice
constexpr double kShortestPatience = 5e6;  // microseconds
constexpr double kPatience = 4;            // times the length of the collective

// Earliest first.
struct Alarm {
  double time = 0;
  StringId group = StringId::kNone;
  bool operator>(const Alarm& other) const {
    return time != other.time ? time > other.time : group > other.group;
  }
};
using Alarms = std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>>;

class Extractor {
 public:
  Extractor(const EventList& events, Run& run) : run_(run), slices_(events, run) {}

  void Add(const FlowStep& step, EventList& out) {
    CompleteBefore(step.slice.ts, out);
    DropBefore(step.slice.ts);
    CollectiveGroup& group = open_[step.group];
    group.Add(step);
    looks_.push({group.end(), step.group});
    drops_.push({DropTime(group), step.group});
  }

  void Finish(EventList& out) {
    for (const auto& [name, group] : open_) {
      if (group.IsComplete()) {
        Emit(name, group, SIZE_MAX, out);
      } else {
        ++dropped_;
      }
    }
    SayProblems();
    if (dropped_ == 0) return;
    run_.console.Warning(fmt::format(
        "FLOW: Incomplete flow groups dropped = {}  This can be caused by time-synchronization "
        "issues. You might try cmdline arg '-S'",
        dropped_));
  }

  void At(size_t position) { position_ = position; }

 private:
  static double DropTime(const CollectiveGroup& group) {
    return group.end() + kPatience * std::max(group.end() - group.start(), kShortestPatience);
  }

  void CompleteBefore(double now, EventList& out) {
    while (!looks_.empty() && looks_.top().time < now) {
      const Alarm alarm = looks_.top();
      looks_.pop();
      const auto at = open_.find(alarm.group);
      if (at == open_.end() || at->second.end() != alarm.time || !at->second.IsComplete()) continue;
      Emit(at->first, at->second, position_, out);
      open_.erase(at);
    }
  }

  void DropBefore(double now) {
    while (!drops_.empty() && drops_.top().time < now) {
      const Alarm alarm = drops_.top();
      drops_.pop();
      const auto at = open_.find(alarm.group);
      if (at == open_.end() || DropTime(at->second) != alarm.time) continue;
      open_.erase(at);
      ++dropped_;
    }
  }

  void Emit(StringId name, const CollectiveGroup& group, size_t position, EventList& out) {
    EventList flows;
    for (size_t i = 0; i < group.steps().size(); ++i) {
      const int64_t receive = group.ReceiveOf(i);
      if (receive < 0) continue;
      Draw(name, *group.steps()[i], *group.steps()[static_cast<size_t>(receive)], flows);
    }
    // mp_calc_bw turns the list around, but flows at the same time come in the order of their ids.
    if (run_.options.compat && !run_.options.build_coll_event) {
      std::reverse(flows.begin(), flows.end());
    }
    out.insert(out.end(), flows.begin(), flows.end());
    if (run_.options.build_coll_event) slices_.Add(name, group, position, out);
  }

  void Draw(StringId group, const FlowStep& send, const FlowStep& receive, EventList& out) {
    const Value id = Value::Integer(next_id_++);
    const double end = receive.slice.end() - kReceiveEnd;
    Event start = MakeFlowEnd('s', send.sync, id, send.slice, send.slice.ts, run_);
    Event finish = MakeFlowEnd('f', send.sync, id, receive.slice, end, run_);
    start.cat = finish.cat = group;
    out.push_back(start);
    out.push_back(finish);
    if (start.ts <= finish.ts) return;
    ++problems_;
    double& most = late_[{send.slice.pid.integer, receive.slice.pid.integer}];
    most = std::max(most, start.ts - finish.ts);
  }

  void SayProblems() {
    if (problems_ == 0) return;
    std::string text = fmt::format("FLOW: Number of potential problems detected = {}", problems_);
    text += "\nsrc\tdst\trecv_before_send";
    for (const auto& [pair, most] : late_) {
      text += fmt::format("\n{}\t{}\t", pair.first, pair.second);
      AppendPythonFloat(text, most);
    }
    run_.console.Warning(text);
  }

  Run& run_;
  CollectiveSlices slices_;
  std::map<StringId, CollectiveGroup> open_;
  Alarms looks_, drops_;
  size_t position_ = 0;
  int64_t next_id_ = kFirstId;
  size_t dropped_ = 0, problems_ = 0;
  std::map<std::pair<int64_t, int64_t>, double> late_;
};

}  // namespace

void FlowExtraction(EventList& events, Run& run) {
  const std::vector<FlowStep>& steps = run.Shared<FlowSteps>().steps;
  EventList made;
  Extractor extractor(events, run);
  for (const FlowStep& step : steps) {
    extractor.At(step.position);
    extractor.Add(step, made);
  }
  extractor.Finish(made);
  events.insert(events.end(), made.begin(), made.end());
}

}  // namespace debrief::accel
