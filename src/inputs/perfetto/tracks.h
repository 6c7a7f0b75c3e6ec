// The tracks of a trace and what becomes of them.
//
// Descriptors may come before or after the events on their tracks, so that a track is first a
// position in a list; what it is in the model is decided when the whole trace was read:
//
//   a thread                      thread, by pid and tid
//   a counter                     counter, by its name
//   with kernels, copies, ...     stream
//   anything else                 async: slices that nest as they please
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "inputs/perfetto/packet.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::perfetto {

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

}  // namespace debrief::inputs::perfetto
