// Profiles in the timeline: a process for each of the file's, a lane for each track. Kernels that
// communicate, and ops and kernels with a row in timeline_collective, are of kind comm.
//
// What has nothing but spans and marks of the profiler itself is one process, "profiler", whatever
// number of processes the file makes of it.
// Cost: one pass over the slices and over the rows of details of each.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "model/timeline/device_class.h"
#include "model/timeline/kinds.h"
#include "outputs/html/timeline_maker.h"
#include "outputs/html/timeline_profile_flows.h"
#include "outputs/html/timeline_profile_notes.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_process.h"
#include "tables/timeline_step.h"
#include "tables/timeline_track.h"

namespace debrief::outputs::html {

namespace {

using timeline::TimelineView;

// One of the file's processes and its tracks.
struct Party {
  ProcessPlace place = ProcessPlace::kOther;
  std::string what;
  std::vector<size_t> tracks;  // rows
};

// Tids that are numbers in their order, before those that are not.
int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : INT64_MAX;
}

class ProfileLanes {
 public:
  ProfileLanes(const TimelineView& view, TimelineMaker& maker)
      : view_(view),
        maker_(maker),
        pools_(view.model.pools),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        notes_(view, maker.texts) {
    const auto& timelines = view.model.tables.Get<TimelineTable>();
    own_clock_ = timelines.base_ns[view.row] == kNone64;
    zero_ = own_clock_ ? std::max(EarliestOf(view), int64_t{0}) : maker.context.base;
  }

  void Add() {
    const TimelineShift shift = Shift();
    FindCounters();
    FindParties();
    for (const auto& [number, party] : parties_) {
      TimelineProcess& process =
          maker_.AddProcess(view_.who, fmt::format("{}.{}", view_.who.input, number), party.what);
      process.place = party.place;
      process.source = "profile";
      process.shift = shift;
      process.own_clock = own_clock_;
      if (number == host_) AddOfHost();
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
    if (start != kNone64 && end != kNone64) shift.middle = start + (end - start) / 2 - zero_;
    const timeline::RowRange rows = timeline::RowsOf(clocks, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (clocks.offset_ns[row] == kNone64 || own_clock_) continue;
      shift.offset = clocks.offset_ns[row];
      if (std::isfinite(clocks.drift_ppb[row])) shift.drift = clocks.drift_ppb[row] * 1e-9;
    }
    return shift;
  }

  // ---- processes

  void FindParties() {
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row)
      if (HasSomething(row)) parties_[tracks_.process[row]].tracks.push_back(row);
    JoinProfilers();
    std::tuple<bool, bool, size_t> best;
    for (auto& [number, party] : parties_) {
      Describe(number, party);
      std::sort(party.tracks.begin(), party.tracks.end(),
                [&](size_t a, size_t b) { return TrackOrder(a) < TrackOrder(b); });
      size_t slices = 1;
      for (size_t row : party.tracks) slices += SliceCount(row);
      const std::tuple rank(party.place == ProcessPlace::kHost, party.place == ProcessPlace::kOther,
                            slices);
      if (rank > best) host_ = number;
      best = std::max(best, rank);
    }
  }

  bool HasSomething(size_t row) const { return SliceCount(row) > 0 || counters_.contains(row); }

  size_t SliceCount(size_t row) const {
    return static_cast<size_t>(std::max(tracks_.slices[row], 0));
  }

  void JoinProfilers() {
    int32_t joined = kNone32;
    for (auto at = parties_.begin(); at != parties_.end();) {
      if (!IsOfProfiler(at->second)) {
        ++at;
        continue;
      }
      at->second.place = ProcessPlace::kProfiler;
      if (joined == kNone32) {
        joined = at++->first;
        continue;
      }
      std::vector<size_t>& tracks = parties_[joined].tracks;
      tracks.insert(tracks.end(), at->second.tracks.begin(), at->second.tracks.end());
      at = parties_.erase(at);
    }
  }

