// All ops of a program, what they add up to, and questions to them: the formulas of sums.h over its
// entries.
#include <algorithm>
#include <map>
#include <tuple>

#include "op_trace/reference.h"
#include "op_trace/sums.h"

namespace debrief::op_trace {

namespace {

int64_t EndOf(const Entry& entry) {
  int64_t end = *entry.start_ns;
  AddTo(end, entry.duration_ns.value_or(0));
  return end;
}

// Positions of entries that have a start, by thread and start, an enclosing one before what it
// encloses.
std::vector<size_t> InOrder(std::span<const Entry> entries) {
  std::vector<size_t> order;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].start_ns) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(entries[a].thread, *entries[a].start_ns, EndOf(entries[b]), a) <
           std::tuple(entries[b].thread, *entries[b].start_ns, EndOf(entries[a]), b);
  });
  return order;
}

constexpr size_t kNoParent = static_cast<size_t>(-1);

// The innermost entry that encloses each; kNoParent where none does or no start is told. Sorts
// positions, then one pass.
std::vector<size_t> ParentsOf(std::span<const Entry> entries) {
  std::vector<size_t> parents(entries.size(), kNoParent);
  std::vector<size_t> open;
  for (const size_t i : InOrder(entries)) {
    const bool same_thread = !open.empty() && entries[open.back()].thread == entries[i].thread;
    if (!same_thread) open.clear();
    while (!open.empty() && EndOf(entries[open.back()]) <= *entries[i].start_ns) open.pop_back();
    // One that ends too early overlaps without enclosing: it is nobody's parent any more.
    while (!open.empty() && EndOf(entries[open.back()]) < EndOf(entries[i])) open.pop_back();
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

}  // namespace

void Trace::SetMetadata(std::string key, std::string value) {
  metadata_.insert_or_assign(std::move(key), std::move(value));
}

std::vector<int64_t> Trace::SelfTimes() const {
  std::vector<int64_t> self;
  self.reserve(entries_.size());
  for (const Entry& entry : entries_) self.push_back(entry.duration_ns.value_or(0));
  if (behaviour_ == Behaviour::kReference) return self;
  const std::vector<size_t> parents = ParentsOf(entries_);
  for (size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] != kNoParent) AddTo(self[parents[i]], -entries_[i].duration_ns.value_or(0));
  }
  for (int64_t& time : self) time = std::max<int64_t>(time, 0);
  return self;
}

int64_t Trace::TotalDurationNs() const {
  int64_t total = 0;
  for (const int64_t time : SelfTimes()) AddTo(total, time);
  return total;
}

uint64_t Trace::TotalMemoryBytes() const {
  uint64_t total = 0;
  for (const Entry& entry : entries_) AddTo(total, entry.memory_bytes, behaviour_);
  return total;
}

uint64_t Trace::LargestOutputBytes() const {
  uint64_t largest = 0;
  for (const Entry& entry : entries_) largest = std::max(largest, entry.memory_bytes);
  return largest;
}

std::vector<const Entry*> Trace::SlowestOps(size_t count) const {
  std::vector<const Entry*> slowest;
  for (const Entry& entry : entries_) slowest.push_back(&entry);
  const auto longer = [](const Entry* a, const Entry* b) {
    const int64_t x = a->duration_ns.value_or(-1), y = b->duration_ns.value_or(-1);
    return x != y ? x > y : a < b;
  };
  const size_t kept = std::min(count, slowest.size());
  std::partial_sort(slowest.begin(), slowest.begin() + static_cast<std::ptrdiff_t>(kept),
                    slowest.end(), longer);
  slowest.resize(kept);
  return slowest;
}

OpFacts FactsOf(const Entry& entry, int64_t self_ns) {
  OpFacts facts = {.operation = entry.operation,
                   .duration_ns = entry.duration_ns,
                   .self_ns = self_ns,
                   .bytes = entry.memory_bytes,
                   .start_ns = entry.start_ns};
  if (entry.device) facts.device = *entry.device;
  return facts;
}

namespace {

template <typename Sums>
Sums AddUp(const Trace& trace) {
  Sums sums(trace.behaviour());
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
  return CommunicationOf(SummariseOps(trace), trace.TotalDurationNs(), min_ratio,
                         trace.behaviour());
}

namespace {

std::string NestedStacks(const Trace& trace) {
  const std::vector<size_t> parents = ParentsOf(trace.entries());
  const std::vector<int64_t> self = trace.SelfTimes();
  std::map<std::string, int64_t> weights;
  std::vector<size_t> path;
  for (size_t i = 0; i < self.size(); ++i) {
    if (self[i] <= 0) continue;
    path.clear();
    for (size_t at = i; at != kNoParent; at = parents[at]) path.push_back(at);
    std::string stack = FrameOf(trace.entries()[path.back()].device.value_or("no device"));
    for (size_t at = path.size(); at-- > 0;)
      stack += ';' + FrameOf(trace.entries()[path[at]].operation);
    weights[std::move(stack)] += self[i];
  }
  std::string text;
  for (const auto& [stack, weight] : weights) text += stack + ' ' + std::to_string(weight) + '\n';
  return text;
}

}  // namespace

std::string CollapsedStacks(const Trace& trace) {
  if (trace.behaviour() == Behaviour::kCorrect) return NestedStacks(trace);
  CompatStacks stacks;
  for (const Entry& entry : trace.entries()) {
    stacks.Add(entry.operation,
               entry.device ? std::optional<std::string_view>(*entry.device) : std::nullopt,
               entry.DurationUs());
  }
  return stacks.Text();
}

}  // namespace debrief::op_trace
