// Stages as acelyzer has them where its rule differs from the right one as a whole; the pipeline
// takes these with --compat. Where only a detail differs, the stage itself asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "accel/run.h"

namespace debrief::accel::reference {

void NormalizePhase2(EventList& events, Run& run);
void MpSyncTightV1(EventList& events, Run& run);
void MpTsCalibrationV2(EventList& events, Run& run);
void QueueingCounter(EventList& events, Run& run);
void DetectPartialOverlapTids(EventList& events, Run& run);
void DetectPartialOverlapEvents(EventList& events, Run& run);
void ComputeUtilizationFingerprints(EventList& events, Run& run);
void MpCalcBw(EventList& events, Run& run);

// The rank of an event of a torch trace: process 0 is the rank, and so are its devices and labels.
void PlaceTorchEvent(Event& event, int64_t rank, Run& run);

// Every run of digits goes, and a "_" before it; digits behind a "V" stay. "add_11 Cmpt Exec"
// becomes "add Cmpt Exec", but "max_pool2d" becomes "max_poold".
std::string WithoutDigits(std::string_view name);

}  // namespace debrief::accel::reference
