#include "analyses/profile/critical_path/device_order.h"

#include <algorithm>

#include "tables/timeline_launch.h"

namespace debrief::analyses::profile_critical_path {

namespace {

using timeline::TimelineView;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls of the host that put something on a stream, by slice of the work.
std::vector<int32_t> LaunchesOf(const TimelineView& view) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
  std::vector<int32_t> launch_of(view.slices.size(), kNone32);
  for (size_t row = rows.begin; row < rows.end; ++row)
    launch_of[TimelineView::At(launches.slice[row])] = launches.launch[row];
  return launch_of;
}

std::unordered_map<int64_t, int32_t> CallsByCorrelation(const TimelineView& view) {
  std::unordered_map<int64_t, int32_t> calls;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    if (view.kind[at] == view.kinds.runtime && view.correlation[at] != kNone64)
      calls[view.correlation[at]] = slice;
  }
  return calls;
}

template <typename Calls>
int32_t Find(const Calls& calls, typename Calls::key_type key) {
  auto found = calls.find(key);
  return found == calls.end() ? kNone32 : found->second;
}

}  // namespace

DeviceOrder::DeviceOrder(const TimelineView& view, const timeline::DeviceClasses& classes,
                         Interval window, int64_t launched_before)
    : view_(view), classes_(classes) {
  AddWorks(window, launched_before);
  AddSyncs();
}

void DeviceOrder::AddWorks(Interval window, int64_t launched_before) {
  const std::vector<int32_t> launch_of = LaunchesOf(view_);
  for (const timeline::DeviceWork& found : timeline::DeviceWorksOf(view_, classes_).works) {
    if (found.time.length() == 0 || found.time.end <= window.begin ||
        found.time.begin >= window.end)
      continue;
    Work work{.time = found.time,
              .slice = found.slice,
              .launch = launch_of[TimelineView::At(found.slice)],
              .device_class = found.device_class};
    if (LaunchedAt(work) >= launched_before) continue;
    auto [at, is_new] = stream_of_.try_emplace({found.device, found.stream}, streams_.size());
    if (is_new) streams_.emplace_back();
    Stream& stream = streams_[at->second];
    work.stream = at->second;
    if (!stream.works.empty()) work.previous = stream.works.back();
    const int64_t launched = stream.works.empty()
                                 ? LaunchedAt(work)
                                 : std::max(stream.launched_by.back(), LaunchedAt(work));
    if (work.launch != kNone32) ++linked_;
    const auto number = static_cast<int32_t>(works_.size());
    if (work.device_class == timeline::DeviceClass::kMemcpy && work.launch != kNone32 &&
        work.time.end <= view_.end(work.launch))
      awaited_by_call_[work.launch] = number;  // the call returned when the copy was done
    stream.works.push_back(number);
    stream.launched_by.push_back(launched);
    works_.push_back(work);
  }
}

void DeviceOrder::AddSyncs() {
  const auto& rows = view_.model.tables.Get<TimelineDeviceWorkTable>();
  std::unordered_map<int64_t, int32_t> calls;
  for (size_t row = view_.works.begin; row < view_.works.end; ++row) {
    if (view_.kind[TimelineView::At(rows.slice[row])] != view_.kinds.sync) continue;
    if (!has_sync_events_) calls = CallsByCorrelation(view_);
    has_sync_events_ = true;
    AddSync(row, rows.slice[row], calls);
  }
  for (Stream& stream : streams_) std::stable_sort(stream.waits.begin(), stream.waits.end());
}

