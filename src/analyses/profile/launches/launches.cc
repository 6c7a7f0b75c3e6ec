#include "analyses/profile/launches/launches.h"

#include <algorithm>
#include <tuple>

#include "tables/timeline.h"
#include "tables/timeline_launch.h"

namespace debrief::analyses::profile_launches {

namespace {

using timeline::TimelineView;

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kSlowCall = 50 * kMicrosecond;
constexpr int64_t kSlowStart = 100 * kMicrosecond;
constexpr int64_t kFullQueue = 1024;

struct Place {
  int32_t device;
  int64_t stream;
};

Place PlaceOf(const TimelineView& view, int32_t work) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  const size_t track = view.tracks.begin + TimelineView::At(view.track[TimelineView::At(work)]);
  return {tracks.device[track], tracks.stream[track]};
}

auto Order(const Launch& launch) {
  return std::tuple(launch.call, launch.device, launch.stream, launch.work_start);
}

// One for each call and stream; sorted before.
std::vector<Launch> Joined(const std::vector<Launch>& pieces) {
  std::vector<Launch> launches;
  for (const Launch& piece : pieces) {
    const bool same = !launches.empty() && launches.back().call == piece.call &&
                      launches.back().device == piece.device &&
                      launches.back().stream == piece.stream;
    if (same) {
      launches.back().work_time += piece.work_time;
    } else {
      launches.push_back(piece);
    }
  }
  return launches;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A launch makes its queue longer, the begin of its work makes it shorter.
struct Change {
  int32_t device;
  int64_t stream, time;
  int64_t by;
  bool operator<(const Change& other) const {
    return std::tuple(device, stream, time, -by) <
           std::tuple(other.device, other.stream, other.time, -other.by);
  }
};

std::vector<Change> ChangesOf(const std::vector<Launch>& launches) {
  std::vector<Change> changes;
  for (const Launch& launch : launches) {
    const int64_t start = std::max(launch.call_start, launch.work_start);  // clocks may disagree
    changes.push_back({launch.device, launch.stream, launch.call_start, 1});
    changes.push_back({launch.device, launch.stream, start, -1});
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

}  // namespace

Launches LaunchesOf(const TimelineView& view) {
  const auto& table = view.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(table, view.who.input);
  Launches result;
  std::vector<Launch> pieces;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const int32_t work = table.slice[row], call = table.launch[row];
    if (call == kNone32) {
      ++result.unlinked;
      continue;
    }
    const Place place = PlaceOf(view, work);
    pieces.push_back({.call = call,
                      .device = place.device,
                      .stream = place.stream,
                      .call_start = view.start[TimelineView::At(call)],
                      .call_end = view.end(call),
                      .work_start = view.start[TimelineView::At(work)],
                      .work_time = view.duration[TimelineView::At(work)]});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Launch& a, const Launch& b) { return Order(a) < Order(b); });
  result.launches = Joined(pieces);
  return result;
}

std::vector<Launch> QueuedWorksOf(const TimelineView& view) {
  std::vector<Launch> waits;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (view.kind[TimelineView::At(slice)] != view.kinds.queue) continue;
    const Place place = PlaceOf(view, slice);
    const int64_t start = view.start[TimelineView::At(slice)];
    waits.push_back({.call = slice,
                     .device = place.device,
                     .stream = place.stream,
                     .call_start = start,
                     .call_end = start,
                     .work_start = view.end(slice)});
  }
  return waits;
}

std::vector<Launch> HtaLaunchesOf(const TimelineView& view, timeline::HtaNames& names) {
  const auto& table = view.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(table, view.who.input);
  std::vector<int32_t> call_of(view.slices.size(), kNone32);
  for (size_t row = rows.begin; row < rows.end; ++row)
    call_of[TimelineView::At(table.slice[row])] = table.launch[row];
  const int64_t told_base = view.model.tables.Get<TimelineTable>().base_ns[view.row];
  const int64_t base = told_base == kNone64 ? 0 : told_base;
  std::vector<Launch> launches;
  for (const timeline::HtaRow& row : timeline::HtaRowsOf(view, names).rows) {
    const int32_t call = call_of[TimelineView::At(row.slice)];
    if (call == kNone32) continue;
    const Interval called = timeline::WholeMicroseconds(view.start[TimelineView::At(call)] - base,
                                                        view.duration[TimelineView::At(call)]);
    launches.push_back({.call = call,
                        .device = PlaceOf(view, row.slice).device,
                        .stream = row.stream,
                        .call_start = called.begin * kMicrosecond,
                        .call_end = called.end * kMicrosecond,
                        .work_start = row.time.begin * kMicrosecond,
                        .work_time = row.time.length() * kMicrosecond});
  }
  return launches;
}

bool IsInHtaStatistics(std::string_view function) {
  return IsOneOf(function, {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
                            "cudaMemsetAsync"}) ||
         function.starts_with("runFunction");
}

bool IsInHtaQueues(std::string_view function) {
  return IsInHtaStatistics(function) ||
         IsOneOf(function, {"cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel",
                            "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
                            "hipMemcpyWithStream"});
}

LaunchStats StatsOf(const std::vector<Launch>& launches) {
  LaunchStats stats;
  for (const Launch& launch : launches) {
    const int64_t call_time = launch.call_end - launch.call_start;
    const int64_t delay = std::max<int64_t>(0, launch.work_start - launch.call_end);
    ++stats.launches;
    if (call_time <= kSlowCall && launch.work_time < call_time) ++stats.short_works;
    if (call_time > kSlowCall) ++stats.slow_calls;
    if (delay > kSlowStart) ++stats.slow_starts;
    stats.delays.push_back(delay);
  }
  return stats;
}

std::vector<Queue> QueuesOf(const std::vector<Launch>& launches) {
  std::vector<Queue> queues;
  int64_t depth = 0, since = 0;
  for (const Change& change : ChangesOf(launches)) {
    if (queues.empty() || queues.back().device != change.device ||
        queues.back().stream != change.stream) {
      queues.push_back({.device = change.device, .stream = change.stream});
      depth = 0, since = change.time;
    }
    Queue& queue = queues.back();
    const int64_t time = change.time - since;
    queue.span += time;
    queue.depth_time += static_cast<double>(depth) * static_cast<double>(time);
    if (depth >= kFullQueue) queue.full_time += time;
    if (change.by > 0) ++queue.launches;
    depth += change.by;
    since = change.time;
    queue.max_depth = std::max(queue.max_depth, depth);
  }
  return queues;
}

}  // namespace debrief::analyses::profile_launches
