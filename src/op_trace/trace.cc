// All ops of a program, and what they add up to.
#include <algorithm>
#include <numeric>

#include "op_trace/nesting.h"
#include "op_trace/sums.h"

namespace debrief::op_trace {

void Trace::SetMetadata(std::string key, std::string value) {
  metadata_.insert_or_assign(std::move(key), std::move(value));
}

std::vector<int64_t> Trace::SelfTimes() const {
  std::vector<int64_t> self;
  self.reserve(entries_.size());
  for (const Entry& entry : entries_) self.push_back(entry.duration_ns.value_or(0));
  if (corners_ == Corners::kCompat) return self;
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
  for (const Entry& entry : entries_) AddTo(total, entry.memory_bytes, corners_);
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

}  // namespace debrief::op_trace
