// What a trace that debrief wrote says beside its events: instants of the category "debrief" whose
// name says which table they are a row of and whose annotations are the columns (see
// docs/formats/perfetto.md). They come before the events of their timeline, so that processes and
// tracks get the numbers that they had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/perfetto/annotation_values.h"
#include "inputs/perfetto/packet.h"
#include "model/model.h"
#include "model/timeline/writer.h"
#include "tables/timeline.h"

namespace debrief::inputs::perfetto {

// The tracks of a trace and what becomes of them.
//
// Descriptors may come before or after the events on their tracks, so that a track is first a
// position in a list; what it is in the model is decided when the whole trace was read:
//
//   a thread                      thread, by pid and tid
//   a counter                     counter, by its name
//   with kernels, copies, ...     stream
//   anything else                 async: slices that nest as they please
class Tracks {
 public:
  struct Track {
    uint64_t uuid = 0;
    std::optional<uint64_t> parent;
    std::string name, thread_name, process_name, unit;
    std::optional<int64_t> pid, tid;
    bool is_thread = false, is_counter = false, is_incremental = false;
    double unit_multiplier = 1;
    double sum = 0;  // of an incremental counter
    bool has_work = false;
    bool is_used = false;
    // What a trace of ours says it is.
    int32_t model_track = kNone32;
    StringId series = StringId::kNone;
  };

  size_t IndexOf(uint64_t uuid);
  Track& at(size_t index) { return tracks_[index]; }

  void Describe(const Descriptor& descriptor);
  void DescribeThread(const Thread& thread, Track& track);

  // The numbers in the model, by position; makes rows for all tracks that have events.
  std::vector<int32_t> Resolve(timeline::TimelineWriter& writer);
  // What descriptors say of processes, for traces that do not say it in a better way.
  void NameProcesses(timeline::TimelineWriter& writer) const;

 private:
  int32_t ResolveOne(const Track& track, timeline::TimelineWriter& writer);
  // The process of the track or of the nearest track above it; null when none has one.
  const Track* ProcessOf(const Track& track) const;
  std::string PidOf(const Track& track) const;

  std::vector<Track> tracks_;
  std::unordered_map<uint64_t, size_t> index_of_;
};

// What a trace of ours says about itself.
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
