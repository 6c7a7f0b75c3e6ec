// frequency_align_apply: device events of a job that needs it are shifted; `ts_adj` says how far.
#include "accel/passes/frequency_align.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void FrequencyAlignApply(EventList& events, Run& run) {
  const auto& shifts = run.Shared<JobShifts>().by_job;
  if (shifts.empty()) return;
  for (Event& event : events) {
    const auto shift = shifts.find(event.job);
    if (event.phase != 'X' || shift == shifts.end() || !event.Has(key::kTS1)) continue;
    event.ts += shift->second;
    run.args.Set(event, key::kTsAdj, Value::Number(shift->second));
  }
}

}  // namespace debrief::accel
