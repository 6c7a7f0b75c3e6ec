// Rows of one recording: spans as slices and recorded ops, instants, counters, arrows, notes,
// steps, memory.
//
// Times are ticks until the whole file was read: only then all points of its clock are known. A
// span waits as 64 bytes; shapes are interned at once.
#pragma once

#include <cstdint>
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
  RowBuilder(const Identity& who, Part& part) : who_(who), part_(part), writer_(who, part) {}

  void OnSpan(const op_trace::PairedSpan& span, const recorder::OpShapes* shapes) override;
  void OnOther(const recorder::RecordView& record) override;

  // Adds all rows. Times count from `base_ns`.
  void Build(const recorder::ReadRecording& recording, const op_trace::TickClock& clock,
             int64_t base_ns);

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
  struct KeptSpan {
    uint64_t start, end;
    uint32_t name, device, tid;
    StringId shapes;
    ListId output;
    uint8_t dtype;
    bool is_op, is_open, bytes_assumed;
    int64_t elements, bytes;
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

  void KeepShapes(const recorder::OpShapes& shapes, uint64_t offset, KeptSpan& kept);
  StringId ShapesText(const std::vector<std::vector<uint64_t>>& shapes);
  int64_t Bounded(uint64_t number, uint64_t offset);
  void AddProcess();
  void AddSpans();
  void AddSpan(const KeptSpan& span, int64_t number, int64_t program_step);
  void AddOpRow(const KeptSpan& span, RecordedOpRow row);
  void AddMoment(const KeptMoment& moment);
  void AddCounter(const KeptMoment& moment);
  void AddFlow(const KeptMoment& moment);
  void AddNote(const KeptMoment& moment);
  void AddInstant(uint32_t tid, uint64_t ticks, StringId name);
  void AddSteps();
  void AddMemory();
  void MarkOpenThreads();
  int32_t ThreadTrack(uint32_t tid);
  StringId NameOf(uint32_t id);
  int64_t TimeOf(uint64_t ticks) const { return clock_->WallNs(ticks) - base_ns_; }

  Identity who_;
  Part& part_;
  timeline::TimelineWriter writer_;
  std::vector<KeptSpan> spans_;
  std::vector<KeptMoment> moments_;
  std::vector<KeptStep> steps_;
  std::vector<KeptMemory> memory_;
  std::vector<Loss> losses_;
  std::unordered_map<uint32_t, uint64_t> last_of_thread_;
  bool has_shapes_ = false;

  // While rows are built.
  const recorder::ReadRecording* recording_ = nullptr;
  const op_trace::TickClock* clock_ = nullptr;
  int64_t base_ns_ = 0;
  uint64_t end_ticks_ = 0;
  std::string pid_;
  std::unordered_map<uint32_t, StringId> names_;
  std::unordered_map<uint32_t, int32_t> thread_tracks_;
  struct {
    StringId op_category, span_category, op_slice, span_slice, op, span;
  } words_ = {};
  std::string text_;
};

}  // namespace debrief::inputs::recording
