// extract_data_transfer_event (-C bandwidth): transfers between host and device with their bytes.
// The reference looks for `Bytes`, which normalize_phase1 has renamed, and finds none.
#include "accel/categories.h"
#include "accel/passes/passes.h"
#include "accel/passes/transfers.h"

namespace debrief::accel {

void ExtractDataTransferEvent(EventList& events, Run& run) {
  if (run.options.compat) return;
  auto& transfers = run.Shared<Transfers>();
  for (const Event& event : events) {
    if (event.phase != 'X' || event.dur <= 0 || !IsDeviceEvent(event, run)) continue;
    const bool in = IsCopyIn(event, run);
    if (!in && !IsCopyOut(event, run)) continue;
    const auto bytes = IntegerArg(event, key::kBytes, run);
    if (!bytes || *bytes <= 0) continue;
    transfers.by_rank[event.pid].push_back(
        {event.ts, event.end(), static_cast<double>(*bytes) / event.dur / 1e3, in});
  }
}

}  // namespace debrief::accel
