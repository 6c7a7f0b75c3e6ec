// Profiles in the timeline: a process for each of the file's, a lane for each track. Kernels that
// communicate, and ops and kernels with a row in timeline_collective, are of kind comm. The host
// also has lanes for steps and memory.
// Cost: one pass over the slices and over the rows of details of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/timeline/device_time.h"
#include "outputs/report/html/timeline/maker.h"
#include "outputs/report/html/timeline/profile_parts.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_step.h"
#include "tables/timeline_track.h"

namespace debrief::outputs::html {

namespace {

using timeline::TimelineView;

void AddPoint(int64_t zero, int64_t time_ns, double value, CounterSeries& series) {
  Slice at;
  if (std::isfinite(value) && SetTimes(zero, time_ns, 0, at))
    series.points.push_back({at.start, value});
}

double OrNone(int64_t bytes) { return bytes == kNone64 ? kNoDouble : static_cast<double>(bytes); }

std::string DeviceName(int32_t type, int32_t device) {
  if (type == 0) return "memory of the host";
  if (type == 1) return fmt::format("memory of GPU {}", device);
  return fmt::format("memory of device {} (type {})", device, type);
}

// The series of each counter, by row of its track. `zero`: the time that is 0 in the page.
using TrackCounters = std::map<size_t, std::vector<CounterSeries>>;

TrackCounters CountersOf(const TimelineView& view, int64_t zero) {
  const auto& table = view.model.tables.Get<TimelineCounterTable>();
  TrackCounters counters;
  std::map<std::pair<size_t, StringId>, size_t> place;  // of a series in its track
  for (size_t row = view.counters.begin; row < view.counters.end; ++row) {
    const size_t track = view.tracks.begin + static_cast<size_t>(table.track[row]);
    std::vector<CounterSeries>& series = counters[track];
    const auto [at, is_new] = place.try_emplace({track, table.series[row]}, series.size());
    if (is_new) {
      const std::string_view name = CutText(view.model.pools.Text(table.series[row]));
      series.push_back({.name = std::string(name), .unit = "", .points = {}});
    }
    AddPoint(zero, table.time_ns[row], table.number[row], series[at->second]);
  }
  return counters;
}

// Bytes allocated and reserved.
struct DeviceMemory {
  std::string name;  // "memory of GPU 0"
  std::vector<CounterSeries> series;
};

std::vector<DeviceMemory> MemoryOf(const TimelineView& view, int64_t zero) {
  const auto& table = view.model.tables.Get<TimelineMemoryTable>();
  std::map<std::pair<int32_t, int32_t>, DeviceMemory> devices;
  for (size_t row = view.memory.begin; row < view.memory.end; ++row) {
    const std::pair key(table.device_type[row], table.device[row]);
    DeviceMemory& memory = devices[key];
    if (memory.series.empty()) {
      memory.name = DeviceName(key.first, key.second);
      memory.series = {{"allocated", "bytes", {}}, {"reserved", "bytes", {}}};
    }
    AddPoint(zero, table.time_ns[row], OrNone(table.allocated_bytes[row]), memory.series[0]);
    AddPoint(zero, table.time_ns[row], OrNone(table.reserved_bytes[row]), memory.series[1]);
  }
  std::vector<DeviceMemory> all;
  for (auto& [key, memory] : devices) all.push_back(std::move(memory));
  return all;
}

class ProfileLanes {
 public:
  ProfileLanes(const TimelineView& view, TimelineMaker& maker)
      : view_(view),
        maker_(maker),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        notes_(view, maker.texts) {
    const auto& timelines = view.model.tables.Get<TimelineTable>();
    const int64_t earliest = EarliestOf(view);
    own_clock_ = timelines.base_ns[view.row] == kNone64 || !CountsFrom1970(earliest);
    zero_ = own_clock_ ? std::max(earliest, int64_t{0}) : maker.context.base;
  }

  void Add() {
    const TimelineShift shift = Shift();
    counters_ = CountersOf(view_, zero_);
    const auto has_counters = [&](size_t track) { return counters_.contains(track); };
    for (const Party& party : PartiesOf(view_, has_counters)) {
      TimelineProcess& process = maker_.AddProcess(
          view_.who, fmt::format("{}.{}", view_.who.input, party.number), party.what);
      process.place = party.place;
      process.source = "profile";
      process.shift = shift;
      process.own_clock = own_clock_;
      if (party.is_main) AddOfWholeTimeline();
      for (size_t track : party.tracks) AddTrack(track);
    }
    maker_.writer.AddFlows(ProfileFlows(view_, maker_.kept, maker_.writer));
  }

 private:
  TimelineShift Shift() const {
    TimelineShift shift;
    const auto& clocks = view_.model.tables.Get<TimelineClockTable>();
    const auto& timelines = view_.model.tables.Get<TimelineTable>();
    const int64_t start = timelines.start_ns[view_.row];
    const int64_t end = timelines.end_ns[view_.row];
    if (start >= 0 && end >= start) shift.middle = start + (end - start) / 2 - zero_;
    const timeline::RowRange rows = timeline::RowsOf(clocks, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (clocks.offset_ns[row] == kNone64 || own_clock_) continue;
      shift.offset = clocks.offset_ns[row];
      if (std::isfinite(clocks.drift_ppb[row])) shift.drift = clocks.drift_ppb[row] * 1e-9;
    }
    return shift;
  }

