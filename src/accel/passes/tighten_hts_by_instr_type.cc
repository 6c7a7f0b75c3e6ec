// tighten_hts_by_instr_type: a slice lasts as long as its own phase on the device, and ends where
// it ended. An event that names no phase lasts from TS1 to TS5, and begins where it began.
#include "accel/passes/passes.h"
#include "model/accel/dialect.h"

namespace debrief::accel {

namespace {

// Stamps on the host's clock, so that stamp `anchor` is at `at`.
void Rebase(Stamps& stamps, size_t anchor, double at) {
  for (size_t i = 0; i < 5; ++i) stamps.all[i] = at + (stamps.dev[i] - stamps.dev[anchor]);
}

}  // namespace

void TightenHtsByInstrType(EventList& events, Run& run) {
  for (Event& event : events) {
    Stamps* stamps = event.phase == 'X' ? run.StampsOf(event) : nullptr;
    if (stamps == nullptr) continue;
    const Phase phase = PhaseByWord(run.Text(event.name));
    if (phase == Phase::kNone) {
      Rebase(*stamps, 0, event.ts);
      continue;
    }
    const auto first = static_cast<size_t>(phase);
    const double end = event.ts + event.dur;
    event.dur = stamps->dev[first + 1] - stamps->dev[first];
    event.ts = end - event.dur;
    Rebase(*stamps, first + 1, end);
  }
}

}  // namespace debrief::accel
