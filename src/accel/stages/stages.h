// Every pass of the pipeline (pipeline.cc), by the file that has it. A stage is a file of passes
// about one subject; its first comment says what it does to the events.
#pragma once

#include "accel/run.h"

namespace debrief::accel {

// clean_up.cc
void NormalizePhase1(EventList& events, Run& run);
void DropGlobalEvents(EventList& events, Run& run);
void ProcessingFilter(EventList& events, Run& run);

// cycles.cc
void NormalizePhase2(EventList& events, Run& run);
void EventSanityChecks(EventList& events, Run& run);

// device_times.cc
void FrequencyAlignCollect(EventList& events, Run& run);
void FrequencyAlignApply(EventList& events, Run& run);
void CycleCountToWallclock(EventList& events, Run& run);
void TightenHtsByInstrType(EventList& events, Run& run);
void TripplePhasedEvents(EventList& events, Run& run);
void CleanupCopyOfDeviceTs(EventList& events, Run& run);

// names.cc
void RemoveIdsFromName(EventList& events, Run& run);
void MapTidToRange(EventList& events, Run& run);
void RecombineCpuEvents(EventList& events, Run& run);
void CycleCountConversionCleanup(EventList& events, Run& run);

// rank_clocks.cc
void MpSyncTightV1(EventList& events, Run& run);
void MpTsCalibrationV2(EventList& events, Run& run);

// dialect_clocks.cc
void AlignDialects(EventList& events, Run& run);

// sorting.cc
void SortEvents(EventList& events, Run& run);
void SortGlobally(EventList& events, Run& run);
void AssertTsSequence(EventList& events, Run& run);
void AssertGlobalTsSequence(EventList& events, Run& run);
void Verify(EventList& events, Run& run);
void VerifyCleanup(EventList& events, Run& run);

// overlap.cc
void DetectPartialOverlapEvents(EventList& events, Run& run);

// iterations.cc
void CollectIterationStats(EventList& events, Run& run);

// power.cc
void ExtractPowerEvent(EventList& events, Run& run);
void SortPowerEvents(EventList& events, Run& run);
void ComputePower(EventList& events, Run& run);
void AnalyzePowerStatistics(EventList& events, Run& run);

// counters.cc
void QueueingCounter(EventList& events, Run& run);
void ExtractDataTransferEvent(EventList& events, Run& run);
void ComputeBandwidth(EventList& events, Run& run);
void MpCalcBw(EventList& events, Run& run);
void MpCalcBwV2(EventList& events, Run& run);

// utilisation.cc
void ComputeUtilizationFingerprints(EventList& events, Run& run);
void ComputeUtilization(EventList& events, Run& run);

// classes.cc
void EventCategorizer(EventList& events, Run& run);
void EventCategorizerUpdate(EventList& events, Run& run);

// launches.cc
void LaunchFlowCollect(EventList& events, Run& run);
void LaunchFlowCreateMissing(EventList& events, Run& run);

// collective_steps.cc
void CommunicationEventCollection(EventList& events, Run& run);
void CommunicationEventApply(EventList& events, Run& run);
void FlowPrepareEventData(EventList& events, Run& run);

// collectives.cc
void FlowExtraction(EventList& events, Run& run);

// statistics.cc
void CalculateStats(EventList& events, Run& run);
void CalculateStatsV2(EventList& events, Run& run);

// tensorboard.cc
void TbRefinementIntrusive(EventList& events, Run& run);
void TbRefinementLightweight(EventList& events, Run& run);

// Steps of passes above that the reference's variants (compat/acelyzer) take as well.
void CalibrateRanks(EventList& events, Run& run);
Event MakePrepCount(const Value& pid, double ts, int64_t count, Run& run);

}  // namespace debrief::accel
