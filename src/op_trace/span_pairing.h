// Records of a recording as spans: complete records as they are, begins and ends put together.
//
// A begin waits on the stack of its thread for the end that closes it. What is still there at the
// end of the file was open when the program stopped recording; an end that finds nothing lost its
// begin to the ring. Cost: one step a record, memory for what is open.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "recorder/reader.h"

namespace debrief::op_trace {

enum class SpanEnd : uint8_t { kTold, kOpen };

struct PairedSpan {
  uint64_t start = 0;  // ticks
  uint64_t end = 0;    // ticks; of an open one the last time in the file
  uint32_t name = 0;
  uint32_t device = 0;
  uint32_t tid = 0;
  SpanEnd ended = SpanEnd::kTold;
  uint64_t offset = 0;  // of its (first) record
};

class SpanSink {
 public:
  virtual ~SpanSink() = default;
  // Before the first span: `read` has its header, names and chunks; for the time of this call.
  virtual void OnStart(const recorder::ReadRecording& read) { (void)read; }
  // `shapes` is null for what was not told as an op.
  virtual void OnSpan(const PairedSpan& span, const recorder::OpShapes* shapes) = 0;
  // Whatever is no span: instants, counters, flows, losses, kinds of a later version.
  virtual void OnOther(const recorder::RecordView& record) = 0;
};

class SpanPairing final : public recorder::RecordSink {
 public:
  explicit SpanPairing(SpanSink& sink) : sink_(sink) {}

  void OnStart(const recorder::ReadRecording& read) override { sink_.OnStart(read); }
  void OnRecord(const recorder::RecordView& record) override;
  void OnThread(uint32_t tid) override;

  // Gives what is still open, threads in order of their ids, outermost first.
  void Finish();

  uint64_t records() const { return records_; }
  uint64_t ends_without_begin() const { return ends_without_begin_; }
  uint64_t spans_backwards() const { return spans_backwards_; }  // given with no duration
  uint64_t last_ticks() const { return last_ticks_; }

 private:
  void GiveComplete(const recorder::RecordView& record);
  void Close(const recorder::RecordView& record);
  void Give(PairedSpan span, const recorder::OpShapes* shapes);
  void SawTime(uint64_t ticks) { last_ticks_ = ticks > last_ticks_ ? ticks : last_ticks_; }

  SpanSink& sink_;
  std::map<uint32_t, std::vector<PairedSpan>> open_;  // by tid
  std::map<uint32_t, std::vector<PairedSpan>>
      dead_;  // by tid: of threads that ended inside of them
  uint64_t records_ = 0;
  uint64_t ends_without_begin_ = 0;
  uint64_t spans_backwards_ = 0;
  uint64_t last_ticks_ = 0;
};

}  // namespace debrief::op_trace
