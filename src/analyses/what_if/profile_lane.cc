#include "analyses/what_if/profile_lane.h"

#include <algorithm>
#include <cmath>

#include "model/timeline/host_activity.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::what_if {

namespace {

constexpr int64_t kClockSlackNs = 20'000;  // between the clocks of host and device
constexpr int64_t kStreamSlackNs = 5'000;
constexpr size_t kFarthestLook = 256;  // works that are looked at for one that ended in time

bool IsStreamWaitName(std::string_view name) {
  for (std::string_view wait :
       {"StreamWaitEvent", "EnqueueEventsWait", "AppendWaitOnEvents", "AppendBarrier"}) {
    if (name.find(wait) != std::string_view::npos) return true;
  }
  return false;
}

bool IsWaitingCall(std::string_view name) {
  return timeline::HostClassOf(name, true) == timeline::HostClass::kSync ||
         name.find("emcpy") != std::string_view::npos;
}

uint64_t Mixed(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ b * 0x9e3779b97f4a7c15) * 0xc2b2ae3d27d4eb4f;
  return mixed ^ mixed >> 29;
}

}  // namespace

LaneReader::LaneReader(const timeline::TimelineView& view, const timeline::NameMarks& marks,
                       ProfileGraph& graph, Edges& edges)
    : view_(view),
      marks_(marks),
      graph_(graph),
      edges_(edges),
      lane_(static_cast<uint32_t>(graph.lanes.size())) {
  graph.lanes.push_back({.rank = view.who.rank, .input = view.who.input});
  graph.lanes.back().step_begins.assign(graph.steps.size(), kNoMoment);
}

void LaneReader::Read() {
  FindClock();
  GatherWorks();
  GatherCalls();
  GatherMarks();
  std::ranges::stable_sort(
      calls_, {}, [](const Call& call) { return std::pair(call.begin, call.slice != kNone32); });
  for (size_t i = 0; i < calls_.size(); ++i) call_of_[calls_[i].slice] = i;
  AddHost();
  AddWorks();
  AddDeviceWaits();
  AddBusyTimes();
}

LaneReader::WorkMoments LaneReader::MomentsOf(int32_t slice) const {
  const auto found = moments_of_.find(slice);
  return found == moments_of_.end() ? WorkMoments() : found->second;
}

bool LaneReader::HasLaunches() const {
  const auto launched =
      std::ranges::count_if(works_, [](const Work& work) { return work.call != SIZE_MAX; });
  return 2 * static_cast<size_t>(launched) >= works_.size();
}

void LaneReader::FindClock() {
  const auto& clocks = view_.model.tables.Get<TimelineClockTable>();
  const auto& timelines = view_.model.tables.Get<TimelineTable>();
  const int64_t start = timelines.start_ns[view_.row], end = timelines.end_ns[view_.row];
  LaneClock& clock = graph_.lanes[lane_].clock;
  if (start != kNone64 && end != kNone64) clock.middle_ns = start + (end - start) / 2;
  const timeline::RowRange rows = timeline::RowsOf(clocks, view_.who.input);
  if (rows.size() == 0 || clocks.offset_ns[rows.begin] == kNone64) return;
  clock.offset_ns = clocks.offset_ns[rows.begin];
  if (std::isfinite(clocks.drift_ppb[rows.begin]))
    clock.drift = clocks.drift_ppb[rows.begin] * 1e-9;
}

