// A row of recorded_op as the formulas of op_trace/sums.h take it.
#pragma once

#include <algorithm>
#include <optional>

#include "model/model.h"
#include "op_trace/sums.h"
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

}  // namespace debrief
