// mp_calc_bw (without -R): the counters "BW allreduce" and "BW all-pcie" of collectives, by the
// bytes that their slices carry.
//
// A collective begins when the last rank has come and ends when the last one is done. The
// reference asks for `Bytes`, which no event has any more; what is left of it is that it turns the
// list around, and with it the order of events at the same time.
//
// Cost: linear.
#include <algorithm>
#include <map>

#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
namespace {

struct Collective {
  ByValue<double> starts;  // first slice of each rank
  double end = 0;
  int64_t bytes = 0;
};

std::map<StringId, Collective> Collect(const EventList& events, const Run& run) {
  std::map<StringId, Collective> collectives;
  for (const Event& event : events) {
    const Arg* group = event.phase == 'X' ? event.Find(key::kCollGroup) : nullptr;
    if (group == nullptr || group->kind != ValueKind::kText) continue;
    Collective& collective = collectives[group->text];
    const bool is_new = collective.starts.Find(event.pid) == nullptr;
    double& start = collective.starts[event.pid];
    start = is_new ? event.ts : std::min(start, event.ts);
    collective.end = std::max(collective.end, event.end());
    collective.bytes = std::max(collective.bytes, IntegerArg(event, key::kBytes, run).value_or(0));
  }
  return collectives;
}

void Emit(const Collective& collective, Run& run, EventList& out) {
  const auto ranks = static_cast<double>(collective.starts.size());
  if (ranks < 2 || collective.bytes <= 0) return;
  double begin = 0;
  for (const auto& [rank, start] : collective.starts) begin = std::max(begin, start);
  if (collective.end <= begin) return;
  const double rate = static_cast<double>(collective.bytes) / (collective.end - begin) / 1000;
  const auto counter = [&](std::string_view name, double ts, double value) {
    out.push_back(
        MakeCounter({run.Intern(name), {}, key::kGBps}, Value::Integer(-1), ts, value, run));
  };
  counter("BW allreduce", begin, rate);
  counter("BW all-pcie", begin, 2 * (ranks - 1) * rate);
  counter("BW allreduce", collective.end, 0);
  counter("BW all-pcie", collective.end, 0);
}

}  // namespace

void MpCalcBw(EventList& events, Run& run) {
  if (run.options.compat) {
    std::reverse(events.begin(), events.end());
    return;
  }
  EventList counters;
  for (const auto& [name, collective] : Collect(events, run)) Emit(collective, run, counters);
  events.insert(events.end(), counters.begin(), counters.end());
}

}  // namespace debrief::accel
