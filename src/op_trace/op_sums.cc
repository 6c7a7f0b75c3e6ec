// Sums by name of the op, percentiles, and which of them are communication.
#include <algorithm>
#include <limits>
#include <tuple>

#include "op_trace/sums.h"

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

void AddTo(uint64_t& sum, uint64_t number, Corners corners) {
  const bool overflows = __builtin_add_overflow(sum, number, &sum);
  if (overflows && corners == Corners::kRight) sum = std::numeric_limits<uint64_t>::max();
}

int64_t Percentile(std::vector<int64_t>& values, unsigned percent) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * percent + 99) / 100;  // the smallest is number 1
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void OpSums::Add(const OpFacts& op) {
  Sum& sum = sums_[op.operation];
  ++sum.count;
  AddTo(sum.bytes, op.bytes, corners_);
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
    if (!durations.empty()) row.mean_ns = sum.duration_ns / static_cast<int64_t>(durations.size());
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const OpSummary& a, const OpSummary& b) { return a.operation < b.operation; });
  return rows;
}

std::vector<CommunicationShare> CommunicationOf(const std::vector<OpSummary>& ops,
                                                int64_t op_time_ns, double min_ratio,
                                                Corners corners) {
  std::vector<CommunicationShare> shares;
  for (const OpSummary& op : ops) {
    if (!IsCommunication(op.operation, corners)) continue;
    const double ratio = Ratio(op.duration_ns, op_time_ns);
    if (ratio >= min_ratio) shares.push_back({op.operation, op.count, op.duration_ns, ratio});
  }
  std::sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
    return std::tie(b.duration_ns, a.operation) < std::tie(a.duration_ns, b.operation);
  });
  return shares;
}

}  // namespace debrief::op_trace
