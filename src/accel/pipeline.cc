#include "accel/pipeline.h"

#include <fmt/format.h>

#include "accel/export/write_trace.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel {

namespace {

bool Always(const Options&) { return true; }
bool FlexFix(const Options& o) { return o.flex_ts_fix; }
bool Async(const Options& o) { return o.overlap == Overlap::kAsync; }
bool Split(const Options& o) { return o.split_events; }
bool SyncTight(const Options& o) { return !o.no_mp_sync && !o.mp_sync_v2; }
bool SyncV2(const Options& o) { return !o.no_mp_sync && o.mp_sync_v2; }
bool OneClock(const Options& o) { return !o.compat && !o.no_mp_sync; }
bool PrepQueue(const Options& o) { return o.counters.prep_queue; }
bool DropGlobals(const Options& o) { return o.drop_globals; }
bool LanesAreTids(const Options& o) { return o.overlap == Overlap::kTid; }
bool Power(const Options& o) { return o.counters.power_ts3 || o.counters.power_ts4; }
bool PowerStats(const Options& o) { return Power(o) && o.power_stats; }
bool Bandwidth(const Options& o) { return o.counters.bandwidth; }
bool Utilisation(const Options& o) { return o.counters.rcu_util && !o.compiler_info.empty(); }
bool Summarize(const Options& o) { return o.comm_summarize_seq; }
bool Flow(const Options& o) { return o.flow; }
bool CollectiveV2(const Options& o) { return o.counters.coll_bw && o.build_coll_event; }
bool CollectiveV1(const Options& o) { return o.counters.coll_bw && !o.build_coll_event; }
bool Stats(const Options& o) { return o.stats; }
bool StatsV2(const Options& o) { return o.build_coll_event; }
bool Filter(const Options& o) { return !o.filter.empty(); }
bool Tb(const Options& o) { return o.tb_refinement; }
bool Verifies(const Options& o) { return o.verify; }

// acelyzer's extract_data_transfer_event looks for `Bytes`, which normalize_phase1 has renamed.
void Nothing(EventList&, Run&) {}

constexpr std::string_view kBarrier = "pipeline_barrier";
constexpr size_t kFirstBarrier = 4;

// The order of registration. Barriers stay in it for profiles that name them and for the numbers of
// -I.
const Pass kPasses[] = {
    {"drop_timestamp_reversed_events", Always, nullptr},
    {"create_slice_from_BE", Always, nullptr},
    {"normalize_phase1", Always, NormalizePhase1},
    {"frequency_align_collect", FlexFix, FrequencyAlignCollect},
    {kBarrier, Always, nullptr},
    {"frequency_align_apply", FlexFix, FrequencyAlignApply},
    {"normalize_phase2", Always, NormalizePhase2, reference::NormalizePhase2},
    {"event_sanity_checks", Always, EventSanityChecks},
    {"remove_ids_from_name", Async, RemoveIdsFromName},
    {"map_tid_to_range", Always, MapTidToRange},
    {"cycle_count_to_wallclock", Always, CycleCountToWallclock},
    {"tighten_hts_by_instr_type", Always, TightenHtsByInstrType},
    {"tripple_phased_events", Split, TripplePhasedEvents},
    {"mp_sync_tight_v1", SyncTight, MpSyncTightV1, reference::MpSyncTightV1},
    {"mp_ts_calibration_v2", SyncV2, MpTsCalibrationV2, reference::MpTsCalibrationV2},
    {"align_dialects", OneClock, AlignDialects},
    {"queueing_counter", PrepQueue, QueueingCounter, reference::QueueingCounter},
    {"drop_global_events", DropGlobals, DropGlobalEvents},
    {"recombine_cpu_events", Always, RecombineCpuEvents},
    {"sort_events", Always, SortEvents},
    {"assert_ts_sequence", Always, AssertTsSequence},
    // Without --compat lanes are numbered when they are needed.
    {"detect_partial_overlap_tids", LanesAreTids, nullptr, reference::DetectPartialOverlapTids},
    {kBarrier, LanesAreTids, nullptr},
    {"detect_partial_overlap_events", Always, DetectPartialOverlapEvents,
     reference::DetectPartialOverlapEvents},
    {"assert_ts_sequence", Always, AssertTsSequence},
    {"collect_iteration_stats", Always, CollectIterationStats},
    {"extract_power_event", Power, ExtractPowerEvent},
    {"sort_events", Power, SortPowerEvents},
    {"compute_power", Power, ComputePower},
    {"analyze_power_statistics", PowerStats, AnalyzePowerStatistics},
    {"extract_data_transfer_event", Bandwidth, ExtractDataTransferEvent, Nothing},
    {"compute_bandwidth", Bandwidth, ComputeBandwidth},
    {"compute_utilization_fingerprints", Utilisation, ComputeUtilizationFingerprints,
     reference::ComputeUtilizationFingerprints},
    {"assert_ts_sequence", Always, AssertTsSequence},
    {"communication_event_collection", Summarize, CommunicationEventCollection},
    {kBarrier, Always, nullptr},
    {"communication_event_apply", Summarize, CommunicationEventApply},
    {"compute_utilization", Utilisation, ComputeUtilization},
    {"sort_events", Always, SortGlobally},
    {"assert_global_ts_sequence", Always, AssertGlobalTsSequence},
    {"launch_flow_collect", Always, LaunchFlowCollect},
    {"event_categorizer", Always, EventCategorizer},
    {kBarrier, Always, nullptr},
    {"event_categorizer_update", Always, EventCategorizerUpdate},
    {"launch_flow_create_missing", Always, LaunchFlowCreateMissing},
    {"flow_prepare_event_data", Flow, FlowPrepareEventData},
    {"flow_extraction", Flow, FlowExtraction},
    {"mp_calc_bw_v2", CollectiveV2, MpCalcBwV2},
    {"mp_calc_bw", CollectiveV1, MpCalcBw, reference::MpCalcBw},
    {"calculate_stats", Stats, CalculateStats},
    {"processing_filter", Filter, ProcessingFilter},
    {"flow_data_cleanup", Always, nullptr},
    {"cleanup_copy_of_device_ts", Always, CleanupCopyOfDeviceTs},
    {"tb_refinement_intrusive", Tb, TbRefinementIntrusive},
    {"tb_refinement_lightweight", Always, TbRefinementLightweight},
    {"cycle_count_conversion_cleanup", Always, CycleCountConversionCleanup},
    {"calculate_stats_v2", StatsV2, CalculateStatsV2},
    {"sort_events", Always, SortGlobally},
    {"verify", Verifies, Verify},
    {"verify_cleanup", Verifies, VerifyCleanup},
};

}  // namespace

std::span<const Pass> AllPasses() { return kPasses; }

Status RunPasses(EventList& events, const Profile& profile, Run& run) {
  run.has_first_barrier = profile.IsOn(kFirstBarrier);
  int number = 0;  // among those that are wanted
  for (size_t i = 0; i < std::size(kPasses); ++i) {
    const Pass& pass = kPasses[i];
    // With -V the passes that verify run, and no others.
    const bool verifies = pass.is_wanted == Verifies;
    if (verifies != run.options.verify || !pass.is_wanted(run.options) || !profile.IsOn(i))
      continue;
    auto* const stage = run.options.compat && pass.reference != nullptr ? pass.reference : pass.run;
    if (stage != nullptr) stage(events, run);
    if (run.options.intermediate)
      TRY(WriteStage(fmt::format("{}_{:02}_{}", run.options.output, number, pass.identifier),
                     events, run));
    ++number;
  }
  return {};
}

}  // namespace debrief::accel
