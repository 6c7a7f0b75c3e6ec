#include "model/timeline/device_time.h"

#include <algorithm>
#include <tuple>

#include "tables/timeline_step.h"

namespace debrief::timeline {

namespace {

// In lower case.
constexpr std::string_view kCommunicationWords[] = {
    "nccl",       "rccl",      "hccl",       "oneccl",    "msccl",          "cross_device_reduce",
    "all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "all_to_all",
    "alltoall",   "nvshmem",   "rocshmem",   "deep_ep",   "reducescatter",  "rdma",
    "hcoll",
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

DeviceWork WorkOf(const TimelineView& view, int32_t slice, DeviceClass device_class) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  size_t track = view.tracks.begin + TimelineView::At(view.track[TimelineView::At(slice)]);
  return {.time = {view.start[TimelineView::At(slice)], view.end(slice)},
          .stream = tracks.stream[track],
          .slice = slice,
          .device = tracks.device[track],
          .device_class = device_class};
}

// What the event itself says counts more than what its track says.
void TakeDetails(const TimelineView& view, std::vector<DeviceWork>& works) {
  const auto& details = view.model.tables.Get<TimelineDeviceWorkTable>();
  size_t row = view.works.begin;
  for (DeviceWork& work : works) {
    while (row < view.works.end && details.slice[row] < work.slice) ++row;
    if (row == view.works.end || details.slice[row] != work.slice) continue;
    if (details.device[row] != kNone32) work.device = details.device[row];
    if (details.stream[row] != kNone64) work.stream = details.stream[row];
  }
}

struct Edge {
  int64_t time;
  int64_t change;
};

std::vector<Edge> EdgesOf(const std::vector<std::vector<Interval>>& kinds) {
  std::vector<Edge> edges;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    int64_t bit = int64_t{1} << kind;
    for (const Interval& each : kinds[kind]) {
      edges.push_back({each.begin, bit});
      edges.push_back({each.end, -bit});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  return edges;
}

}  // namespace

std::string_view DeviceClassName(DeviceClass device_class) {
  static constexpr std::string_view kNames[] = {"none",   "compute", "communication",
                                                "memcpy", "memset",  "sync"};
  return kNames[static_cast<size_t>(device_class)];
}

bool IsCommunicationName(std::string_view kernel) {
  std::string lower(kernel);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return std::any_of(std::begin(kCommunicationWords), std::end(kCommunicationWords),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

DeviceClasses::DeviceClasses(const Model& model)
    : kinds_(model.pools), is_communication_(model.pools, IsCommunicationName) {}

DeviceClass DeviceClasses::Of(StringId kind, StringId name) const {
  if (kind == StringId::kNone) return DeviceClass::kNone;
  if (kind == kinds_.memcpy) return DeviceClass::kMemcpy;
  if (kind == kinds_.memset) return DeviceClass::kMemset;
  if (kind == kinds_.sync) return DeviceClass::kSync;
  if (kind != kinds_.kernel) return DeviceClass::kNone;
  return is_communication_(name) ? DeviceClass::kCommunication : DeviceClass::kCompute;
}

std::vector<int32_t> DeviceWorks::Devices() const {
  std::vector<int32_t> devices;
  for (const DeviceWork& work : works) {
    if (std::find(devices.begin(), devices.end(), work.device) == devices.end())
      devices.push_back(work.device);
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

DeviceWorks DeviceWorksOf(const TimelineView& view, const DeviceClasses& classes) {
  DeviceWorks found;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (!view.kinds.IsWork(view.kind[TimelineView::At(slice)])) continue;
    if (view.duration[TimelineView::At(slice)] < 0) {
      ++found.negative;
    } else {
      found.works.push_back(WorkOf(view, slice, classes.Of(view, slice)));
    }
  }
  TakeDetails(view, found.works);
  std::sort(found.works.begin(), found.works.end(), [](const DeviceWork& a, const DeviceWork& b) {
    return std::tuple(a.time.begin, a.slice) < std::tuple(b.time.begin, b.slice);
  });
  return found;
}

Interval SpanOf(std::span<const DeviceWork> works) {
  if (works.empty()) return {};
  Interval span = works.front().time;
  for (const DeviceWork& work : works) span.end = std::max(span.end, work.time.end);
  return span;
}

ClassTimes ClassTimesOf(std::span<const DeviceWork> works) {
  ClassTimes times;
  for (const DeviceWork& work : works) {
    bool computes = work.device_class == DeviceClass::kCompute;
    bool communicates = work.device_class == DeviceClass::kCommunication;
    AppendToUnion(computes       ? times.compute
                  : communicates ? times.communication
                                 : times.memory,
                  work.time);
  }
  return times;
}

TimeSplit SplitTime(const ClassTimes& times, Interval window) {
  IntervalSet compute = Clip(times.compute, window);
  IntervalSet communication = Clip(times.communication, window);
  IntervalSet memory = Clip(times.memory, window);
  IntervalSet kernels = Union(compute, communication);
  TimeSplit split;
  split.total = window.length();
  split.compute = Length(compute);
  split.communication = Length(communication);
  split.memory = Length(memory);
  split.overlap = Length(Intersect(compute, communication));
  split.exposed_communication = split.communication - split.overlap;
  split.exposed_memory = Length(Subtract(memory, kernels));
  split.busy = Length(kernels) + split.exposed_memory;
  split.idle = split.total - split.busy;
  return split;
}

std::map<int64_t, int64_t> TimeOfSets(const std::vector<std::vector<Interval>>& kinds) {
  std::map<int64_t, int64_t> times;
  std::vector<Edge> edges = EdgesOf(kinds);
  int64_t running = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    int64_t length = edges[i + 1].time - edges[i].time;
    if (running > 0 && length > 0) times[running] += length;
  }
  return times;
}

std::vector<std::pair<std::string, int64_t>> NamedSets(const std::map<int64_t, int64_t>& sets,
                                                       std::span<const std::string_view> names) {
  std::map<std::string, int64_t> by_name;
  for (const auto& [set, time] : sets) {
    std::string name;
    for (size_t kind = 0; kind < names.size(); ++kind) {
      if ((set & (int64_t{1} << kind)) == 0) continue;
      if (!name.empty()) name += " overlapping ";
      name += names[kind];
    }
    by_name[name] += time;
  }
  std::vector<std::pair<std::string, int64_t>> named(by_name.begin(), by_name.end());
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return named;
}

std::vector<StepWindow> StepWindowsOf(const TimelineView& view) {
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  RowRange rows = RowsOf(steps, view.who.input);
  std::vector<StepWindow> windows;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    int64_t before = windows.empty() ? steps.start_ns[row] : windows.back().time.end;
    int64_t begin = std::max(before, steps.start_ns[row]);
    int64_t end = std::max(steps.end_ns[row], steps.device_end_ns[row]);  // null is the smallest
    windows.push_back({.step = steps.step[row],
                       .time = {begin, std::max(begin, end)},
                       .launches = steps.launches[row]});
  }
  return windows;
}

StepFinder::StepFinder(const TimelineView& view) {
  const auto& table = view.model.tables.Get<TimelineStepTable>();
  RowRange rows = RowsOf(table, view.who.input);
  starts_ = std::span(table.start_ns).subspan(rows.begin, rows.size());
  ends_ = std::span(table.end_ns).subspan(rows.begin, rows.size());
  steps_ = std::span(table.step).subspan(rows.begin, rows.size());
}

int64_t StepFinder::BegunBy(int64_t host_time) const {
  return std::upper_bound(starts_.begin(), starts_.end(), host_time) - starts_.begin();
}

int32_t StepFinder::At(int64_t host_time) const {
  int64_t begun = BegunBy(host_time);
  if (begun == 0) return kNone32;
  auto last = static_cast<size_t>(begun) - 1;
  return host_time < ends_[last] ? steps_[last] : kNone32;
}

}  // namespace debrief::timeline
