#include "accel/pipeline.h"

#include <map>

#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

bool Always(const Options& options) { return !options.verify; }
bool FlexFix(const Options& o) { return !o.verify && o.flex_ts_fix; }
bool Async(const Options& o) { return !o.verify && o.overlap == Overlap::kAsync; }
bool Split(const Options& o) { return !o.verify && o.split_events; }
bool SyncTight(const Options& o) { return !o.verify && !o.no_mp_sync && !o.mp_sync_v2; }
bool SyncV2(const Options& o) { return !o.verify && !o.no_mp_sync && o.mp_sync_v2; }
bool PrepQueue(const Options& o) { return !o.verify && o.counters.prep_queue; }
bool DropGlobals(const Options& o) { return !o.verify && o.drop_globals; }
bool LanesAreTids(const Options& o) { return !o.verify && o.overlap == Overlap::kTid; }
bool Power(const Options& o) { return !o.verify && (o.counters.power_ts3 || o.counters.power_ts4); }
bool PowerStats(const Options& o) { return Power(o) && o.power_stats; }
bool Bandwidth(const Options& o) { return !o.verify && o.counters.bandwidth; }
bool Utilisation(const Options& o) {
  return !o.verify && o.counters.rcu_util && !o.compiler_info.empty();
}
bool Summarize(const Options& o) { return !o.verify && o.comm_summarize_seq; }
bool Flow(const Options& o) { return !o.verify && o.flow; }
bool CollectiveV2(const Options& o) {
  return !o.verify && o.counters.coll_bw && o.build_coll_event;
}
bool CollectiveV1(const Options& o) {
  return !o.verify && o.counters.coll_bw && !o.build_coll_event;
}
bool Stats(const Options& o) { return !o.verify && o.stats; }
bool StatsV2(const Options& o) { return !o.verify && o.build_coll_event; }
bool Filter(const Options& o) { return !o.verify && !o.filter.empty(); }
bool Tb(const Options& o) { return !o.verify && o.tb_refinement; }
bool Verify(const Options& o) { return o.verify; }

constexpr std::string_view kBarrier = "pipeline_barrier";

// The order of registration. Barriers stay in it for profiles that name them and for the numbers of
// -I.
const Pass kPasses[] = {
    {"drop_timestamp_reversed_events", Always, nullptr},
    {"create_slice_from_BE", Always, nullptr},
    {"normalize_phase1", Always, nullptr},
    {"frequency_align_collect", FlexFix, nullptr},
    {kBarrier, Always, nullptr},
    {"frequency_align_apply", FlexFix, nullptr},
    {"normalize_phase2", Always, nullptr},
    {"event_sanity_checks", Always, nullptr},
    {"remove_ids_from_name", Async, nullptr},
    {"map_tid_to_range", Always, nullptr},
    {"cycle_count_to_wallclock", Always, nullptr},
    {"tighten_hts_by_instr_type", Always, nullptr},
    {"tripple_phased_events", Split, nullptr},
    {"mp_sync_tight_v1", SyncTight, nullptr},
    {"mp_ts_calibration_v2", SyncV2, nullptr},
    {"queueing_counter", PrepQueue, nullptr},
    {"drop_global_events", DropGlobals, nullptr},
    {"recombine_cpu_events", Always, nullptr},
    {"sort_events", Always, nullptr},
    {"assert_ts_sequence", Always, nullptr},
    {"detect_partial_overlap_tids", LanesAreTids, nullptr},
    {kBarrier, LanesAreTids, nullptr},
    {"detect_partial_overlap_events", Always, nullptr},
    {"assert_ts_sequence", Always, nullptr},
    {"collect_iteration_stats", Always, nullptr},
    {"extract_power_event", Power, nullptr},
    {"sort_events", Power, nullptr},
    {"compute_power", Power, nullptr},
    {"analyze_power_statistics", PowerStats, nullptr},
    {"extract_data_transfer_event", Bandwidth, nullptr},
    {"compute_bandwidth", Bandwidth, nullptr},
    {"compute_utilization_fingerprints", Utilisation, nullptr},
    {"assert_ts_sequence", Always, nullptr},
    {"communication_event_collection", Summarize, nullptr},
    {kBarrier, Always, nullptr},
    {"communication_event_apply", Summarize, nullptr},
    {"compute_utilization", Utilisation, nullptr},
    {"sort_events", Always, nullptr},
    {"assert_global_ts_sequence", Always, nullptr},
    {"launch_flow_collect", Always, nullptr},
    {"event_categorizer", Always, nullptr},
    {kBarrier, Always, nullptr},
    {"event_categorizer_update", Always, nullptr},
    {"launch_flow_create_missing", Always, nullptr},
    {"flow_prepare_event_data", Flow, nullptr},
    {"flow_extraction", Flow, nullptr},
    {"mp_calc_bw_v2", CollectiveV2, nullptr},
    {"mp_calc_bw", CollectiveV1, nullptr},
    {"calculate_stats", Stats, nullptr},
    {"processing_filter", Filter, nullptr},
    {"flow_data_cleanup", Always, nullptr},
    {"cleanup_copy_of_device_ts", Always, nullptr},
    {"tb_refinement_intrusive", Tb, nullptr},
    {"tb_refinement_lightweight", Always, nullptr},
    {"cycle_count_conversion_cleanup", Always, nullptr},
    {"calculate_stats_v2", StatsV2, nullptr},
    {"sort_events", Always, nullptr},
    {"verify", Verify, nullptr},
    {"verify_cleanup", Verify, nullptr},
};

}  // namespace

std::span<const Pass> AllPasses() { return kPasses; }

Status RunPasses(EventList& events, const Profile& profile, Run& run) {
  for (size_t i = 0; i < std::size(kPasses); ++i) {
    const Pass& pass = kPasses[i];
    if (!pass.is_wanted(run.options) || !profile.IsOn(i)) continue;
    if (pass.run != nullptr) pass.run(events, run);
  }
  return {};
}

}  // namespace debrief::accel
