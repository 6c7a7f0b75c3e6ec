// Launches and the kernels they lead to, by correlation.
//
// The reference knows a launch by its correlation alone: in a run of several ranks the launch of
// one rank points to the kernels of another. Without --compat the file belongs to the key.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "accel/run.h"
#include "accel/stages/stages.h"

namespace debrief::accel {

namespace {

using LaunchKey = std::pair<uint32_t, int64_t>;  // file (0 with --compat), correlation

struct Launch {
  std::optional<Event> flow_start;  // the `s` that the trace has
  std::optional<Event> waiter;      // the call that waits for all kernels
  std::optional<Event> last_kernel;
};

struct LaunchFlows {
  std::map<LaunchKey, Launch> launches;
  // Ends of flows that the trace has: pid, tid, correlation, time.
  std::set<std::tuple<int64_t, int64_t, int64_t, double>> known_ends;
  int64_t largest_id = 0;
  size_t late_kernels = 0;
};

// A flow ends a little before its slice does: one that ends with it is not drawn.
constexpr double kInside = 0.001;

}  // namespace

// launch_flow_collect: for every correlation, where its launch, its kernels and its waiter are.
// Changes nothing.

namespace {

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
void NoteLaunchedKernel(const Event& event, LaunchKey key, LaunchFlows& flows) {
  Launch& launch = flows.launches[key];
  const bool later = !launch.last_kernel.has_value() || event.end() > launch.last_kernel->end();
  const bool late = launch.waiter.has_value() && event.end() - kInside > launch.waiter->end();
  flows.late_kernels += late;
  if (!late && later) launch.last_kernel = event;
}

}  // namespace

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
    if (is_kernel) NoteLaunchedKernel(event, *key, flows);
    if (waits || is_kernel || !run.options.compat) {
      flows.largest_id = std::max(flows.largest_id, key->second);
    }
  }
  if (flows.late_kernels > 0) {
    run.console.Warning(fmt::format("FLOWS: {} kernels end behind the call that waits for them",
                                    flows.late_kernels));
  }
}

// launch_flow_create_missing: an arrow from a launch to every kernel it leads to, and from its last
// kernel to the call that waits. Kineto draws one arrow a launch; the reference draws that again,
// without --compat only what is missing is added.

namespace {

class Arrows {
 public:
  explicit Arrows(Run& run) : run_(run), flows_(run.Shared<LaunchFlows>()) {}

  void ToKernel(const Event& kernel, EventList& out) {
    const auto key = KernelOfLaunch(kernel, run_);
    if (!key) return;
    const auto at = flows_.launches.find(*key);
    if (at == flows_.launches.end() || !at->second.flow_start) return;
    if (!run_.options.compat && IsDrawn(kernel, key->second)) return;
    const Event& start = *at->second.flow_start;
    Draw(start, start.ts, kernel, kernel.ts, start, out);
  }

  void ToWaiters(EventList& out) {
    Event named;
    named.name = named.cat = run_.Intern("ac2g");
    for (const auto& [key, launch] : flows_.launches) {
      if (!launch.waiter || !launch.last_kernel) continue;
      const Event& kernel = *launch.last_kernel;
      Draw(kernel, kernel.end() - kInside, *launch.waiter, launch.waiter->end(),
           launch.flow_start.value_or(named), out);
    }
  }

 private:
  bool IsDrawn(const Event& kernel, int64_t id) const {
    return flows_.known_ends.contains({kernel.pid.integer, kernel.tid.integer, id, kernel.ts});
  }

  void Draw(const Event& from, double from_ts, const Event& to, double to_ts, const Event& named,
            EventList& out) {
    const Value id = Value::Integer(flows_.largest_id + ++drawn_);
    Event start = MakeFlowEnd('s', named.name, id, from, from_ts, run_);
    Event end = MakeFlowEnd('f', named.name, id, to, to_ts, run_);
    start.cat = end.cat = named.cat;
    start.ts_is_integer = from.phase == 's' && from.ts_is_integer;
    out.push_back(start);
    out.push_back(end);
  }

  Run& run_;
  LaunchFlows& flows_;
  int64_t drawn_ = 0;
};

}  // namespace

void LaunchFlowCreateMissing(EventList& events, Run& run) {
  if (run.Shared<LaunchFlows>().launches.empty()) return;
  Arrows arrows(run);
  EventList out;
  out.reserve(events.size());
  for (const Event& event : events) {
    out.push_back(event);
    arrows.ToKernel(event, out);
  }
  arrows.ToWaiters(out);
  events = std::move(out);
}

}  // namespace debrief::accel
