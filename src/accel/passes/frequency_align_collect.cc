// frequency_align_collect: the time that the host says a job's device work took ("AIU Roundtrip"),
// and the time that the device events take. Where they do not lie inside, frequency_align_apply
// shifts them to its beginning.
//
// The reference lets the device's range end no earlier than the host's, so that a job whose device
// events are too early looks wider than its wrapper and is not shifted.
#include <fmt/format.h>

#include <algorithm>

#include "accel/passes/frequency_align.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

using Jobs = ByValue<JobRanges>;

void Collect(const Event& event, bool compat, JobRanges& job) {
  if (event.name == key::kAiuRoundtrip) {
    job.host.begin = std::min(job.host.begin, event.ts);
    job.host.end = std::max(job.host.end, event.end());
  }
  if (!event.Has(key::kTS1)) return;
  job.device.begin = std::min(job.device.begin, event.ts);
  job.device.end = std::max(compat ? job.host.end : job.device.end, event.end());
}

void Decide(uint32_t job, const JobRanges& ranges, Run& run) {
  const bool is_inside =
      ranges.host.begin <= ranges.device.begin && ranges.host.end >= ranges.device.end;
  const bool is_known = run.options.compat || (ranges.host.is_set() && ranges.device.is_set());
  if (is_inside || !is_known) return;
  const std::string& name = run.jobs[job].base_name;
  if (ranges.device.span() > ranges.host.span() || !ranges.host.is_set()) {
    run.console.Warning(fmt::format(
        "FREQ: aiu event range of {} is wider than cpu range. Will not attempt to adjust "
        "timestamps.",
        name));
    return;
  }
  run.Shared<JobShifts>().by_job[job] = ranges.host.begin - ranges.device.begin;
  run.console.Warning(fmt::format(
      "FREQ: job: {} has AIU events outside of corresponding CPU range. They are shifted by {} us.",
      name, ranges.host.begin - ranges.device.begin));
}

}  // namespace

void FrequencyAlignCollect(EventList& events, Run& run) {
  Jobs jobs;
  for (const Event& event : events) {
    if (event.phase != 'X' || event.job >= run.jobs.size()) continue;
    Collect(event, run.options.compat, jobs[Value::Integer(event.job)]);
  }
  for (const auto& [job, ranges] : jobs) Decide(static_cast<uint32_t>(job.integer), ranges, run);
}

}  // namespace debrief::accel
