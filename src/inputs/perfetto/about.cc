#include "inputs/perfetto/about.h"

#include <vector>

#include "model/timeline/columns.h"
#include "model/timeline/kinds.h"

namespace debrief::inputs::perfetto {

namespace {

constexpr int kMostAncestors = 64;  // parents may form a ring

void TakeText(std::string& have, std::string_view told) {
  if (!told.empty()) have = told;
}

}  // namespace

size_t Tracks::IndexOf(uint64_t uuid) {
  const auto [found, is_new] = index_of_.try_emplace(uuid, tracks_.size());
  if (is_new) tracks_.push_back({.uuid = uuid});
  return found->second;
}

void Tracks::DescribeThread(const Thread& thread, Track& track) {
  track.is_thread = true;
  track.pid = thread.pid;
  track.tid = thread.tid;
  TakeText(track.thread_name, thread.name);
}

void Tracks::Describe(const Descriptor& descriptor) {
  Track& track = at(IndexOf(descriptor.uuid));
  if (descriptor.parent) track.parent = descriptor.parent;
  TakeText(track.name, descriptor.name);
  if (descriptor.process) {
    track.pid = descriptor.process->pid;
    TakeText(track.process_name, descriptor.process->name);
  }
  if (descriptor.thread) DescribeThread(*descriptor.thread, track);
  if (descriptor.is_counter) {
    track.is_counter = true;
    track.is_incremental = descriptor.is_incremental;
    track.unit_multiplier = static_cast<double>(descriptor.unit_multiplier);
    TakeText(track.unit, descriptor.unit);
  }
}

const Tracks::Track* Tracks::ProcessOf(const Track& track) const {
  const Track* at = &track;
  for (int i = 0; i < kMostAncestors && !at->pid; ++i) {
    if (!at->parent) return nullptr;
    const auto parent = index_of_.find(*at->parent);
    if (parent == index_of_.end()) return nullptr;
    at = &tracks_[parent->second];
  }
  return at->pid ? at : nullptr;
}

std::string Tracks::PidOf(const Track& track) const {
  const Track* process = ProcessOf(track);
  return process == nullptr ? std::string() : std::to_string(*process->pid);
}

int32_t Tracks::ResolveOne(const Track& track, timeline::TimelineWriter& writer) {
  std::string_view kind = timeline::kAsync;
  std::string tid = std::to_string(track.uuid);
  if (track.is_counter) {
    kind = timeline::kCounter;
    if (!track.name.empty()) tid = track.name;
  } else if (track.has_work) {
    kind = timeline::kStream;
  } else if (track.is_thread) {
    kind = timeline::kThread;
  }
  if (track.is_thread && track.tid) tid = std::to_string(*track.tid);
  const int32_t number = writer.Track(PidOf(track), tid, kind);
  const std::string& name = track.name.empty() ? track.thread_name : track.name;
  if (!name.empty()) writer.tracks().name[static_cast<size_t>(number)] = writer.Intern(name);
  return number;
}

std::vector<int32_t> Tracks::Resolve(timeline::TimelineWriter& writer) {
  std::vector<int32_t> numbers;
  for (const Track& track : tracks_) {
    const bool is_known = track.model_track != kNone32 || !track.is_used;
    numbers.push_back(is_known ? track.model_track : ResolveOne(track, writer));
  }
  return numbers;
}

void Tracks::NameProcesses(timeline::TimelineWriter& writer) const {
  for (const Track& track : tracks_) {
    if (track.process_name.empty() || !track.pid) continue;
    const auto process = static_cast<size_t>(writer.Process(std::to_string(*track.pid)));
    writer.processes().name[process] = writer.Intern(track.process_name);
  }
}

void About::Take(std::string_view name, int64_t time, const AnnotationValues& values) {
  if (name == timeline::kAboutTimeline && !timeline_) {
    timeline_.emplace();
    values.Fill(*timeline_);
  }
  if (name == timeline::kAboutDevice) AddRow<TimelineDeviceTable, TimelineDeviceRow>(values);
  if (name == timeline::kAboutGroup) AddRow<TimelineGroupTable, TimelineGroupRow>(values);
  if (name == timeline::kAboutFact) AddRow<TimelineFactTable, TimelineFactRow>(values);
  if (name == timeline::kAboutProcess) AddProcess(values);
  if (name == timeline::kAboutTrack) AddTrack(values);
  if (name == timeline::kAboutLane || name == timeline::kAboutSeries) AddLane(values);
  if (name == timeline::kAboutFlow) AddFlow(time, values);
}

template <typename Table, typename Row>
void About::AddRow(const AnnotationValues& values) {
  auto row = writer_.NewRow<Row>();
  values.Fill(row);
  writer_.part().tables.template Edit<Table>().Add(row);
}

// Numbers count up in the trace; one that does not is of a broken trace.
void About::AddProcess(const AnnotationValues& values) {
  TimelineProcessRow told;
  values.Fill(told);
  if (told.process != static_cast<int32_t>(pids_.size())) return;
  pids_.emplace_back(writer_.part().pools.Text(told.pid));
  const auto row = static_cast<size_t>(writer_.Process(pids_.back()));
  writer_.processes().name[row] = told.name;
  writer_.processes().labels[row] = told.labels;
  writer_.processes().sort_index[row] = told.sort_index;
}

void About::AddTrack(const AnnotationValues& values) {
  TimelineTrackRow told;
  values.Fill(told);
  const bool in_order = told.track == static_cast<int32_t>(track_of_number_.size());
  if (!in_order || told.process < 0 || static_cast<size_t>(told.process) >= pids_.size()) return;
  const Pools& pools = writer_.part().pools;
  const std::string tid(pools.Text(told.tid)), kind(pools.Text(told.kind));
  const int32_t number = writer_.Track(pids_[static_cast<size_t>(told.process)], tid, kind);
  track_of_number_.push_back(number);
  const auto row = static_cast<size_t>(number);
  writer_.tracks().name[row] = told.name;
  writer_.tracks().device[row] = told.device;
  writer_.tracks().stream[row] = told.stream;
  writer_.tracks().sort_index[row] = told.sort_index;
  AddLane(values);
}

int32_t About::TrackOf(int64_t number) const {
  const bool is_known = number >= 0 && static_cast<size_t>(number) < track_of_number_.size();
  return is_known ? track_of_number_[static_cast<size_t>(number)] : kNone32;
}

void About::AddLane(const AnnotationValues& values) {
  const int64_t uuid = values.NumberOf(timeline::kUuidKey);
  const int32_t number = TrackOf(values.NumberOf("track"));
  if (uuid == kNone64 || number == kNone32) return;
  Tracks::Track& track = tracks_.at(tracks_.IndexOf(static_cast<uint64_t>(uuid)));
  track.model_track = number;
  track.series = values.TextOf(timeline::kSeriesKey);
}

void About::AddFlow(int64_t time, const AnnotationValues& values) {
  auto row = writer_.NewRow<TimelineFlowRow>();
  values.Fill(row);
  row.track = TrackOf(row.track);
  if (row.track == kNone32) return;
  row.time_ns = time;
  writer_.part().tables.Edit<TimelineFlowTable>().Add(row);
}

}  // namespace debrief::inputs::perfetto