void LaneReader::GatherWorks() {
  const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
  const auto& details = view_.model.tables.Get<TimelineDeviceWorkTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
  const timeline::RowRange steps =
      timeline::RowsOf(view_.model.tables.Get<TimelineStepTable>(), view_.who.input);
  size_t detail = view_.works.begin;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const int32_t slice = launches.slice[row];
    while (detail < view_.works.end && details.slice[detail] < slice) ++detail;
    const bool is_told = detail < view_.works.end && details.slice[detail] == slice;
    const auto at = timeline::TimelineView::At(slice);
    const bool is_launched = launches.launch[row] != kNone32;
    const size_t step = is_launched ? steps.end : RowOfStep(steps, launches.step[row]);
    works_.push_back({.slice = slice,
                      .begin = view_.start[at],
                      .end = view_.end(slice),
                      .stream = is_told ? std::pair(details.device[detail], details.stream[detail])
                                        : std::pair(kNone32, int64_t{view_.track[at]}),
                      .step = step < steps.end ? CommonStep(step) : -1,
                      .is_backward = IsBackward(launches.top_op[row])});
    if (is_launched) call_of_[launches.launch[row]] = SIZE_MAX;
  }
}

bool LaneReader::IsBackward(int32_t op) const {
  return op != kNone32 && view_.NameOf(op).starts_with("autograd::engine::evaluate_function");
}

// The row of timeline_step with this number; the end of the rows when there is none.
size_t LaneReader::RowOfStep(timeline::RowRange rows, int32_t step) const {
  const auto& steps = view_.model.tables.Get<TimelineStepTable>();
  for (size_t row = rows.begin; step != kNone32 && row < rows.end; ++row) {
    if (steps.step[row] == step) return row;
  }
  return rows.end;
}

// The place of a row of timeline_step among the steps that all lanes have; -1 when it is none.
int32_t LaneReader::CommonStep(size_t row) const {
  const auto& steps = view_.model.tables.Get<TimelineStepTable>();
  const int64_t label = steps.label[row] == kNone64 ? int64_t{steps.step[row]} : steps.label[row];
  const auto found = std::ranges::lower_bound(graph_.steps, label);
  const bool is_common = found != graph_.steps.end() && *found == label;
  return is_common ? static_cast<int32_t>(found - graph_.steps.begin()) : -1;
}

// Calls that launch work, wait for it or order streams, on threads that launch.
void LaneReader::GatherCalls() {
  std::vector<bool> launches(view_.tracks.size());
  for (const auto& [slice, call] : call_of_)
    launches[static_cast<size_t>(view_.track[timeline::TimelineView::At(slice)])] = true;
  timeline::OfName<uint8_t> is_of_use(view_.model.pools, [](std::string_view name) -> uint8_t {
    return IsStreamWaitName(name) || IsWaitingCall(name) ? 1 : 0;
  });
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    const auto at = timeline::TimelineView::At(slice);
    if (view_.kind[at] != view_.kinds.runtime) continue;
    if (!launches[static_cast<size_t>(view_.track[at])]) continue;
    if (call_of_.contains(slice) || is_of_use(view_.name[at]) != 0)
      calls_.push_back({.begin = view_.start[at], .end = view_.end(slice), .slice = slice});
  }
}

void LaneReader::GatherMarks() {
  const auto& steps = view_.model.tables.Get<TimelineStepTable>();
  const timeline::RowRange rows = timeline::RowsOf(steps, view_.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const int32_t step = CommonStep(row);
    calls_.push_back({.begin = steps.start_ns[row], .end = steps.start_ns[row], .step = step});
    calls_.push_back(
        {.begin = steps.end_ns[row], .end = steps.end_ns[row], .step = step, .is_end = true});
  }
}

// Moments of the step with the name of the slice are counted together.
uint32_t LaneReader::Add(Moment kind, int64_t time, int32_t step, int32_t slice) {
  const StringId name =
      slice == kNone32 ? StringId::kNone : view_.name[timeline::TimelineView::At(slice)];
  const uint64_t which = Mixed(static_cast<uint64_t>(kind), static_cast<uint64_t>(name));
  const uint64_t which_of_step = Mixed(static_cast<uint64_t>(step) + 1, which);
  const auto moment = static_cast<uint32_t>(graph_.size());
  graph_.time_ns.push_back(OnCommonClock(time));
  graph_.kinds.push_back(kind);
  graph_.lane_of.push_back(lane_);
  graph_.step_of.push_back(step);
  graph_.place.push_back(Mixed(which, seen_[which_of_step]++));
  graph_.slice.push_back(slice);
  graph_.is_backward.push_back(false);
  graph_.match.push_back(kNoMoment);
  return moment;
}

