#include "outputs/pending_ops.h"

#include <algorithm>
#include <cstdlib>

#include "tables/comm_op.h"
#include "tables/text_event.h"

namespace debrief::outputs {

AttemptEnds FindAttemptEnds(const Model& model) {
  constexpr int64_t kFarApart = int64_t{3600} * 1'000'000'000;
  AttemptEnds ends;
  const auto& ops = model.tables.Get<CommOpTable>();
  for (size_t row = 0; row < ops.size(); ++row) {
    int64_t& newest = ends[{ops.job[row], ops.attempt[row]}].dumps;
    newest = std::max({newest, ops.created_ns[row], ops.started_ns[row], ops.completed_ns[row]});
  }
  const auto& events = model.tables.Get<TextEventTable>();
  for (size_t row = 0; row < events.size() && !ends.empty(); ++row) {
    const int64_t time = events.time_ns[row];
    if (time < 0 || model.pools.Text(events.kind[row]) != "watchdog_timeout") continue;
    const auto found = ends.find({events.job[row], events.attempt[row]});
    // The zone of a text is guessed: what is hours away from the dumps is of another clock.
    if (found == ends.end() || std::abs(time - found->second.dumps) > kFarApart) continue;
    AttemptEnd& end = found->second;
    end.last_timeout = std::max(end.last_timeout, time);
    const auto [first, is_new] = end.timeout_of.try_emplace(events.rank[row], time);
    if (!is_new) first->second = std::min(first->second, time);
  }
  return ends;
}

int64_t PendingEnd(const Model& model, const AttemptEnds& ends, size_t op_row) {
  const auto& ops = model.tables.Get<CommOpTable>();
  const auto found = ends.find({ops.job[op_row], ops.attempt[op_row]});
  if (found == ends.end()) return ops.created_ns[op_row];
  const AttemptEnd& end = found->second;
  const auto own = end.timeout_of.find(ops.rank[op_row]);
  if (own != end.timeout_of.end() && own->second > ops.created_ns[op_row]) return own->second;
  return std::max(end.last_timeout, end.dumps);
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
