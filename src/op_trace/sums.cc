// Sums by name and by device: percentiles, busy times, communication, and how evenly the time is
// spread.
#include "op_trace/sums.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace debrief::op_trace {

namespace {

// The first op traces never divided by less.
constexpr double kLeastTotalUs = 1e-9;

double Ratio(int64_t part_ns, int64_t total_ns) {
  return static_cast<double>(part_ns) / 1e3 /
         std::max(static_cast<double>(total_ns) / 1e3, kLeastTotalUs);
}

}  // namespace

void AddTo(int64_t& sum, int64_t number) {
  if (!__builtin_add_overflow(sum, number, &sum)) return;
  sum = number > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

void AddTo(uint64_t& sum, uint64_t number, Behaviour behaviour) {
  const bool overflows = __builtin_add_overflow(sum, number, &sum);
  if (overflows && behaviour == Behaviour::kCorrect) sum = std::numeric_limits<uint64_t>::max();
}

int64_t Percentile(std::vector<int64_t>& values, unsigned percent) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * percent + 99) / 100;  // the smallest is number 1
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double MeanOf(int64_t sum, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

void OpSums::Add(const OpFacts& op) {
  Sum& sum = sums_[op.operation];
  ++sum.count;
  AddTo(sum.bytes, op.bytes, behaviour_);
  if (!op.duration_ns) return;
  AddTo(sum.duration_ns, *op.duration_ns);
  AddTo(sum.self_ns, op.self_ns);
  sum.durations.push_back(*op.duration_ns);
}

std::vector<OpSummary> OpSums::Rows() const {
  std::vector<OpSummary> rows;
  for (const auto& [name, sum] : sums_) {
    std::vector<int64_t> durations = sum.durations;
    OpSummary row = {.operation = std::string(name),
                     .count = sum.count,
                     .duration_ns = sum.duration_ns,
                     .self_ns = sum.self_ns,
                     .p50_ns = Percentile(durations, 50),
                     .p99_ns = Percentile(durations, 99),
                     .longest_ns = Percentile(durations, 100),
                     .bytes = sum.bytes};
    row.mean_ns = MeanOf(sum.duration_ns, durations.size());
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const OpSummary& a, const OpSummary& b) { return a.operation < b.operation; });
  return rows;
}

std::vector<CommunicationShare> CommunicationOf(const std::vector<OpSummary>& ops,
                                                int64_t op_time_ns, double min_ratio,
                                                Behaviour behaviour) {
  std::vector<CommunicationShare> shares;
  for (const OpSummary& op : ops) {
    if (!IsCommunication(op.operation, behaviour)) continue;
    const double ratio = Ratio(op.duration_ns, op_time_ns);
    if (ratio >= min_ratio) shares.push_back({op.operation, op.count, op.duration_ns, ratio});
  }
  std::sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
    return std::tie(b.duration_ns, a.operation) < std::tie(a.duration_ns, b.operation);
  });
  return shares;
}

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
  AddTo(sum.bytes, op.bytes, behaviour_);
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
    return behaviour_ == Behaviour::kReference ? a.device < b.device
                                               : NaturallyBefore(a.device, b.device);
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
  const double ideal = MeanOf(balance.total_ns, devices.size());
  balance.ideal_ns = ideal;
  if (ideal > 0)
    balance.imbalance = std::max(0.0, (static_cast<double>(balance.max_ns) - ideal) / ideal);
  return balance;
}

namespace {

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
