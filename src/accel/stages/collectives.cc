#include "accel/stages/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>

#include "accel/names.h"
#include "accel/stages/stages.h"
#include "base/text/scan.h"
#include "compat/acelyzer/python_text.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel {

void CollectiveGroup::Add(const FlowStep& step) {
  const double end = step.slice.end();
  start_ = steps_.empty() ? step.slice.ts : std::min(start_, step.slice.ts);
  end_ = steps_.empty() ? end : std::max(end_, end);
  Sync& sync = syncs_[step.sync];
  sync.ranks.insert(step.slice.pid.integer);
  sync.ranks.insert(step.peers.begin(), step.peers.end());
  sync.has_list |= step.kind == StepKind::kList || step.kind == StepKind::kMulticast;
  if (step.kind == StepKind::kDone) {
    ++sync.closed;
    first_done_.try_emplace({step.sync, step.slice.pid.integer}, steps_.size());
  } else {
    sync.opened += step.kind == StepKind::kList ? step.peers.size() : 1;
  }
  steps_.push_back(&step);
}

bool CollectiveGroup::IsClosed(const Sync& sync) {
  const size_t ranks = sync.ranks.size();
  if (ranks < 2 || sync.closed != ranks - 1) return false;
  const bool multicast = ranks > 2 || sync.has_list;
  return multicast ? sync.opened == 2 * ranks - 1 : sync.opened > 0;
}

bool CollectiveGroup::IsComplete() const {
  return syncs_.size() >= 2 && std::all_of(syncs_.begin(), syncs_.end(), [](const auto& entry) {
           return IsClosed(entry.second);
         });
}

int64_t CollectiveGroup::ReceiveOf(size_t index) const {
  const FlowStep& send = *steps_[index];
  if (send.kind != StepKind::kSend || send.peers.empty()) return -1;
  const auto at = first_done_.find({send.sync, send.peers[0]});
  return at == first_done_.end() ? -1 : static_cast<int64_t>(at->second);
}

std::set<int64_t> CollectiveGroup::Ranks() const {
  std::set<int64_t> ranks;
  for (const auto& [id, sync] : syncs_) ranks.insert(sync.ranks.begin(), sync.ranks.end());
  return ranks;
}

namespace {

constexpr double kNear = 10'000;  // microseconds between the ends of a kernel and the first step

template <typename Compare>
void TakeBetter(const FlowStep*& kept, const FlowStep& step, Compare&& better) {
  if (kept == nullptr || better(step, *kept)) kept = &step;
}

bool Earlier(const FlowStep& a, const FlowStep& b) { return a.slice.ts < b.slice.ts; }
bool EndsLater(const FlowStep& a, const FlowStep& b) { return a.slice.end() > b.slice.end(); }

// -1 when nobody sends to all.
int64_t MulticastSender(const CollectiveGroup& group) {
  for (const FlowStep* step : group.steps()) {
    if (step->kind == StepKind::kMulticast) return step->slice.pid.integer;
  }
  return -1;
}

std::string SetText(const std::set<int64_t>& ranks) {
  std::string text = "{";
  for (const int64_t rank : ranks) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", rank);
  return text + "}";
}

std::string NumberedName(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool numbered =
      digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_';
  return std::string(name) + (numbered ? "" : "_0");
}

// "524288B", the second word of a receive whose size is not in brackets.
std::string_view SecondWord(std::string_view name) {
  const size_t begin = name.find(' ');
  if (begin == std::string_view::npos) return {};
  return name.substr(begin + 1, name.find(' ', begin + 1) - begin - 1);
}

// -R: one slice per rank and collective, from the end of the kernel before it to its last step.
//
// The reference knows one algorithm, a chain whose last rank sends the result to all; it reads the
// size from the name of a receive and puts the slices on tracks named "coll<rank>". Without
// --compat a tree (rank 0 sends the result) is known as well, sizes come from `bytes`, and a rank
// without a kernel before the collective begins with its first step.
class CollectiveSlices {
 public:
  CollectiveSlices(const EventList& events, Run& run) : events_(events), run_(run) {
    if (!run.options.build_coll_event) return;
    for (size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const NameTraits traits = run.Traits(event);
      if (event.phase != 'X' || !traits.cmpt_exec || traits.all_reduce) continue;
      if (event.pid.IsInteger()) kernels_[event.pid.integer].push_back(static_cast<uint32_t>(i));
    }
  }

