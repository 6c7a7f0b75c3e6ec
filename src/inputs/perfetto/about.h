// What a trace that debrief wrote says beside its events: instants of the category "debrief" whose
// name says which table they are a row of and whose annotations are the columns (see
// docs/formats/perfetto.md). They come before the events of their timeline, so that processes and
// tracks get the numbers that they had.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/perfetto/annotations.h"
#include "inputs/perfetto/tracks.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::perfetto {

class About {
 public:
  About(timeline::TimelineWriter& writer, Tracks& tracks) : writer_(writer), tracks_(tracks) {}

  void Take(std::string_view name, int64_t time, const AnnotationValues& values);

  // Of the first timeline in the trace; none in traces of other programs.
  const std::optional<TimelineRow>& timeline() const { return timeline_; }

 private:
  template <typename Table, typename Row>
  void AddRow(const AnnotationValues& values);
  void AddProcess(const AnnotationValues& values);
  void AddTrack(const AnnotationValues& values);
  void AddLane(const AnnotationValues& values);
  void AddFlow(int64_t time, const AnnotationValues& values);
  // The track in the model under the number that the trace uses; kNone32 when it has none.
  int32_t TrackOf(int64_t number) const;

  timeline::TimelineWriter& writer_;
  Tracks& tracks_;
  std::optional<TimelineRow> timeline_;
  std::vector<std::string> pids_;  // by the number of the process in the trace
  std::vector<int32_t> track_of_number_;
};

}  // namespace debrief::inputs::perfetto