  bool IsOfProfiler(const Party& party) const {
    constexpr size_t kMostMarks = 100;  // of a track
    return std::all_of(party.tracks.begin(), party.tracks.end(), [&](size_t row) {
      const auto first = static_cast<size_t>(tracks_.first_slice[row]);
      const auto kinds = view_.kind.subspan(first, std::min(SliceCount(row), kMostMarks + 1));
      return kinds.size() <= kMostMarks && !counters_.contains(row) &&
             std::all_of(kinds.begin(), kinds.end(), [&](StringId kind) {
               return kind == view_.kinds.span || kind == view_.kinds.instant;
             });
    });
  }

  // "python (host)", "GPU 0", "process 17".
  void Describe(int32_t number, Party& party) const {
    if (party.place == ProcessPlace::kProfiler) {
      party.what = "profiler";
      return;
    }
    const auto& processes = view_.model.tables.Get<TimelineProcessTable>();
    const timeline::RowRange rows = timeline::RowsOf(processes, view_.who.input);
    const size_t row = rows.begin + static_cast<size_t>(number);
    const bool known = number >= 0 && row < rows.end;
    const auto text = [&](const std::vector<StringId>& column) {
      return std::string(known ? CutText(pools_.Text(column[row])) : "");
    };
    const std::string name = text(processes.name);
    const std::string labels = text(processes.labels);
    const std::string pid = text(processes.pid);
    const bool is_device = std::any_of(party.tracks.begin(), party.tracks.end(), [&](size_t track) {
      return tracks_.kind[track] == view_.kinds.stream;
    });
    const bool is_host = !is_device && labels == "CPU";
    party.place = is_device ? ProcessPlace::kDevice
                  : is_host ? ProcessPlace::kHost
                            : ProcessPlace::kOther;
    if (is_device) {
      party.what = !labels.empty() ? labels : !name.empty() ? name : "device " + pid;
    } else {
      party.what = !name.empty() ? name : "process " + pid;
      if (is_host) party.what += " (host)";
    }
  }

  // As the file sorts them; the ranges that a device shows for annotations above their stream.
  std::tuple<int32_t, int64_t, bool, size_t> TrackOrder(size_t row) const {
    return {tracks_.sort_index[row], NumberOf(pools_.Text(tracks_.tid[row])),
            tracks_.kind[row] != view_.kinds.stream_annotation, row};
  }

  // ---- lanes

  void AddTrack(size_t row) {
    const std::string id = std::to_string(tracks_.track[row]);
    const auto counters = counters_.find(row);
    if (counters != counters_.end())
      maker_.AddCounters(id, LaneName(row), TakeSeries(counters->second));
    if (SliceCount(row) == 0) return;
    FillSlices(static_cast<size_t>(tracks_.first_slice[row]), SliceCount(row));
    maker_.AddLane(counters == counters_.end() ? id : id + "s", LaneName(row), LaneKind(row));
  }

  std::string LaneName(size_t row) const {
    const std::string_view name = CutText(pools_.Text(tracks_.name[row]));
    const std::string_view tid = CutText(pools_.Text(tracks_.tid[row]));
    const StringId kind = tracks_.kind[row];
    if (kind == view_.kinds.stream_annotation)
      return fmt::format("{} annotations", name.empty() ? tid : name);
    if (!name.empty()) return std::string(name);
    if (NumberOf(tid) == INT64_MAX) return std::string(tid.empty() ? "track" : tid);
    return fmt::format("{} {}", kind == view_.kinds.stream ? "stream" : "thread", tid);
  }

  std::string_view LaneKind(size_t row) const {
    const StringId kind = tracks_.kind[row];
    if (kind == view_.kinds.stream || kind == view_.kinds.stream_annotation) return "stream";
    return kind == view_.kinds.thread ? "thread" : "async";
  }

