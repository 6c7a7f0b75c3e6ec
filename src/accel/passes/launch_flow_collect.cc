// launch_flow_collect: for every correlation, where its launch, its kernels and its waiter are.
// Changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "accel/passes/launch_flows.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
namespace {

void NoteFlow(const Event& event, const Run& run, LaunchFlows& flows) {
  const auto key = LaunchOf(event, key::kId, ArgPlace::kTop, run);
  if (!key) return;
  // The reference continues behind the kernels' ids and meets those of other calls.
  if (!run.options.compat) flows.largest_id = std::max(flows.largest_id, key->second);
  if (event.phase == 's') {
    flows.launches[*key].flow_start = event;
  } else {
    flows.known_ends.insert({event.pid.integer, event.tid.integer, key->second, event.ts});
  }
}

// Kernels are sorted by start: one that ends later replaces one that ends earlier.
void NoteKernel(const Event& event, LaunchKey key, LaunchFlows& flows) {
  Launch& launch = flows.launches[key];
  const bool later = !launch.last_kernel.has_value() || event.end() > launch.last_kernel->end();
  const bool late = launch.waiter.has_value() && event.end() - kInside > launch.waiter->end();
  flows.late_kernels += late;
  if (!late && later) launch.last_kernel = event;
}

}  // namespace

std::optional<LaunchKey> LaunchOf(const Event& event, StringId key, ArgPlace place,
                                  const Run& run) {
  const auto id = IntegerArg(event, key, run, place);
  if (!id) return std::nullopt;
  return LaunchKey(run.options.compat ? 0 : event.job, *id);
}

std::optional<LaunchKey> KernelOfLaunch(const Event& event, const Run& run) {
  if (event.phase != 'X' || event.cat != key::kKernel) return std::nullopt;
  const auto key = LaunchOf(event, key::kCorrelation, ArgPlace::kArgs, run);
  return key && key->second != 0 ? key : std::nullopt;
}

void LaunchFlowCollect(EventList& events, Run& run) {
  auto& flows = run.Shared<LaunchFlows>();
  for (const Event& event : events) {
    if (event.phase == 's' || event.phase == 'f') NoteFlow(event, run, flows);
    if (event.phase != 'X') continue;
    const auto key = LaunchOf(event, key::kCorrelation, ArgPlace::kArgs, run);
    if (!key) continue;
    const bool waits = run.Text(event.name).find("ScheduleWait") != std::string_view::npos;
    const bool is_kernel = !waits && KernelOfLaunch(event, run).has_value();
    if (waits) flows.launches[*key].waiter = event;
    if (is_kernel) NoteKernel(event, *key, flows);
    if (waits || is_kernel || !run.options.compat) {
      flows.largest_id = std::max(flows.largest_id, key->second);
    }
  }
  if (flows.late_kernels > 0) {
    run.console.Warning(fmt::format("FLOWS: {} kernels end behind the call that waits for them",
                                    flows.late_kernels));
  }
}

}  // namespace debrief::accel
