// Questions to a trace: the formulas of sums.h over its entries.
#include "op_trace/sums.h"

namespace debrief::op_trace {
namespace {

OpFacts FactsOf(const Entry& entry, int64_t self_ns) {
  OpFacts facts = {.operation = entry.operation,
                   .duration_ns = entry.duration_ns,
                   .self_ns = self_ns,
                   .bytes = entry.memory_bytes,
                   .start_ns = entry.start_ns};
  if (entry.device) facts.device = *entry.device;
  return facts;
}

template <typename Sums>
Sums AddUp(const Trace& trace) {
  Sums sums(trace.corners());
  const std::vector<int64_t> self = trace.SelfTimes();
  for (size_t i = 0; i < self.size(); ++i) sums.Add(FactsOf(trace.entries()[i], self[i]));
  return sums;
}

}  // namespace

std::vector<OpSummary> SummariseOps(const Trace& trace) { return AddUp<OpSums>(trace).Rows(); }

std::vector<DeviceSummary> SummariseDevices(const Trace& trace) {
  return AddUp<DeviceSums>(trace).Rows();
}

std::optional<LoadBalance> BalanceOfDevices(const Trace& trace) {
  return BalanceOf(SummariseDevices(trace));
}

std::vector<const Entry*> MemoryHotspots(const Trace& trace, uint64_t threshold) {
  std::vector<const Entry*> found;
  for (const Entry& entry : trace.entries()) {
    if (entry.memory_bytes > threshold) found.push_back(&entry);
  }
  return found;
}

std::vector<CommunicationShare> CommunicationBottlenecks(const Trace& trace, double min_ratio) {
  return CommunicationOf(SummariseOps(trace), trace.TotalDurationNs(), min_ratio, trace.corners());
}

}  // namespace debrief::op_trace
