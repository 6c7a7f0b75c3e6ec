#include "inputs/perfetto/about.h"

#include "model/timeline/columns.h"

namespace debrief::inputs::perfetto {

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
