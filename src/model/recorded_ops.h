// Rows of recorded_op as the formulas of op_trace/sums.h take them, and rows of op_summary added
// up.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "model/model.h"
#include "op_trace/sums.h"
#include "tables/op_summary.h"
#include "tables/recorded_op.h"

namespace debrief {

// Formats that do not nest have ops of which nothing is inside of another.
inline int64_t SelfTime(const RecordedOpTable& ops, size_t row) {
  return ops.self_ns[row] != kNone64 ? ops.self_ns[row] : ops.duration_ns[row];
}

inline op_trace::OpFacts FactsOf(const Pools& pools, const RecordedOpTable& ops, size_t row) {
  op_trace::OpFacts facts = {.operation = pools.Text(ops.operation[row])};
  if (ops.device[row] != StringId::kNone) facts.device = pools.Text(ops.device[row]);
  if (ops.duration_ns[row] != kNone64) {
    facts.duration_ns = ops.duration_ns[row];
    facts.self_ns = SelfTime(ops, row);
  }
  if (ops.memory_bytes[row] != kNone64)
    facts.bytes = static_cast<uint64_t>(std::max<int64_t>(ops.memory_bytes[row], 0));
  if (ops.start_ns[row] != kNone64) facts.start_ns = ops.start_ns[row];
  return facts;
}

// As a table has it.
inline int64_t CountOf(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX));
}

// Sums by name, in order of name.
using OpSummaries = std::map<std::string_view, op_trace::OpSummary>;

// Adds a row of op_summary to the sum of its name. Percentiles do not add up: the last row's stay.
inline void AddSummary(const Pools& pools, const OpSummaryTable& table, size_t row,
                       OpSummaries& sums) {
  const std::string_view name = pools.Text(table.operation[row]);
  op_trace::OpSummary& sum = sums[name];
  sum.operation = name;
  sum.count += static_cast<uint64_t>(table.count[row]);
  op_trace::AddTo(sum.duration_ns, table.duration_ns[row]);
  op_trace::AddTo(sum.self_ns, table.self_ns[row]);
  op_trace::AddTo(sum.bytes, static_cast<uint64_t>(table.memory_bytes[row]));
  sum.longest_ns = std::max(sum.longest_ns, table.longest_ns[row]);
  sum.p50_ns = table.p50_ns[row];
  sum.p99_ns = table.p99_ns[row];
}

}  // namespace debrief
