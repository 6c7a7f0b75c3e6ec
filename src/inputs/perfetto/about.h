// What a trace that debrief wrote says beside its events: instants of the category "debrief" whose
// name says which table they are a row of and whose annotations are the columns (see
// docs/formats/perfetto.md). They come before the events of their timeline, so that processes and
// tracks get the numbers that they had.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/perfetto/packet.h"
#include "inputs/perfetto/sequence.h"
#include "model/model.h"
#include "model/timeline/columns.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::perfetto {

// Debug annotations -> columns.
//
//   "stream": 7, "Input Dims": "[[4, 4]]", "Process Group Ranks": [0, 1]
//
// model/timeline/columns.h says which names are which columns; others are left alone.
class AnnotationValues {
 public:
  // All must outlive it.
  AnnotationValues(std::span<const Annotation> all, const Sequence& sequence, Pools& pools)
      : all_(all), sequence_(sequence), pools_(pools) {}

  size_t size() const { return all_.size(); }

  // The name of an annotation of the event itself, or of a dictionary "args"; empty for those
  // inside of others and for names that were lost.
  struct Key {
    std::string_view text;
    Group group = Group::kNone;
  };
  Key KeyOf(size_t at) const;

  // Puts the value of annotation `at` into the column; one of another type leaves it alone.
  void Assign(size_t at, int32_t& column) const;
  void Assign(size_t at, int64_t& column) const;
  void Assign(size_t at, uint8_t& column) const;
  void Assign(size_t at, double& column) const;
  void Assign(size_t at, StringId& column) const;
  void Assign(size_t at, ListId& column) const;

  // As above into the column of `row` that has this key, if any.
  template <typename Row>
  void AssignTo(Row& row, std::string_view key, size_t at) const {
    timeline::VisitColumns(row, [&](std::string_view column_key, auto& column) {
      if (column_key == key) Assign(at, column);
    });
  }

  // All annotations into the row.
  template <typename Row>
  void Fill(Row& row) const {
    for (size_t at = 0; at < all_.size(); ++at) {
      const Key key = KeyOf(at);
      if (!key.text.empty()) AssignTo(row, key.text, at);
    }
  }

  // The number under `key`; kNone64 when there is none.
  int64_t NumberOf(std::string_view key) const;
  // The text under `key`; kNone when there is none.
  StringId TextOf(std::string_view key) const;

 private:
  bool IsArgs(const Annotation& annotation) const;

  std::span<const Annotation> all_;
  const Sequence& sequence_;
  Pools& pools_;
};

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