  // Kernels at `position` of the list and behind are not known yet.
  void Add(StringId name, const CollectiveGroup& group, size_t position, EventList& out) {
    const std::set<int64_t> all = group.Ranks();
    const auto ranks = static_cast<int64_t>(all.size());
    const int64_t sender = MulticastSender(group);
    const bool chain = sender == ranks - 1;
    if (run_.options.compat && (unsupported_ || !chain)) {
      if (!unsupported_) {
        run_.console.Warning(
            "FLOW: only chains are supported: no collective events (-R) are built");
      }
      unsupported_ = true;
      return;
    }
    const int64_t bytes = BytesOf(group);
    for (const auto& [rank, part] : PartsOf(group, ranks)) {
      if (part.first == nullptr || part.last == nullptr) continue;
      const Event* kernel = KernelBefore(part, position);
      if (kernel == nullptr && run_.options.compat) continue;
      Event slice = part.first->slice;
      slice.ts = kernel != nullptr ? kernel->end() : slice.ts;
      slice.dur = part.last->slice.end() - slice.ts;
      if (slice.dur <= 0 && !run_.options.compat) {
        slice.ts = part.first->slice.ts;
        slice.dur = part.last->slice.end() - slice.ts;
      }
      slice.has_dur = true;
      slice.name = run_.Intern(NumberedName(run_.Text(name)));
      slice.tid = Value::Text(run_.Intern(fmt::format("coll{}", rank)));
      slice.cat = StringId::kNone;
      slice.stamps = kNoStamps;
      slice.arg_array = nullptr;
      slice.arg_count = slice.arg_capacity = 0;
      run_.args.Own(slice, 8);
      const auto text = [&](std::string_view key, std::string_view value) {
        run_.args.Set(slice, run_.Intern(key), Value::Text(run_.Intern(value)));
      };
      text("bytes", fmt::format("{}B", bytes));
      text("collective algorithm type", chain ? "chain" : sender == 0 ? "tree" : "other");
      text("peers", SetText(all));
      run_.args.Set(slice, key::kCollGroup, Value::Text(name));
      if (kernel != nullptr) text("rank group compute event", NameOfKernel(*kernel));
      run_.args.Set(slice, key::kCollDataSize, Value::Integer(2 * (ranks - 1) * bytes));
      out.push_back(slice);
    }
  }

 private:
  struct Part {
    const FlowStep* first = nullptr;
    const FlowStep* last = nullptr;
  };
  using Parts = std::map<int64_t, Part>;

  Parts PartsOf(const CollectiveGroup& group, int64_t ranks) const {
    if (run_.options.compat) return ChainParts(group, ranks);
    Parts parts;
    for (const FlowStep* step : group.steps()) {
      Part& part = parts[step->slice.pid.integer];
      TakeBetter(part.first, *step, Earlier);
      TakeBetter(part.last, *step, EndsLater);
    }
    return parts;
  }

  Parts ChainParts(const CollectiveGroup& group, int64_t ranks) const {
    Parts parts;
    for (const FlowStep* step : group.steps()) {
      const int64_t rank = step->slice.pid.integer;
      const bool done = step->kind == StepKind::kDone;
      if (rank == 0 ? step->kind == StepKind::kSend : done)
        TakeBetter(parts[rank].first, *step, Earlier);
      if (rank == ranks - 1 ? step->kind == StepKind::kMulticast : done) {
        TakeBetter(parts[rank].last, *step, EndsLater);
      }
    }
    return parts;
  }

  // The kernel that the rank ran before; null when there is none.
  // Those that lie before are of no use to later collectives either.
  const Event* KernelBefore(const Part& part, size_t position) {
    std::deque<uint32_t>& kernels = kernels_[part.first->slice.pid.integer];
    while (!kernels.empty() && kernels.front() < position) {
      const Event& kernel = events_[kernels.front()];
      const bool near = std::abs(kernel.end() - part.first->slice.end()) <= kNear;
      if (kernel.ts > part.first->slice.ts && !near) return nullptr;
      kernels.pop_front();
      if (kernel.ts > part.first->slice.ts) return &kernel;
    }
    return nullptr;
  }

  int64_t BytesOf(const CollectiveGroup& group) const {
    int64_t bytes = 0;
    for (const FlowStep* step : group.steps()) {
      if (step->kind != StepKind::kDone) continue;
      if (run_.options.compat) {
        return LeadingNumber(SecondWord(run_.Text(step->slice.name)), bytes);
      }
      bytes = std::max(bytes, IntegerArg(step->slice, key::kBytes, run_).value_or(0));
    }
    return bytes;
  }

  // The reference shares the kernel's slice with the passes behind, which rename it.
  std::string NameOfKernel(const Event& kernel) const {
    const std::string_view name = run_.Text(kernel.name);
    const bool renamed =
        run_.options.compat && run_.options.tb_refinement && !run_.options.keep_names;
    return renamed ? reference::WithoutDigits(name) : std::string(name);
  }

  const EventList& events_;
  Run& run_;
  std::map<int64_t, std::deque<uint32_t>> kernels_;  // by rank: indices of events not used yet
  bool unsupported_ = false;
};

}  // namespace

// flow_extraction (--flow): an arrow from every send of a complete collective to its receive, and
// with -R a slice per rank over the whole collective.
//
// Steps come in the order of time. A collective is looked at when a step behind its end comes, and
// at the end; one that is still incomplete long after its end never will be.
//
// Cost: O(log open collectives) a step: what has not changed is not looked at again.

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

class ArrowMaker {
 public:
  ArrowMaker(const EventList& events, Run& run) : run_(run), slices_(events, run) {}

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
    LogProblems();
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
    start.job = finish.job = kNoJob;  // its ends lie in two files, and its number is of the run
    out.push_back(start);
    out.push_back(finish);
    if (start.ts <= finish.ts) return;
    ++problems_;
    double& most = late_[{send.slice.pid.integer, receive.slice.pid.integer}];
    most = std::max(most, start.ts - finish.ts);
  }

  void LogProblems() {
    if (problems_ == 0) return;
    std::string text = fmt::format("FLOW: Number of potential problems detected = {}", problems_);
    text += "\nsrc\tdst\trecv_before_send";
    for (const auto& [pair, most] : late_) {
      text += fmt::format("\n{}\t{}\t{}", pair.first, pair.second, PythonFloat(most));
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
  ArrowMaker extractor(events, run);
  for (const FlowStep& step : steps) {
    extractor.At(step.position);
    extractor.Add(step, made);
  }
  extractor.Finish(made);
  events.insert(events.end(), made.begin(), made.end());
}

}  // namespace debrief::accel