  void AddTrack(size_t row) {
    const std::string id = std::to_string(tracks_.track[row]);
    const auto counters = counters_.find(row);
    const bool has_counters = counters != counters_.end();
    const std::string name = TrackName(view_, row);
    if (has_counters) maker_.AddCounters(id, name, std::move(counters->second));
    if (tracks_.slices[row] <= 0) return;
    FillSlices(static_cast<size_t>(tracks_.first_slice[row]),
               static_cast<size_t>(tracks_.slices[row]));
    maker_.AddLane(has_counters ? id + "s" : id, name, LaneKind(row));
  }

  std::string_view LaneKind(size_t row) const {
    const StringId kind = tracks_.kind[row];
    if (kind == view_.kinds.stream || kind == view_.kinds.stream_annotation) return "stream";
    return kind == view_.kinds.thread ? "thread" : "async";
  }

  void FillSlices(size_t first, size_t count) {
    maker_.slices.clear();
    notes_.Seek(static_cast<int32_t>(first));
    const size_t keep = maker_.context.SlicesOf(count);
    maker_.slices.reserve(keep);
    Longest longest(view_.duration.subspan(first, count), keep);
    Slice slice;
    for (size_t i = first; i < first + count; ++i) {
      if (!longest.Take(view_.duration[i])) continue;
      if (!SetTimes(zero_, view_.start[i], view_.duration[i], slice)) continue;
      const ProfileNotes::Note note = notes_.Of(static_cast<int32_t>(i));
      slice.name = maker_.texts.Number(view_.name[i]);
      slice.note = note.text;
      slice.number = static_cast<uint32_t>(i);
      slice.depth = view_.depth[i];
      slice.kind = KindOf(i, slice.name, note.is_collective);
      maker_.slices.push_back(slice);
    }
  }

  SliceKind KindOf(size_t slice, uint32_t name, bool is_collective) {
    const SliceKind kind = maker_.context.kind_of[static_cast<size_t>(view_.kind[slice])];
    if (kind == SliceKind::kKernel && (is_collective || IsComm(slice, name)))
      return SliceKind::kComm;
    return kind == SliceKind::kOp && is_collective ? SliceKind::kComm : kind;
  }

  // Decided once a name; 0 is the number of all that have no text.
  bool IsComm(size_t slice, uint32_t name) {
    if (name >= is_comm_.size()) is_comm_.resize(size_t{name} + 1, kNotAsked);
    uint8_t& known = is_comm_[name];
    if (known == kNotAsked || name == 0)
      known = timeline::IsCommunicationName(view_.NameOf(static_cast<int32_t>(slice))) ? 1 : 0;
    return known == 1;
  }

  void AddOfWholeTimeline() {
    AddSteps();
    size_t number = 0;
    for (DeviceMemory& memory : MemoryOf(view_, zero_))
      maker_.AddCounters(fmt::format("memory{}", number++), memory.name, std::move(memory.series));
  }

  void AddSteps() {
    const auto& steps = view_.model.tables.Get<TimelineStepTable>();
    const timeline::RowRange rows = timeline::RowsOf(steps, view_.who.input);
    maker_.slices.clear();
    for (size_t row = rows.begin; row < rows.end; ++row) {
      Slice slice;
      const int64_t start = steps.start_ns[row];
      if (!SetTimes(zero_, start, std::max(steps.end_ns[row], start) - start, slice)) continue;
      const bool labelled = steps.label[row] != kNone64;
      slice.name = maker_.texts.Number(
          fmt::format("step {}", labelled ? steps.label[row] : int64_t{steps.step[row]}));
      slice.note = maker_.texts.Number(labelled ? "" : "found by its period");
      slice.number = static_cast<uint32_t>(view_.slices.size() + row - rows.begin);
      slice.kind = SliceKind::kStep;
      maker_.slices.push_back(slice);
    }
    maker_.AddUnsortedLane("steps", "steps", "steps");
  }

  static constexpr uint8_t kNotAsked = 2;

  const TimelineView& view_;
  TimelineMaker& maker_;
  const TimelineTrackTable& tracks_;
  ProfileNotes notes_;
  bool own_clock_ = false;
  int64_t zero_ = 0;
  TrackCounters counters_;
  std::vector<uint8_t> is_comm_;  // by number of the name
};

}  // namespace

int64_t EarliestOf(const TimelineView& view) {
  int64_t earliest = INT64_MAX;
  const auto count = [&](int64_t time_ns) {
    if (time_ns >= 0) earliest = std::min(earliest, time_ns);
  };
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  for (size_t row = view.tracks.begin; row < view.tracks.end; ++row)
    if (tracks.slices[row] > 0) count(view.start[static_cast<size_t>(tracks.first_slice[row])]);
  const auto& counters = view.model.tables.Get<TimelineCounterTable>();
  for (size_t row = view.counters.begin; row < view.counters.end; ++row)
    count(counters.time_ns[row]);
  const auto& memory = view.model.tables.Get<TimelineMemoryTable>();
  for (size_t row = view.memory.begin; row < view.memory.end; ++row) count(memory.time_ns[row]);
  return earliest == INT64_MAX ? kNone64 : earliest;
}

void AddProfile(const TimelineView& view, TimelineMaker& maker) { ProfileLanes(view, maker).Add(); }

}  // namespace debrief::outputs::html
