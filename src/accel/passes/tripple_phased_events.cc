// tripple_phased_events (-s): a device event becomes up to three slices, one for each phase on the
// device.
//
//   k   ->   k_DmaI  TS1..TS2     k_Cmpt  TS3..TS4     k_DmaO  TS4..TS5
//
// An event whose name says its phase keeps that one alone; those of Prep are left out, and so are
// phases shorter than a cycle of 560 MHz.
#include <algorithm>
#include <string>

#include "accel/passes/cycles.h"
#include "accel/passes/passes.h"
#include "model/accel/python_float.h"

namespace debrief::accel {

namespace {

struct Part {
  std::string_view ending;
  size_t begin, end;  // stamps
  Phase phase;
};
constexpr Part kParts[] = {
    {"_DmaI", 0, 1, Phase::kDmaIn}, {"_Cmpt", 2, 3, Phase::kExec}, {"_DmaO", 3, 4, Phase::kDmaOut}};
constexpr double kShortestUs = 1.0 / 560;
constexpr double kGapUs = 1.0 / 1120;

// On the device's clock a slice has stamps of its own phase alone: others are moved to its ends.
Stamps Within(Stamps stamps, const Part& part) {
  const double begin = stamps.dev[part.begin], end = stamps.dev[part.end];
  for (double& stamp : stamps.dev) stamp = std::clamp(stamp, begin, std::max(begin, end));
  return stamps;
}

void Split(const Event& event, Run& run, EventList& out) {
  const Stamps stamps = *run.StampsOf(event);
  const Phase own = PhaseByWord(run.Text(event.name));
  for (const Part& part : kParts) {
    const double us = stamps.all[part.end] - stamps.all[part.begin];
    if (us < kShortestUs || (own != Phase::kNone && own != part.phase)) continue;
    Event slice = event;
    run.args.Own(slice);
    slice.stamps = static_cast<uint32_t>(run.stamps.size());
    run.stamps.push_back(Within(stamps, part));
    if (own == Phase::kNone)
      slice.name = run.Intern(std::string(run.Text(event.name)) + std::string(part.ending));
    slice.ts = stamps.all[part.begin];
    slice.dur = PythonRound(us - kGapUs, 3);
    out.push_back(slice);
  }
}

}  // namespace

void TripplePhasedEvents(EventList& events, Run& run) {
  EventList out;
  out.reserve(events.size());
  for (const Event& event : events) {
    const Stamps* stamps = run.StampsOf(event);
    if (event.phase != 'X' || stamps == nullptr || !stamps->has_all) {
      out.push_back(event);
    } else if (!run.Traits(event).prep) {
      Split(event, run, out);
    }
  }
  events = std::move(out);
}

}  // namespace debrief::accel
