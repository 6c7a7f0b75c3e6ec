#include "analyses/cost/division.h"

#include <algorithm>

#include "model/timeline/device_time.h"
#include "model/timeline/idle_gaps.h"
#include "tables/compile_phase.h"
#include "tables/compile_span.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/timeline.h"

namespace debrief::analyses::cost {

namespace {

using timeline::Cause;
using timeline::DeviceClass;
using timeline::TimelineView;

State StateOf(Cause cause) {
  switch (cause) {
    case Cause::kDataLoading:
      return State::kData;
    case Cause::kSync:
      return State::kSync;
    case Cause::kCompile:
      return State::kCompile;
    case Cause::kMemoryAllocation:
      return State::kAllocation;
    case Cause::kHost:
      return State::kHost;
    case Cause::kKernelWait:
      return State::kPace;
    case Cause::kGraph:  // perhaps no gap at all
    case Cause::kOther:
      break;
  }
  return State::kUnknown;
}

class Divider {
 public:
  Divider(const TimelineView& view, Shared& shared)
      : view_(view),
        shared_(shared),
        works_(timeline::DeviceWorksOf(view, shared.classes)),
        collectives_(view.model.tables.Get<ProfileCollectiveTable>()),
        waits_(view.model.tables.Get<ProfileCollectiveWaitTable>()),
        told_(view.slices.size()) {}

  Division Divide() {
    Division division{.who = view_.who,
                      .by_device = !works_.works.empty(),
                      .windows = {},
                      .steps = {},
                      .segments = {}};
    AddCollectives(division.by_device);
    if (division.by_device) {
      AddDeviceWork();
    } else {
      AddOps();
    }
    if (busy_.empty() && transfers_.empty() && undivided_.empty()) return division;
    FindWindows(division);
    division.segments = Lay(division.by_device);
    return division;
  }

 private:
  Interval Whole() const {
    const auto& timelines = view_.model.tables.Get<TimelineTable>();
    if (timelines.start_ns[view_.row] == kNone64) return {};
    return {timelines.start_ns[view_.row], timelines.end_ns[view_.row]};
  }

  // Without steps: from the first to the last work of the device, as profile_breakdown has it. What
  // comes before is the start of the program, and nobody's loss.
  Interval Worked() const {
    return works_.works.empty() ? Whole() : timeline::SpanOf(works_.works);
  }

  void FindWindows(Division& division) const {
    std::vector<timeline::StepWindow> steps = timeline::StepWindowsOf(view_);
    division.from_steps = !steps.empty();
    for (const timeline::StepWindow& step : steps) {
      AppendToUnion(division.windows, step.time);
      division.steps.push_back(step.time);
    }
    if (steps.empty()) AppendToUnion(division.windows, Worked());
    division.window_count = steps.empty() ? 1 : static_cast<int64_t>(steps.size());
  }

  // In a timeline with device work, ops that issue collectives say when they were issued and not
  // when they ran.
  void AddCollectives(bool on_device) {
    timeline::RowRange rows = timeline::RowsOf(collectives_, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if ((collectives_.on_device[row] != 0) != on_device) continue;
      told_[TimelineView::At(collectives_.slice[row])] = true;
      Interval time{
          collectives_.start_ns[row],
          collectives_.start_ns[row] + std::max<int64_t>(0, collectives_.duration_ns[row])};
      int64_t wait_row = shared_.wait_rows[row];
      if (wait_row == kNone64) {
        undivided_.push_back({time, State::kUndivided});
        continue;
      }
      int64_t waited =
          std::clamp<int64_t>(waits_.wait_ns[static_cast<size_t>(wait_row)], 0, time.length());
      transfers_.push_back({{time.begin + waited, time.end}, State::kTransfer, wait_row});
      waiting_.push_back({{time.begin, time.begin + waited}, State::kWait, wait_row});
    }
  }

  void AddDeviceWork() {
    for (const timeline::DeviceWork& work : works_.works) {
      if (work.device_class != DeviceClass::kCommunication) {
        busy_.push_back({work.time, State::kCompute});
      } else if (!told_[TimelineView::At(work.slice)]) {
        undivided_.push_back({work.time, State::kUndivided});
      }
    }
  }

  void AddOps() {
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      if (view_.kind[TimelineView::At(slice)] == view_.kinds.op)
        busy_.push_back(
            {{view_.start[TimelineView::At(slice)], view_.end(slice)}, State::kCompute});
    }
  }

  std::vector<Segment> Lay(bool by_device) {
    Interval whole = Whole();
    Layers layers(whole);
    // An op of the host may enclose a collective and waits with it; a kernel never does.
    if (by_device) layers.Lay(busy_);
    layers.Lay(std::move(transfers_));
    layers.Lay(std::move(undivided_));
    layers.Lay(std::move(waiting_));
    if (!by_device) layers.Lay(busy_);
    if (view_.model.tables.Get<TimelineTable>().base_ns[view_.row] != kNone64)
      layers.Lay(Compiling(whole));
    if (by_device) layers.Lay(Gaps(whole));
    return layers.Finish(by_device ? State::kUnknown : State::kHost);
  }

