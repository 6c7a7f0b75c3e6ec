#include "model/timeline/rank_windows.h"

#include <algorithm>

#include "model/timeline/host_activity.h"
#include "model/timeline/typical_steps.h"
#include "tables/timeline_step.h"

namespace debrief::timeline {

namespace {

// A thread with less than this share of the busiest one's calls is a helper: that it waits for a
// device says nothing about the program.
constexpr int64_t kHelperShare = 10;

struct Sets {
  IntervalSet busy, waiting, data, compile;  // host
  IntervalSet compute, communication;        // device
};

void Join(IntervalSet& all, const IntervalSet& more) {
  if (!more.empty()) all = Union(all, more);
}

class Sorter {
 public:
  Sorter(const TimelineView& view, const DeviceClasses& classes, const NameMarks& marks)
      : view_(view), classes_(classes), marks_(marks) {}

  Sets Sort() {
    std::vector<int64_t> calls = CallsOfTracks();
    int64_t most = calls.empty() ? 0 : *std::max_element(calls.begin(), calls.end());
    const auto& tracks = view_.model.tables.Get<TimelineTrackTable>();
    for (size_t i = 0; i < view_.tracks.size(); ++i) {
      size_t row = view_.tracks.begin + i;
      int32_t first = tracks.first_slice[row];
      Interval slices{first, int64_t{first} + tracks.slices[row]};
      if (tracks.slices[row] <= 0 || first < 0) continue;
      if (tracks.kind[row] == view_.kinds.stream) AddStream(slices);
      if (tracks.kind[row] == view_.kinds.thread && calls[i] * kHelperShare >= most)
        AddThread(slices);
    }
    return std::move(sets_);
  }

 private:
  bool IsCall(size_t at) const {
    return view_.kind[at] == view_.kinds.op || view_.kind[at] == view_.kinds.runtime;
  }

  std::vector<int64_t> CallsOfTracks() const {
    std::vector<int64_t> calls(view_.tracks.size());
    for (size_t at = 0; at < view_.slices.size(); ++at) {
      if (IsCall(at)) ++calls[TimelineView::At(view_.track[at])];
    }
    return calls;
  }

  Interval Time(size_t at) const { return {view_.start[at], view_.start[at] + view_.duration[at]}; }

  // Slices of a track are sorted by start.
  void AddStream(Interval slices) {
    Sets own;
    for (auto at = static_cast<size_t>(slices.begin); at < static_cast<size_t>(slices.end); ++at) {
      DeviceClass device_class = classes_.Of(view_.kind[at], view_.name[at]);
      if (device_class == DeviceClass::kNone || device_class == DeviceClass::kSync) continue;
      bool talks = device_class == DeviceClass::kCommunication;
      AppendToUnion(talks ? own.communication : own.compute, Time(at));
    }
    Join(sets_.compute, own.compute);
    Join(sets_.communication, own.communication);
  }

  void AddThread(Interval slices) {
    Sets own;
    const auto& told = view_.model.tables.Get<TimelineCollectiveTable>();
    size_t row = view_.collectives.begin;
    for (auto at = static_cast<size_t>(slices.begin); at < static_cast<size_t>(slices.end); ++at) {
      while (row < view_.collectives.end && told.slice[row] < static_cast<int32_t>(at)) ++row;
      bool talks = row < view_.collectives.end && told.slice[row] == static_cast<int32_t>(at);
      bool waits = view_.kind[at] == view_.kinds.runtime && marks_.Waits(view_.name[at]);
      if (IsCall(at)) AppendToUnion(own.busy, Time(at));
      if (talks || waits) AppendToUnion(own.waiting, Time(at));
      if (marks_.LoadsData(view_.name[at])) AppendToUnion(own.data, Time(at));
      if (marks_.Compiles(view_.name[at])) AppendToUnion(own.compile, Time(at));
    }
    Join(sets_.busy, own.busy);
    Join(sets_.waiting, own.waiting);
    Join(sets_.data, own.data);
    Join(sets_.compile, own.compile);
  }

  const TimelineView& view_;
  const DeviceClasses& classes_;
  const NameMarks& marks_;
  Sets sets_;
};

Window MeasureOne(const Sets& sets, const IntervalSet& device, Interval time, int64_t key) {
  Window window{.key = key, .time = time, .length_ns = time.length()};
  IntervalSet waiting = Clip(sets.waiting, time);
  window.host_own_ns = time.length() - Length(waiting);
  window.host_busy_ns = Length(Subtract(Clip(sets.busy, time), waiting));
  window.data_ns = Length(Clip(sets.data, time));
  window.compute_ns = Length(Clip(sets.compute, time));
  window.communication_ns = Length(Clip(sets.communication, time));
  window.idle_ns = time.length() - Length(Clip(device, time));
  window.compile_ns = Length(Subtract(Clip(sets.compile, time), waiting));
  window.still_ns = Length(Subtract(waiting, device));
  return window;
}

}  // namespace

uint8_t NameMarks::MarksOf(std::string_view text) {
  uint8_t mark = 0;
  if (HostClassOf(text, true) == HostClass::kSync) mark |= kWaits;
  if (HostClassOf(text, false) == HostClass::kDataLoading) mark |= kLoadsData;
  if (HostClassOf(text, false) == HostClass::kCompile) mark |= kCompiles;
  return mark;
}

RankWindows MeasureRank(const TimelineView& view, const DeviceClasses& classes,
                        const NameMarks& marks, Interval whole) {
  Sets sets = Sorter(view, classes, marks).Sort();
  IntervalSet device = Union(sets.compute, sets.communication);
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  RowRange rows = RowsOf(steps, view.who.input);
  RankWindows measured{
      .from_steps = rows.size() > 0, .windows = {}, .compute_ns = Length(sets.compute)};
  for (size_t row = rows.begin; row < rows.end; ++row) {
    int64_t key = steps.label[row] == kNone64 ? steps.step[row] : steps.label[row];
    measured.windows.push_back(
        MeasureOne(sets, device, {steps.start_ns[row], steps.end_ns[row]}, key));
  }
  if (rows.size() == 0 && whole.length() > 0)
    measured.windows.push_back(MeasureOne(sets, device, whole, 0));
  return measured;
}

std::vector<Window> MeasureCompared(const TimelineView& view, const DeviceClasses& classes,
                                    const NameMarks& marks) {
  const Sets sets = Sorter(view, classes, marks).Sort();
  const IntervalSet device = Union(sets.compute, sets.communication);
  std::vector<Window> windows;
  for (const ComparedStep& step : ComparedStepsOf(view))
    windows.push_back(MeasureOne(sets, device, step.time, step.key));
  return windows;
}

}  // namespace debrief::timeline