  void FillSlices(size_t first, size_t count) {
    maker_.slices.clear();
    notes_.Seek(static_cast<int32_t>(first));
    Longest longest(view_.duration.subspan(first, count), maker_.context.SlicesOf(count));
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

  // Decided once a name; 0 is the number of those that have no text.
  bool IsComm(size_t slice, uint32_t name) {
    if (name >= is_comm_.size()) is_comm_.resize(size_t{name} + 1, kNotAsked);
    uint8_t& known = is_comm_[name];
    if (known == kNotAsked || name == 0)
      known = timeline::IsCommunicationName(pools_.Text(view_.name[slice])) ? 1 : 0;
    return known == 1;
  }

  // ---- what is of the whole timeline

  void AddOfHost() {
    AddSteps();
    AddMemory();
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

  // A counter for each device.
  void AddMemory() {
    const auto& memory = view_.model.tables.Get<TimelineMemoryTable>();
    std::map<std::pair<int32_t, int32_t>, std::vector<CounterSeries>> devices;
    for (size_t row = view_.memory.begin; row < view_.memory.end; ++row) {
      auto& series = devices[{memory.device_type[row], memory.device[row]}];
      if (series.empty()) series = {{"allocated", "bytes", {}}, {"reserved", "bytes", {}}};
      AddPoint(memory.time_ns[row], memory.allocated_bytes[row], series[0]);
      AddPoint(memory.time_ns[row], memory.reserved_bytes[row], series[1]);
    }
    size_t lane = 0;
    for (auto& [device, series] : devices) {
      const auto [type, number] = device;
      std::string name = type == 0   ? "memory of the host"
                         : type == 1 ? fmt::format("memory of GPU {}", number)
                                     : fmt::format("memory of device {} (type {})", number, type);
      maker_.AddCounters(fmt::format("memory{}", lane++), std::move(name), std::move(series));
    }
  }

  void AddPoint(int64_t time_ns, int64_t value, CounterSeries& series) const {
    Slice at;
    if (value == kNone64 || !SetTimes(zero_, time_ns, 0, at)) return;
    series.points.push_back({at.start, static_cast<double>(value)});
  }

  // ---- counters

  using SeriesOfTrack = std::map<StringId, CounterSeries>;

  void FindCounters() {
    const auto& counters = view_.model.tables.Get<TimelineCounterTable>();
    for (size_t row = view_.counters.begin; row < view_.counters.end; ++row) {
      Slice at;
      if (!std::isfinite(counters.number[row])) continue;
      if (!SetTimes(zero_, counters.time_ns[row], 0, at)) continue;
      const size_t track = view_.tracks.begin + static_cast<size_t>(counters.track[row]);
      CounterSeries& series = counters_[track][counters.series[row]];
      series.points.push_back({at.start, counters.number[row]});
    }
  }

  std::vector<CounterSeries> TakeSeries(SeriesOfTrack& of_track) const {
    std::vector<CounterSeries> all;
    for (auto& [name, series] : of_track) {
      series.name = CutText(pools_.Text(name));
      all.push_back(std::move(series));
    }
    return all;
  }

  static constexpr uint8_t kNotAsked = 2;

  const TimelineView& view_;
  TimelineMaker& maker_;
  const Pools& pools_;
  const TimelineTrackTable& tracks_;
  ProfileNotes notes_;
  bool own_clock_ = false;
  int64_t zero_ = 0;
  std::map<int32_t, Party> parties_;          // by the number of the process
  int32_t host_ = kNone32;                    // the process that gets steps and memory
  std::map<size_t, SeriesOfTrack> counters_;  // by row of the track
  std::vector<uint8_t> is_comm_;              // by number of the name
};

}  // namespace

int64_t EarliestOf(const TimelineView& view) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  int64_t earliest = kNone64;
  for (size_t row = view.tracks.begin; row < view.tracks.end; ++row) {
    if (tracks.slices[row] <= 0) continue;
    const int64_t start = view.start[static_cast<size_t>(tracks.first_slice[row])];
    if (start >= 0 && (earliest == kNone64 || start < earliest)) earliest = start;
  }
  return earliest;
}

void AddProfile(const TimelineView& view, TimelineMaker& maker) { ProfileLanes(view, maker).Add(); }

}  // namespace debrief::outputs::html