  std::vector<Segment> Compiling(Interval whole) const {
    std::vector<Segment> claims;
    for (const CompileTime& each : shared_.compiling.Of(view_.who)) {
      if (each.time.begin < whole.end && each.time.end > whole.begin)
        claims.push_back({each.time, State::kCompile, static_cast<int64_t>(each.compile_id)});
    }
    return claims;
  }

  std::vector<Segment> Gaps(Interval whole) {
    std::vector<Segment> claims;
    timeline::HostActivity activity(view_, shared_.host_names);
    for (const timeline::Gap& gap : timeline::FindGaps(view_, works_, activity))
      claims.push_back({gap.time, StateOf(gap.cause)});
    Interval worked = timeline::SpanOf(works_.works);
    claims.push_back({{whole.begin, worked.begin}, State::kHost});
    claims.push_back({{worked.end, whole.end}, State::kHost});
    return claims;
  }

  const TimelineView& view_;
  Shared& shared_;
  timeline::DeviceWorks works_;
  const ProfileCollectiveTable& collectives_;
  const ProfileCollectiveWaitTable& waits_;
  std::vector<bool> told_;  // by slice: it is in profile_collective
  std::vector<Segment> busy_, transfers_, undivided_, waiting_;
};

}  // namespace

CompileTimes::CompileTimes(const Model& model) {
  const auto& phases = model.tables.Get<CompilePhaseTable>();
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.depth[row] != 0) continue;
    times_[{phases.job[row], phases.attempt[row], phases.rank[row]}].push_back(
        {{phases.start_ns[row], phases.end_ns[row]}, phases.compile_id[row]});
  }
  const auto& spans = model.tables.Get<CompileSpanTable>();
  for (size_t row = 0; row < spans.size(); ++row) {
    if (model.pools.Text(spans.told_by[row]) != "metrics") continue;
    times_[{spans.job[row], spans.attempt[row], spans.rank[row]}].push_back(
        {{spans.start_ns[row], spans.end_ns[row]}, spans.compile_id[row]});
  }
  for (auto& [key, times] : times_) {
    std::stable_sort(times.begin(), times.end(), [](const CompileTime& a, const CompileTime& b) {
      return a.time.begin < b.time.begin;
    });
  }
}

std::span<const CompileTime> CompileTimes::Of(const Identity& who) const {
  auto found = times_.find(KeyOf(who));
  return found == times_.end() ? std::span<const CompileTime>() : found->second;
}

void Layers::Lay(std::vector<Segment> claims) {
  std::stable_sort(claims.begin(), claims.end(),
                   [](const Segment& a, const Segment& b) { return a.time.begin < b.time.begin; });
  IntervalSet taken;
  size_t at = 0;  // in rest_
  for (const Segment& claim : claims) {
    Interval time = claim.time;
    if (!taken.empty()) time.begin = std::max(time.begin, taken.back().end);
    if (time.begin >= time.end) continue;
    AppendToUnion(taken, time);
    while (at < rest_.size() && rest_[at].end <= time.begin) ++at;
    for (size_t i = at; i < rest_.size() && rest_[i].begin < time.end; ++i) {
      segments_.push_back({{std::max(rest_[i].begin, time.begin), std::min(rest_[i].end, time.end)},
                           claim.state,
                           claim.row});
    }
  }
  rest_ = Subtract(rest_, taken);
}

std::vector<Segment> Layers::Finish(State state) {
  for (const Interval& time : rest_) segments_.push_back({time, state});
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.time.begin < b.time.begin; });
  return std::move(segments_);
}

std::vector<int64_t> WaitRows(const Model& model) {
  const auto& matches = model.tables.Get<ProfileCollectiveMatchTable>();
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  std::vector<int64_t> rows(model.tables.Get<ProfileCollectiveTable>().size(), kNone64);
  for (size_t row = 0; row < waits.size(); ++row) {
    auto match = static_cast<size_t>(waits.match[row]);
    bool known =
        matches.synchronises[match] != 0 || model.pools.Text(matches.op[match]) == "send_recv";
    if (known) rows[static_cast<size_t>(waits.collective[row])] = static_cast<int64_t>(row);
  }
  return rows;
}

Division Divide(const TimelineView& view, Shared& shared) { return Divider(view, shared).Divide(); }

StateTimes TimesIn(const Division& division) {
  StateTimes times;
  ForEachInWindows(division,
                   [&](const Segment& segment, int64_t ns) { times[segment.state] += ns; });
  return times;
}

std::vector<StateTimes> TimesOfSteps(const Division& division) {
  std::vector<StateTimes> times(division.steps.size());
  size_t step = 0;
  for (const Segment& segment : division.segments) {
    while (step < times.size() && division.steps[step].end <= segment.time.begin) ++step;
    for (size_t i = step; i < times.size() && division.steps[i].begin < segment.time.end; ++i) {
      const int64_t ns = std::min(division.steps[i].end, segment.time.end) -
                         std::max(division.steps[i].begin, segment.time.begin);
      times[i][segment.state] += std::max<int64_t>(0, ns);
    }
  }
  return times;
}

}  // namespace debrief::analyses::cost
