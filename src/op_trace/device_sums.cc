// Sums by device, how busy each was, and how evenly the time is spread.
#include <algorithm>

#include "op_trace/sums.h"

namespace debrief::op_trace {

int64_t UnionOf(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t covered = 0;
  int64_t until = INT64_MIN;
  for (const auto& [begin, end] : intervals) {
    if (end <= until || end <= begin) continue;
    AddTo(covered, end);
    AddTo(covered, -std::max(begin, until));
    until = end;
  }
  return covered;
}

void DeviceSums::Add(const OpFacts& op) {
  if (!op.device) return;
  Sum& sum = sums_[*op.device];
  ++sum.count;
  AddTo(sum.bytes, op.bytes, corners_);
  if (!op.duration_ns) return;
  AddTo(sum.duration_ns, op.self_ns);
  if (!op.start_ns) return;
  int64_t end = *op.start_ns;
  AddTo(end, *op.duration_ns);
  sum.intervals.emplace_back(*op.start_ns, end);
}

std::vector<DeviceSummary> DeviceSums::Rows() const {
  std::vector<DeviceSummary> rows;
  for (const auto& [device, sum] : sums_) {
    std::vector<Interval> intervals = sum.intervals;
    rows.push_back({.device = std::string(device),
                    .count = sum.count,
                    .duration_ns = sum.duration_ns,
                    .busy_ns = UnionOf(intervals),
                    .bytes = sum.bytes});
  }
  std::sort(rows.begin(), rows.end(), [this](const DeviceSummary& a, const DeviceSummary& b) {
    return corners_ == Corners::kCompat ? a.device < b.device : NaturallyBefore(a.device, b.device);
  });
  return rows;
}

std::optional<LoadBalance> BalanceOf(const std::vector<DeviceSummary>& devices) {
  if (devices.size() < 2) return std::nullopt;
  LoadBalance balance;
  for (const DeviceSummary& device : devices) {
    AddTo(balance.total_ns, device.duration_ns);
    balance.max_ns = std::max(balance.max_ns, device.duration_ns);
    balance.devices.emplace_back(device.device, device.duration_ns);
  }
  const auto total = static_cast<double>(balance.total_ns);
  const double ideal = total / static_cast<double>(devices.size());
  balance.ideal_ns = balance.total_ns / static_cast<int64_t>(devices.size());
  if (ideal > 0)
    balance.imbalance = std::max(0.0, (static_cast<double>(balance.max_ns) - ideal) / ideal);
  return balance;
}

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits at `at`, without zeros in front.
std::string_view NumberAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) ++end;
  while (at + 1 < end && text[at] == '0') ++at;
  return text.substr(at, end - at);
}

}  // namespace

bool NaturallyBefore(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      const std::string_view x = NumberAt(a, i), y = NumberAt(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = static_cast<size_t>(x.data() + x.size() - a.data());
      j = static_cast<size_t>(y.data() + y.size() - b.data());
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "gpu:01" and "gpu:1" count the same; still one comes first
}

}  // namespace debrief::op_trace
