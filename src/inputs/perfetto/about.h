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
#include <vector>

#include "inputs/perfetto/packet.h"
#include "inputs/perfetto/sequence.h"
#include "inputs/perfetto/tracks.h"
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
