// cycle_count_to_wallclock: stamps become times of the host. The end of a slice is the anchor: it
// belongs to the stamp at the end of the event's phase, and the slice begins with TS1.
#include "accel/passes/cycles.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void CycleCountToWallclock(EventList& events, Run& run) {
  const double mhz = run.options.soc_mhz;
  for (Event& event : events) {
    const auto cycles = event.phase == 'X' ? CyclesOf(event, run) : std::nullopt;
    if (!cycles) continue;
    const size_t anchor = StampAtEnd(PhaseBySuffix(run.Text(event.name)));
    const double end = event.ts + event.dur;
    Stamps stamps;
    stamps.has_all = stamps.has_dev = true;
    for (size_t i = 0; i < 5; ++i) {
      stamps.all[i] = end + static_cast<double>((*cycles)[i] - (*cycles)[anchor]) / mhz;
      stamps.dev[i] = static_cast<double>((*cycles)[i]) / mhz;
    }
    const double dur = stamps.all[anchor] - stamps.all[0];
    const double ts = end - dur;
    stamps.adjust_ts = ts - event.ts;
    stamps.adjust_dur = dur - event.dur;
    stamps.has_adjust = stamps.adjust_ts != 0 || stamps.adjust_dur != 0;
    event.ts = ts;
    event.dur = dur;
    event.stamps = static_cast<uint32_t>(run.stamps.size());
    run.stamps.push_back(stamps);
  }
}

}  // namespace debrief::accel