void DeviceOrder::AddSync(size_t work_row, int32_t sync,
                          const std::unordered_map<int64_t, int32_t>& calls) {
  const auto& rows = view_.model.tables.Get<TimelineDeviceWorkTable>();
  const int32_t call = Find(calls, view_.correlation[TimelineView::At(sync)]);
  if (call == kNone32) return;
  const int64_t called = view_.start[TimelineView::At(call)];
  // Without the call that recorded the event: it was recorded before the wait was asked for.
  const int32_t record = Find(calls, rows.wait_correlation[work_row]);
  const int64_t recorded =
      record == kNone32 ? called : std::min(called, view_.start[TimelineView::At(record)]);
  const std::string_view name = view_.NameOf(sync);
  const int32_t device = rows.device[work_row];
  const int64_t wait_stream = rows.wait_stream[work_row];
  if (Contains(name, "Wait Event")) {
    const int32_t awaited = LastOfStream({device, wait_stream}, recorded);
    auto waiting = stream_of_.find({device, rows.stream[work_row]});
    if (awaited != kNone32 && waiting != stream_of_.end())
      streams_[waiting->second].waits.push_back({called, awaited});
    return;
  }
  int32_t awaited = kNone32;
  if (Contains(name, "Event")) {
    awaited = LastOfStream({device, wait_stream}, recorded);
  } else if (Contains(name, "Stream")) {
    awaited = LastOfStream({device, rows.stream[work_row]}, called);
  } else {
    awaited = LastOfAll(called);
  }
  if (awaited != kNone32) awaited_by_call_[call] = awaited;
}

int32_t DeviceOrder::AwaitedByWork(int32_t work) const {
  const Work& waiting = (*this)[work];
  const auto& waits = streams_[waiting.stream].waits;
  // Earlier waits held up the previous work of the stream already.
  const int64_t since =
      waiting.previous == kNone32 ? kNone64 : LaunchedAt((*this)[waiting.previous]);
  int32_t awaited = kNone32;
  for (auto wait = std::lower_bound(waits.begin(), waits.end(), Wait{since, kNone32});
       wait != waits.end() && wait->called < LaunchedAt(waiting); ++wait) {
    if ((*this)[wait->work].time.begin >= waiting.time.begin) continue;
    if (awaited == kNone32 || (*this)[awaited].time.end < (*this)[wait->work].time.end)
      awaited = wait->work;
  }
  return awaited;
}

int32_t DeviceOrder::AwaitedByCall(int32_t slice) const {
  const int32_t awaited = Find(awaited_by_call_, slice);
  if (awaited != kNone32) return awaited;
  if (!Contains(view_.NameOf(slice), "DeviceSynchronize")) return kNone32;
  return LastOfAll(view_.start[TimelineView::At(slice)]);
}

int64_t DeviceOrder::edges() const {
  int64_t edges = linked_ + static_cast<int64_t>(awaited_by_call_.size());
  for (const Stream& stream : streams_)
    edges += static_cast<int64_t>(stream.works.size() - 1 + stream.waits.size());
  return edges;
}

// Work that begins was launched by then.
int64_t DeviceOrder::LaunchedAt(const Work& work) const {
  if (work.launch == kNone32) return work.time.begin;
  return std::min(work.time.begin, view_.start[TimelineView::At(work.launch)]);
}

int32_t DeviceOrder::LastLaunchedBefore(const Stream& stream, int64_t time) const {
  auto after = std::lower_bound(stream.launched_by.begin(), stream.launched_by.end(), time);
  if (after == stream.launched_by.begin()) return kNone32;
  return stream.works[static_cast<size_t>(after - stream.launched_by.begin()) - 1];
}

int32_t DeviceOrder::LastOfStream(StreamKey key, int64_t launched_before) const {
  auto found = stream_of_.find(key);
  if (found == stream_of_.end()) return kNone32;
  return LastLaunchedBefore(streams_[found->second], launched_before);
}

int32_t DeviceOrder::LastOfAll(int64_t launched_before) const {
  int32_t last = kNone32;
  for (const Stream& stream : streams_) {
    const int32_t work = LastLaunchedBefore(stream, launched_before);
    if (work == kNone32) continue;
    if (last == kNone32 || (*this)[last].time.end < (*this)[work].time.end) last = work;
  }
  return last;
}

}  // namespace debrief::analyses::profile_critical_path
