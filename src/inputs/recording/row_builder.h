// Rows of one recording: spans as slices and recorded ops, instants, counters, arrows, notes,
// steps, memory.
//
// The points of the clock are known before the first record, so a span becomes its row of
// recorded_op at once, some 20 bytes in packed columns. What waits for the end of the file are 16
// bytes a span, since rows are in order of begin and records in order of end; the slices of the
// timeline are made of the sorted rows, and not at all for who asks for ops alone.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/timeline/writer.h"
#include "op_trace/span_pairing.h"
#include "op_trace/tick_clock.h"
#include "tables/recorded_op.h"

namespace debrief::inputs::recording {

class RowBuilder final : public op_trace::SpanSink {
 public:
  // `part` must outlive the builder.
  RowBuilder(const Identity& who, bool ops_alone, Part& part)
      : who_(who),
        ops_alone_(ops_alone),
        part_(part),
        writer_(who, part),
        ops_(part.tables.Edit<RecordedOpTable>()) {}

  void OnStart(const recorder::ReadRecording& read) override;
  void OnSpan(const op_trace::PairedSpan& span, const recorder::OpShapes* shapes) override;
  void OnOther(const recorder::RecordView& record) override;

  // What was read, when all of it was: names of spans that are still open come from it.
  void SetRecording(const recorder::ReadRecording& recording) { recording_ = &recording; }
  // Adds all rows that are not there yet.
  void Build();
  // After OnStart().
  const op_trace::TickClock& clock() const { return *clock_; }
  // Times of the timeline count from here.
  int64_t base_ns() const { return base_ns_; }

  struct Loss {
    uint64_t records, from, to;  // ticks
    uint32_t tid;
  };
  const std::vector<Loss>& losses() const { return losses_; }
  // The last time of a thread in ticks, 0 when it left nothing.
  uint64_t LastOf(uint32_t tid) const;
  bool has_shapes() const { return has_shapes_; }
  bool has_memory() const { return !memory_.empty(); }

 private:
  // What the order of ops depends on, in ticks: several of them are one nanosecond.
  struct SpanTicks {
    uint64_t start, end;
  };
  struct KeptMoment {
    recorder::RecordType type;
    unsigned flags;
    uint32_t name, device, tid;
    uint64_t ticks, value;
  };
  struct KeptStep {
    uint64_t ticks, number;
  };
  struct KeptMemory {
    uint64_t ticks, address, bytes;
    uint32_t device, tid;
    bool is_free;
  };

  void SetShapes(const recorder::OpShapes& shapes, uint64_t offset, RecordedOpRow& row);
  StringId ShapesText(const std::vector<std::vector<uint64_t>>& shapes);
  int64_t Bounded(uint64_t number, uint64_t offset);
  void AddProcess();
  void SortOps();
  void NumberOps();
  void SetSelfTimes();
  void AddSlices();
  void AddMoment(const KeptMoment& moment);
  void AddCounter(const KeptMoment& moment);
  void AddFlow(const KeptMoment& moment);
  void AddNote(const KeptMoment& moment);
  void AddInstant(uint32_t tid, int64_t time_ns, StringId name);
  void AddSteps();
  void AddMemory();
  void MarkOpenThreads();
  int32_t ThreadTrack(uint32_t tid);
  StringId NameOf(uint32_t id);
  int64_t TimeOf(uint64_t ticks) const { return clock_->WallNs(ticks) - base_ns_; }

  Identity who_;
  bool ops_alone_;
  Part& part_;
  timeline::TimelineWriter writer_;
  RecordedOpTable& ops_;
  std::deque<SpanTicks> ticks_;  // beside ops_ until they are sorted
  std::vector<KeptMoment> moments_;
  std::vector<KeptStep> steps_;
  std::vector<KeptMemory> memory_;
  std::vector<Loss> losses_;
  std::unordered_map<uint32_t, uint64_t> last_of_thread_;
  bool has_shapes_ = false;

  const recorder::ReadRecording* recording_ = nullptr;  // while it is read
  std::optional<op_trace::TickClock> clock_;
  int64_t base_ns_ = 0;
  uint64_t end_ticks_ = 0;
  std::string pid_;
  std::unordered_map<uint32_t, StringId> names_;
  std::unordered_map<uint32_t, int32_t> thread_tracks_;
  struct {
    StringId op, span;
  } words_ = {};
  std::string text_;
};

}  // namespace debrief::inputs::recording
