// The recorder that keeps its trace in memory.
#include <chrono>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

int64_t Recorder::SteadyNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void Recorder::BeginOp(std::string operation) {
  if (trace_.behaviour() == Behaviour::kReference) EndOp();
  // The clock is read last, so that the bookkeeping is outside of what is measured.
  open_.push_back({next_step_++, std::move(operation), 0});
  open_.back().start_ns = now_();
}

void Recorder::EndOpWithShapes(std::vector<Shape> inputs, Shape output, Dtype dtype) {
  const int64_t end = now_();
  if (open_.empty()) return;
  Entry entry = Close(end);
  entry.WithInputShapes(std::move(inputs))
      .WithOutputShape(std::move(output), dtype, trace_.behaviour());
  trace_.Add(std::move(entry));
}

void Recorder::EndOp() {
  const int64_t end = now_();
  if (open_.empty()) return;
  Entry entry = Close(end);
  if (trace_.behaviour() == Behaviour::kReference)
    entry.WithOutputShape({}, Dtype::kUnknown, Behaviour::kReference);
  trace_.Add(std::move(entry));
}

Entry Recorder::Close(int64_t end_ns) {
  OpenOp op = std::move(open_.back());
  open_.pop_back();
  Entry entry(op.step, std::move(op.operation));
  entry.WithDuration(end_ns - op.start_ns);
  entry.start_ns = op.start_ns;
  entry.device = device_;
  return entry;
}

Trace Recorder::Finish() {
  while (!open_.empty()) EndOp();
  return std::exchange(trace_, Trace(trace_.behaviour()));
}

}  // namespace debrief::op_trace