// The moment at which the last call before this one ended, on whatever thread.
uint32_t LaneReader::LastEnded(const Call& call) {
  const int32_t own =
      call.slice == kNone32 ? kNone32 : view_.track[timeline::TimelineView::At(call.slice)];
  uint32_t last = kNoMoment;
  int64_t last_end = kNone64;
  for (auto& [track, thread] : threads_) {
    std::erase_if(thread.open, [&](size_t open) {
      const Call& each = calls_[open];
      if (each.end > call.begin) return false;
      if (thread.last == kNoMoment || each.end >= thread.last_end) {
        thread.last = each.at_end;
        thread.last_end = each.end;
      }
      return true;
    });
    if (thread.last == kNoMoment) continue;
    if (track == own) edges_.emplace_back(call.at_begin, thread.last);
    if (thread.last_end >= last_end) last = thread.last, last_end = thread.last_end;
  }
  return last;
}

void LaneReader::AddHost() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    Call& call = calls_[i];
    const bool is_mark = call.slice == kNone32;
    if (is_mark && !call.is_end) step_ = call.step;
    call.at_begin = Add(is_mark ? Moment::kMark : Moment::kHost, call.begin, step_, call.slice);
    call.at_end = call.at_begin;
    if (const uint32_t last = LastEnded(call); last != kNoMoment)
      edges_.emplace_back(call.at_begin, last);
    if (is_mark && !call.is_end && call.step >= 0)
      graph_.lanes[lane_].step_begins[static_cast<size_t>(call.step)] = call.at_begin;
    if (!is_mark) {
      call.at_end = Add(Moment::kCall, call.end, step_, call.slice);
      edges_.emplace_back(call.at_end, call.at_begin);
    }
    const int32_t track = is_mark ? kNone32 : view_.track[timeline::TimelineView::At(call.slice)];
    threads_[track].open.push_back(i);
    if (IsStreamWait(call)) stream_waits_.push_back(i);
    if (is_mark && call.is_end) step_ = -1;
  }
}

bool LaneReader::IsStreamWait(const Call& call) const {
  return call.slice != kNone32 && IsStreamWaitName(view_.NameOf(call.slice));
}

// Where the host made the stream of `work` wait for others since it launched there before: the work
// of other streams that ended last, of what was launched before that.
uint32_t LaneReader::WaitedFor(const Work& work, size_t before) const {
  if (work.call == SIZE_MAX) return kNoMoment;
  const auto wait = std::ranges::lower_bound(stream_waits_, work.call);
  if (wait == stream_waits_.begin()) return kNoMoment;
  const size_t last_wait = *(wait - 1);
  if (before != SIZE_MAX && last_wait < before) return kNoMoment;
  uint32_t found = kNoMoment;
  int64_t latest = kNone64;
  for (const auto& [stream, works] : streams_) {
    if (stream == work.stream) continue;
    size_t looked = 0;
    for (auto each = works.rbegin(); each != works.rend() && looked < kFarthestLook;
         ++each, ++looked) {
      const Work& other = works_[*each];
      if (other.call == SIZE_MAX || other.call > last_wait) continue;
      if (other.end > work.begin + kStreamSlackNs) continue;
      if (other.end > latest) found = other.at_end, latest = other.end;
      break;
    }
  }
  return found;
}

