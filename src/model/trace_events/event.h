// One event of the Trace Event Format -> rows of the timeline tables.
//
//   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 14221.585, "dur": 0.928,
//    "args": {...}}
//
// ph: X a slice; B, E its begin and end; b, e (S, F) the same for asynchronous ones; i, I, n an
// instant; C values of counters; s, t, f ends of arrows; M names of processes and threads.
// Times stay relative to the file's base: that may stand at its end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/cursor.h"
#include "model/timeline/writer.h"
#include "model/trace_events/args.h"
#include "model/trace_events/rest_args.h"
#include "tables/accel_stamp.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_record.h"
#include "tables/timeline_stage_op.h"

namespace debrief::trace_events {

// What metadata events say of a process (no tid) or of whatever has this tid.
struct Naming {
  std::string pid, tid, name, labels;
  int64_t sort_index = kNone64;
  bool is_process = false;
};

// For the one that joins the ranges.
struct RangeNotes final : PartNotes {
  std::vector<Naming> namings;
  int64_t events = 0;
  int64_t repeated_flows = 0;
  int64_t repaired_at = kNone64;  // the first byte that was replaced

  // Joins what a later range noted.
  void Take(RangeNotes&& later);
};

class EventParser {
 public:
  // `keeps_args`: arguments that have no column are kept, too (table timeline_args).
  EventParser(const Identity& who, Part& part, bool keeps_args = false);

  // Reads one element of the array; `offset`: where the text that it was opened in begins in the
  // file. A Status when its JSON is broken.
  Status Add(JsonValue element, uint64_t offset);

 private:
  struct Event {
    std::string_view phase, category, name, pid, tid, time, duration, id;
    uint64_t args_offset = 0;
    std::array<std::string_view, 2> raw_args;  // args and attr as they stand, where they are kept
    Args args;
  };
  // Category, kind and kind of track are the same for thousands of events in a row.
  struct Category {
    std::string text;
    StringId id = StringId::kNone;
    StringId kind = StringId::kNone;
    std::string_view kind_word, track_kind;
  };
  struct CachedTrack {
    std::string pid, tid;
    std::string_view kind;
    int32_t track = kNone32;
  };

  Status ReadFields(JsonValue element, Event& event);
  void ReadArgs(std::string_view key, JsonValue value, Event& event);
  void ReadArgsOf(JsonValue object, Event& event);
  void Dispatch(const Event& event);
  const Category& CategoryOf(std::string_view text);
  int32_t TrackOf(const Event& event, std::string_view kind);
  bool ReadTime(const Event& event, int64_t& ns);

  TimelineSliceRow SliceRow(const Event& event, const Category& category, int32_t track,
                            int64_t start);
  void AddComplete(const Event& event);
  void AddEdge(const Event& event, bool is_begin);
  void AddAsync(const Event& event);
  void AddInstant(const Event& event);
  void AddMemory(const Event& event, int64_t time);
  void AddCounter(const Event& event);
  void AddFlow(const Event& event);
  void AddNaming(const Event& event);
  void AddDetails(const Event& event, int32_t slice);
  void AddWork(const Args& args, int32_t slice);
  void AddOp(const Args& args, int32_t slice);
  void AddCollective(const Args& args, int32_t slice);
  void AddRecord(const Event& event);
  void AddOpArgs(const Args& args, int32_t slice);
  void AddStageOp(const Args& args, int32_t slice);
  void AddStamp(const Event& event, int32_t slice);
  void AddRest(const Event& event, int32_t slice);
  // Notes which columns of a row say something.
  template <typename Row>
  void NoteTold(Row& row);
  void Report(const DiagnosticKind& kind, const Event& event, std::string_view detail);

  Identity who_;
  uint64_t offset_ = 0;
  timeline::TimelineWriter writer_;
  RangeNotes* notes_;
  uint64_t event_offset_ = 0;
  std::vector<Category> categories_;
  size_t last_category_ = 0;
  std::array<CachedTrack, 64> tracks_;
  std::vector<std::pair<std::string, double>> counter_values_;  // of the event being read
  bool keeps_args_;
  std::array<JsonReader, 2> args_readers_;  // of args and attr, where they are kept
  RestArgs rest_;
  std::vector<std::string_view> told_;  // keys of columns that the event being read fills
};

}  // namespace debrief::trace_events
