#include "analyses/join/collectives/schedule.h"

#include <algorithm>

#include "analyses/join/collectives/units.h"
#include "tables/compile_collective.h"

namespace debrief::analyses::join_collectives {

Schedules::Schedules(const Model& model) {
  const auto& table = model.tables.Get<CompileCollectiveTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    const int32_t op = OpClassOf(model.pools.Text(table.op[row]));
    if (op == 0) continue;  // waits
    auto& schedules = of_compilation_[Key(table.job[row], table.attempt[row], table.rank[row],
                                          table.compile_id[row])];
    if (schedules.empty() || schedules.back().entry != table.entry[row])
      schedules.push_back({table.entry[row], {}, {}});
    schedules.back().ops.push_back(op);
    schedules.back().positions.push_back(table.position[row]);
  }
}

void Schedules::Place(const Identity& who, StringId compile_id,
                      std::vector<CompiledCall*>& calls) const {
  const Schedule* fits = nullptr;
  size_t fitting = 0;
  auto found = of_compilation_.find(Key(who.job, who.attempt, who.rank, compile_id));
  if (found != of_compilation_.end()) {
    for (const Schedule& schedule : found->second) {
      if (!std::equal(schedule.ops.begin(), schedule.ops.end(), calls.begin(), calls.end(),
                      [](int32_t op, const CompiledCall* call) { return op == call->op; }))
        continue;
      fits = &schedule;
      ++fitting;
    }
  }
  if (fitting != 1) {
    std::string_view reason =
        found == of_compilation_.end() ? "the compile log has no schedule of this compilation"
        : fitting == 0                 ? "no schedule of this compilation has these ops"
                                       : "several schedules of this compilation have these ops";
    for (CompiledCall* call : calls) call->reason = reason;
    return;
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i]->entry = fits->entry;
    calls[i]->position = fits->positions[i];
  }
}

}  // namespace debrief::analyses::join_collectives