void LaneReader::AddWorks() {
  const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
  for (size_t i = 0; i < works_.size(); ++i) {
    const auto call = call_of_.find(launches.launch[rows.begin + i]);
    const bool is_known = launches.launch[rows.begin + i] != kNone32 && call != call_of_.end();
    works_[i].call = is_known ? call->second : SIZE_MAX;
  }
  std::ranges::stable_sort(works_, {}, &Work::begin);
  for (size_t i = 0; i < works_.size(); ++i) {
    Work& work = works_[i];
    const bool is_launched = work.call != SIZE_MAX;
    const int32_t step = is_launched ? graph_.step_of[calls_[work.call].at_begin] : work.step;
    // Without its call, what is before the work is the host's.
    const uint32_t begin =
        Add(is_launched ? Moment::kWorkBegin : Moment::kHost, work.begin, step, work.slice);
    work.at_end = Add(Moment::kWork, work.end, step, work.slice);
    graph_.is_backward[work.at_end] = work.is_backward;
    edges_.emplace_back(work.at_end, begin);
    if (is_launched) edges_.emplace_back(begin, calls_[work.call].at_begin);
    auto& stream = streams_[work.stream];
    const size_t before = stream.empty() ? SIZE_MAX : works_[stream.back()].call;
    if (!stream.empty() && works_[stream.back()].end <= work.begin + kStreamSlackNs)
      edges_.emplace_back(begin, works_[stream.back()].at_end);
    if (const uint32_t other = WaitedFor(work, before); other != kNoMoment)
      edges_.emplace_back(begin, other);
    stream.push_back(i);
    moments_of_[work.slice] = {begin, work.at_end};
  }
}

// A call that waits for the device ends behind the last work that ended in it, and a mark of a step
// inside of such a call (steps that were found by their period begin anywhere) stands behind the
// last that ended before it.
void LaneReader::AddDeviceWaits() {
  std::vector<size_t> by_end(works_.size());
  for (size_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::ranges::stable_sort(by_end, {}, [&](size_t work) { return works_[work].end; });
  auto wait_for_last = [&](uint32_t moment, size_t call, int64_t until) {
    auto work =
        std::ranges::upper_bound(by_end, until, {}, [&](size_t each) { return works_[each].end; });
    for (size_t looked = 0; work != by_end.begin() && looked < kFarthestLook; ++looked) {
      const Work& each = works_[*--work];
      if (each.end <= calls_[call].begin) break;
      if (each.call == SIZE_MAX || each.call > call) continue;
      edges_.emplace_back(moment, each.at_end);
      break;
    }
  };
  size_t waiting = SIZE_MAX;  // the call that waits longest, of those that have begun
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    if (call.slice == kNone32) {
      if (waiting != SIZE_MAX && calls_[waiting].end > call.begin)
        wait_for_last(call.at_begin, waiting, call.begin);
      continue;
    }
    if (!IsWaitingCall(view_.NameOf(call.slice))) continue;
    wait_for_last(call.at_end, i, call.end + kClockSlackNs);
    if (waiting == SIZE_MAX || call.end > calls_[waiting].end) waiting = i;
  }
}

void LaneReader::AddBusyTimes() {
  std::vector<Interval> loading, compiling, allocating;
  timeline::OfName<uint8_t> allocates(view_.model.pools, [](std::string_view name) -> uint8_t {
    return timeline::HostClassOf(name, true) == timeline::HostClass::kMemoryAllocation ? 1 : 0;
  });
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    const auto at = timeline::TimelineView::At(slice);
    if (view_.kinds.IsWork(view_.kind[at])) continue;
    const Interval time = {OnCommonClock(view_.start[at]), OnCommonClock(view_.end(slice))};
    if (marks_.LoadsData(view_.name[at])) loading.push_back(time);
    if (marks_.Compiles(view_.name[at])) compiling.push_back(time);
    if (view_.kind[at] == view_.kinds.runtime && allocates(view_.name[at]) != 0)
      allocating.push_back(time);
  }
  graph_.lanes[lane_].loading = Union(std::move(loading));
  graph_.lanes[lane_].compiling = Union(std::move(compiling));
  graph_.lanes[lane_].allocating = Union(std::move(allocating));
}

}  // namespace debrief::analyses::what_if
