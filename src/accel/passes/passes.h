// Every pass is a function in a file of its own, named by its identifier; pipeline.cc puts them in
// order.
#pragma once

#include "accel/pass.h"

namespace debrief::accel {

void NormalizePhase1(EventList& events, Run& run);
void FrequencyAlignCollect(EventList& events, Run& run);
void FrequencyAlignApply(EventList& events, Run& run);
void NormalizePhase2(EventList& events, Run& run);
void EventSanityChecks(EventList& events, Run& run);
void RemoveIdsFromName(EventList& events, Run& run);
void MapTidToRange(EventList& events, Run& run);
void CycleCountToWallclock(EventList& events, Run& run);
void TightenHtsByInstrType(EventList& events, Run& run);
void TripplePhasedEvents(EventList& events, Run& run);
void MpSyncTightV1(EventList& events, Run& run);
void MpTsCalibrationV2(EventList& events, Run& run);
void QueueingCounter(EventList& events, Run& run);
void DropGlobalEvents(EventList& events, Run& run);
void RecombineCpuEvents(EventList& events, Run& run);
void SortEvents(EventList& events, Run& run);
void AssertTsSequence(EventList& events, Run& run);
void DetectPartialOverlapTids(EventList& events, Run& run);
void DetectPartialOverlapEvents(EventList& events, Run& run);

void CollectIterationStats(EventList& events, Run& run);
void ExtractPowerEvent(EventList& events, Run& run);
void SortPowerEvents(EventList& events, Run& run);
void ComputePower(EventList& events, Run& run);
void AnalyzePowerStatistics(EventList& events, Run& run);
void ExtractDataTransferEvent(EventList& events, Run& run);
void ComputeBandwidth(EventList& events, Run& run);
void ComputeUtilizationFingerprints(EventList& events, Run& run);
void CommunicationEventCollection(EventList& events, Run& run);
void CommunicationEventApply(EventList& events, Run& run);
void ComputeUtilization(EventList& events, Run& run);
void SortGlobally(EventList& events, Run& run);
void AssertGlobalTsSequence(EventList& events, Run& run);
void LaunchFlowCollect(EventList& events, Run& run);
void EventCategorizer(EventList& events, Run& run);
void EventCategorizerUpdate(EventList& events, Run& run);
void LaunchFlowCreateMissing(EventList& events, Run& run);
void FlowPrepareEventData(EventList& events, Run& run);
void FlowExtraction(EventList& events, Run& run);
void MpCalcBwV2(EventList& events, Run& run);
void MpCalcBw(EventList& events, Run& run);
void CalculateStats(EventList& events, Run& run);
void ProcessingFilter(EventList& events, Run& run);
void FlowDataCleanup(EventList& events, Run& run);
void CleanupCopyOfDeviceTs(EventList& events, Run& run);
void TbRefinementIntrusive(EventList& events, Run& run);
void TbRefinementLightweight(EventList& events, Run& run);
void CycleCountConversionCleanup(EventList& events, Run& run);
void CalculateStatsV2(EventList& events, Run& run);
void Verify(EventList& events, Run& run);
void VerifyCleanup(EventList& events, Run& run);

}  // namespace debrief::accel
