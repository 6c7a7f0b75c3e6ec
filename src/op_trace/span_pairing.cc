#include "op_trace/span_pairing.h"

namespace debrief::op_trace {

using recorder::RecordType;

namespace {

// Ticks of a span that ends before it begins wrap around: as a signed number they are negative.
bool IsBackwards(uint64_t start, uint64_t end) { return static_cast<int64_t>(end - start) < 0; }

// Among those that are no spans: all but losses, which tell of the past.
bool HasTimeFirst(RecordType type) {
  return type >= RecordType::kInstant && type <= RecordType::kFree && type != RecordType::kLoss;
}

}  // namespace

void SpanPairing::OnRecord(const recorder::RecordView& record) {
  ++records_;
  switch (record.type) {
    case RecordType::kSpan:
    case RecordType::kOp:
      return GiveComplete(record);
    case RecordType::kBegin:
      SawTime(record.values[0]);
      open_[record.tid].push_back({.start = record.values[0],
                                   .name = record.name,
                                   .device = record.track,
                                   .tid = record.tid,
                                   .offset = record.offset});
      return;
    case RecordType::kEnd:
    case RecordType::kOpEnd:
      return Close(record);
    default:
      if (HasTimeFirst(record.type)) SawTime(record.values[0]);
      sink_.OnOther(record);
  }
}

// An end that the new thread writes must not close what the old one left open.
void SpanPairing::OnThread(uint32_t tid) {
  const auto left = open_.find(tid);
  if (left == open_.end()) return;
  std::vector<PairedSpan>& dead = dead_[tid];
  dead.insert(dead.end(), left->second.begin(), left->second.end());
  open_.erase(left);
}

void SpanPairing::GiveComplete(const recorder::RecordView& record) {
  const PairedSpan span = {.start = record.values[0],
                           .end = record.values[0] + record.values[1],
                           .name = record.name,
                           .device = record.track,
                           .tid = record.tid,
                           .offset = record.offset};
  if (record.type == RecordType::kSpan) return Give(span, nullptr);
  const recorder::OpShapes shapes = UnpackOp(record);
  Give(span, &shapes);
}

void SpanPairing::Close(const recorder::RecordView& record) {
  SawTime(record.values[0]);
  std::vector<PairedSpan>& open = open_[record.tid];
  if (open.empty()) {
    ++ends_without_begin_;
    return;
  }
  PairedSpan span = open.back();
  open.pop_back();
  span.end = record.values[0];
  if (span.device == 0) span.device = record.track;  // set after the begin
  if (record.type == RecordType::kEnd) return Give(span, nullptr);
  const recorder::OpShapes shapes = UnpackOp(record);
  Give(span, &shapes);
}

void SpanPairing::Give(PairedSpan span, const recorder::OpShapes* shapes) {
  if (IsBackwards(span.start, span.end)) {
    ++spans_backwards_;
    span.end = span.start;
  }
  SawTime(span.end);
  sink_.OnSpan(span, shapes);
}

void SpanPairing::Finish() {
  for (auto* left : {&dead_, &open_}) {
    for (auto& [tid, spans] : *left) {
      for (PairedSpan& span : spans) {
        span.end = last_ticks_;
        span.ended = SpanEnd::kOpen;
        sink_.OnSpan(span, nullptr);
      }
    }
    left->clear();
  }
}

}  // namespace debrief::op_trace
