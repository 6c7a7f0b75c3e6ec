// cycle_count_conversion_cleanup: the times of all stamps go, and the name of a job tells it from
// others of the same name: "job_1.json(17)".
#include <fmt/format.h>

#include "accel/passes/passes.h"

namespace debrief::accel {

void CycleCountConversionCleanup(EventList& events, Run& run) {
  for (Stamps& stamps : run.stamps) stamps.has_all = false;
  run.jobs_are_named = true;
  std::vector<StringId> names;
  for (const Job& job : run.jobs) {
    names.push_back(run.Intern(fmt::format("{}({})", job.base_name, job.number)));
  }
  for (Event& event : events) {
    Arg* name = event.job < names.size() ? event.Find(key::kJobName) : nullptr;
    if (name != nullptr) name->Set(Value::Text(names[event.job]));
  }
}

}  // namespace debrief::accel
