// launch_flow_create_missing: an arrow from a launch to every kernel it leads to, and from its last
// kernel to the call that waits. Kineto draws one arrow a launch; the reference draws that again,
// without --compat only what is missing is added.
#include "accel/passes/launch_flows.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
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
