#include "outputs/pending_ops.h"

#include <algorithm>
#include <cstdlib>

#include "tables/comm_op.h"
#include "tables/process_exit.h"
#include "tables/text_event.h"

namespace debrief::outputs {

namespace {

// What a text says happened to a rank at a time. Its zone is guessed: what is hours away from the
// dumps is of another clock.
template <typename Table>
AttemptEnd* EndOf(const Table& table, size_t row, AttemptEnds& ends) {
  constexpr int64_t kFarApart = int64_t{3600} * 1'000'000'000;
  if (table.time_ns[row] < 0) return nullptr;
  const auto found = ends.find({table.job[row], table.attempt[row]});
  if (found == ends.end()) return nullptr;
  return std::abs(table.time_ns[row] - found->second.dumps) > kFarApart ? nullptr : &found->second;
}

void AddFirst(std::map<int32_t, int64_t>& times, int32_t rank, int64_t time) {
  const auto [first, is_new] = times.try_emplace(rank, time);
  if (!is_new) first->second = std::min(first->second, time);
}

}  // namespace

AttemptEnds FindAttemptEnds(const Model& model) {
  AttemptEnds ends;
  const auto& ops = model.tables.Get<CommOpTable>();
  for (size_t row = 0; row < ops.size();) {
    const int32_t job = ops.job[row], attempt = ops.attempt[row];
    AttemptEnd& of_rows = ends[{job, attempt}];
    int64_t newest = of_rows.dumps;
    for (; row < ops.size() && ops.job[row] == job && ops.attempt[row] == attempt; ++row) {
      const int64_t seen = std::max(ops.started_ns[row], ops.completed_ns[row]);
      newest = std::max(newest, std::max(ops.created_ns[row], seen));
    }
    of_rows.dumps = newest;
  }
  AttemptEnd* end = nullptr;
  const auto& events = model.tables.Get<TextEventTable>();
  for (size_t row = 0; row < events.size() && !ends.empty(); ++row) {
    if (model.pools.Text(events.kind[row]) != "watchdog_timeout") continue;
    end = EndOf(events, row, ends);
    if (end == nullptr) continue;
    end->last_timeout = std::max(end->last_timeout, events.time_ns[row]);
    AddFirst(end->timeout_of, events.rank[row], events.time_ns[row]);
  }
  const auto& exits = model.tables.Get<ProcessExitTable>();
  for (size_t row = 0; row < exits.size() && !ends.empty(); ++row) {
    end = EndOf(exits, row, ends);
    if (end == nullptr) continue;
    end->last_exit = std::max(end->last_exit, exits.time_ns[row]);
    AddFirst(end->exit_of, exits.rank[row], exits.time_ns[row]);
  }
  return ends;
}

int64_t PendingEnd(const Model& model, const AttemptEnds& ends, size_t op_row) {
  const auto& ops = model.tables.Get<CommOpTable>();
  const auto found = ends.find({ops.job[op_row], ops.attempt[op_row]});
  if (found == ends.end()) return ops.created_ns[op_row];
  const AttemptEnd& end = found->second;
  const bool by_timeout = end.last_timeout != kNone64;
  const std::map<int32_t, int64_t>& times = by_timeout ? end.timeout_of : end.exit_of;
  const auto own = times.find(ops.rank[op_row]);
  if (own != times.end() && own->second > ops.created_ns[op_row]) return own->second;
  return std::max(by_timeout ? end.last_timeout : end.last_exit, end.dumps);
}

int64_t PendingAge(const Model& model, const AttemptEnds& ends, size_t op_row, int64_t known) {
  const auto& ops = model.tables.Get<CommOpTable>();
  if (op_row >= ops.size() || ops.created_ns[op_row] == kNone64) return known;
  int64_t age = 0;
  if (__builtin_sub_overflow(PendingEnd(model, ends, op_row), ops.created_ns[op_row], &age))
    return known;
  return std::max(known, age);
}

}  // namespace debrief::outputs
