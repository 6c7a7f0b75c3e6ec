// Which tables each subcommand shows, and which of their columns.
#include <algorithm>

#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr auto kOptional = Presence::kOptional;

constexpr Sheet kSheets[] = {
    {"breakdown", "profile_breakdown", "Where the time of the devices went",
     "rank device total_ns compute_ns/total_ns exposed_communication_ns/total_ns "
     "exposed_memcpy_ns/total_ns other_ns/total_ns idle_ns/total_ns kernels note",
     "", "scope=all", Presence::kNeeded, "", "",
     "total_ns compute_ns/total_ns exposed_communication_ns/total_ns exposed_memcpy_ns/total_ns "
     "other_ns/total_ns idle_ns/total_ns kernels"},
    {"breakdown", "profile_breakdown", "The same, step by step",
     "rank step total_ns compute_ns/total_ns exposed_communication_ns/total_ns "
     "exposed_memcpy_ns/total_ns idle_ns/total_ns",
     "", "scope=step", kOptional, "", "",
     "step total_ns compute_ns/total_ns exposed_communication_ns/total_ns "
     "exposed_memcpy_ns/total_ns idle_ns/total_ns",
     "step"},
    {"breakdown", "profile_breakdown", "The same, stream by stream",
     "rank device stream total_ns busy_ns/total_ns compute_ns communication_ns memcpy_ns "
     "kernels",
     "", "scope=stream", kOptional, "", "",
     "device stream total_ns busy_ns/total_ns compute_ns communication_ns memcpy_ns kernels",
     "device stream"},
    {"breakdown", "profile_step_category", "What each step did, by TensorBoard's categories",
     "rank step category time_ns share_pct", "", "", kOptional, "tensorboard"},
    {"overlap", "profile_overlap", "Communication hidden behind computation",
     "rank device communication_ns computation_ns overlap_ns overlap_pct", "", "scope=all",
     Presence::kNeeded, "", "", "communication_ns computation_ns overlap_ns/communication_ns"},
    {"overlap", "profile_overlap", "The same, step by step",
     "rank step communication_ns computation_ns overlap_ns overlap_pct", "", "scope=step",
     kOptional, "", "", "step communication_ns computation_ns overlap_ns/communication_ns", "step"},
    {"overlap", "profile_kernel_types", "What runs at the same time",
     "rank time_ns share_pct kernel_type", "time_ns", "", Presence::kNeeded, "", "",
     "time_ns/* kernel_type", "kernel_type"},
    {"idle", "profile_idle", "Why the devices were idle",
     "rank device stream category detail idle_ns ratio gaps longest_ns busiest_host", "idle_ns", "",
     Presence::kNeeded, "", "", "idle_ns/* gaps longest_ns category detail busiest_host",
     "category detail"},
    {"idle", "profile_gap", "The longest gaps, and what the host did in them",
     "rank place duration_ns cause host op work", "duration_ns", "", kOptional},
    {"kernels", "profile_kernel", "Kernels, copies and fills by name",
     "rank total_ns share_pct count mean_ns median_ns min_ns max_ns stddev_ns device_class "
     "name",
     "total_ns", "", Presence::kNeeded, "", "",
     "total_ns/* count mean_ns min_ns max_ns device_class name", "name"},
    {"kernels", "profile_kernel_op", "The same by op and shapes",
     "rank total_ns count mean_ns op shapes kernel", "total_ns", "", kOptional, "", "",
     "total_ns/* count mean_ns op shapes kernel", "op shapes kernel"},
    {"ops", "profile_op", "Ops by name",
     "rank device_total_ns device_self_ns host_total_ns host_self_ns count works roof_share name",
     "device_total_ns", "", Presence::kNeeded, "", "",
     "device_total_ns device_self_ns host_total_ns host_self_ns count works name", "name"},
    {"ops", "profile_op_shape", "Ops by name and shapes",
     "rank device_total_ns host_self_ns count roof_share name shapes", "device_total_ns", "",
     kOptional, "", "", "device_total_ns host_self_ns count name shapes", "name shapes"},
    {"ops", "profile_module", "Modules",
     "rank device_total_ns device_self_ns host_total_ns host_self_ns count works name",
     "device_total_ns", "", kOptional, "", "",
     "device_total_ns device_self_ns host_total_ns host_self_ns count works name", "name"},
    {"launches", "profile_launch_stats", "Launches of work",
     "rank launches short_works slow_calls slow_starts mean_delay_ns median_delay_ns "
     "max_delay_ns unlinked"},
    {"launches", "profile_queue", "Work that waits on each stream",
     "rank device stream launches max_depth mean_depth full_ns", "max_depth"},
    {"comms", "profile_bandwidth", "Collectives by group, op and size",
     "group_desc group_name op bytes group_size count median_ns min_ns max_ns skew_ns algbw busbw "
     "link_share transport basis",
     "bytes"},
    {"comms", "profile_arrival", "Who waits for whom",
     "group_desc group_name rank wait_sum_ns wait_mean_ns times_last times_first collectives",
     "times_last", "", kOptional},
    {"comms", "profile_collective_match", "Collectives with the largest arrival skew",
     "group_desc op bytes position start_skew_ns end_skew_ns transfer_ns first_rank last_rank",
     "start_skew_ns", "", kOptional},
    {"steps", "profile_step", "Each step",
     "rank step duration_ns host_ns compute_ns/duration_ns "
     "exposed_communication_ns/duration_ns exposed_memory_ns/duration_ns idle_ns/duration_ns "
     "works whole"},
    {"steps", "profile_step_stats", "Over all whole steps",
     "rank figure steps min median mean max stddev", "", "", kOptional, "", "profile_step"},
    {"ranks", "profile_rank", "Ranks side by side",
     "rank step_ns compute_ns communication_ns idle_ns host_own_ns data_loading_ns times_last "
     "own_delay_ns caused_wait_ns straggler reason",
     "straggler own_delay_ns"},
    {"ranks", "timeline_clock", "Their clocks",
     "rank state offset_ns drift_ppb matched residual_ns", "", "", kOptional},
    {"critical-path", "profile_critical_summary", "Critical path",
     "rank step state total_ns cpu_ns/total_ns data_loading_ns/total_ns "
     "gpu_compute_ns/total_ns gpu_communication_ns/total_ns gpu_memcpy_ns/total_ns "
     "kernel_launch_delay_ns/total_ns kernel_kernel_delay_ns/total_ns reason"},
    {"critical-path", "profile_critical_path", "Its segments",
     "rank segment duration_ns bound edge name", "duration_ns", "", kOptional},
    {"critical-path", "job_path_step", "Across ranks: what each step was spent on",
     "step total_ns kernel_ns/total_ns copy_ns/total_ns communication_ns/total_ns "
     "launch_ns/total_ns host_ns/total_ns data_ns/total_ns compile_ns/total_ns "
     "unknown_ns/total_ns wait_ns/total_ns wait_rank",
     "", "", kOptional},
    {"critical-path", "job_path_cause", "Across ranks: what makes the steps long",
     "cause wait_rank reason duration_ns share segments", "duration_ns", "scope=job", kOptional},
    {"critical-path", "job_path_name", "Across ranks: what stands on the path",
     "cause duration_ns share segments path_ranks name", "duration_ns", "", kOptional},
    {"critical-path", "job_path", "Across ranks: the longest segments",
     "step segment rank duration_ns cause waiting edge name", "duration_ns", "", kOptional},
    {"roofline", "profile_mfu", "How much of the device's computing the steps use",
     "rank device_name window_ns model_flops mfu hfu busy_share matrix_share matrix_efficiency", "",
     "", kOptional},
    {"roofline", "profile_mfu_step", "The same, step by step",
     "rank step duration_ns model_flops mfu hfu", "", "", kOptional},
    {"roofline", "profile_roofline_sum", "What good code would save, at 80 % of the roof",
     "rank save_ns save_share busy_ns modelled_share efficiency bound tflops gbps count kernels",
     "", "scope=all"},
    {"roofline", "profile_roofline_sum", "The same by op",
     "rank save_ns save_share busy_ns share modelled_share efficiency bound tflops gbps count name",
     "save_ns busy_ns", "scope=op", kOptional, "", "", "save_ns/* busy_ns/* count kernels name",
     "name"},
    {"roofline", "profile_roofline_sum", "The same by module",
     "rank save_ns save_share busy_ns share modelled_share efficiency bound tflops gbps count name",
     "save_ns busy_ns", "scope=module", kOptional, "", "", "save_ns/* busy_ns/* count kernels name",
     "name"},
    {"roofline", "profile_roofline", "Ops and what they could save",
     "rank save_ns busy_ns share count flops bytes tflops gbps efficiency bound precision starved "
     "direction op shapes",
     "save_ns busy_ns"},
    {"what-if", "what_if_job", "The job, replayed",
     "source workers replicas stages steps steps_left_out unmatched recorded_ns replayed_ns "
     "typical_ns "
     "slowdown wasted_share gap replay_error correlation spread cause why_not"},
    {"what-if", "what_if_cause", "What makes its steps long",
     "cause removed_share added_share cause_ranks", "removed_share", "", kOptional},
    {"what-if", "what_if_change", "What each change would gain",
     "kind name slowdown step_ns gain_ns gain_share", "gain_ns slowdown", "", kOptional},
    {"what-if", "what_if_step", "Each step", "step recorded_ns replayed_ns slowdown", "slowdown",
     "", kOptional},
    {"devices", "accel_category", "Device time by kind of work",
     "rank device category time_ns share_pct calls names", "time_ns"},
    {"devices", "accel_iteration", "Iterations, by the repetition of kernels",
     "rank device iterations period mean_ns stddev_ns min_ns median_ns max_ns why_not"},
    {"devices", "accel_host_call", "Functions of the runtime on the host",
     "rank total_ns share_pct self_ns calls mean_ns max_ns name", "total_ns", "", kOptional},
    {"devices", "accel_utilisation", "What kernels take and what their compiler promised",
     "rank device time_ns ideal_ns utilisation_pct calls phase category kernel why_not", "time_ns",
     "", kOptional},
    {"devices", "accel_balance", "Devices side by side",
     "rank device span_ns compute_ns/span_ns communication_ns/span_ns idle_ns/span_ns "
     "excess_pct",
     "", "", kOptional},
    {"devices", "accel_collective", "What collectives cost",
     "op group_name bytes count ranks total_ns mean_ns max_ns share_pct", "total_ns", "",
     kOptional},
    {"devices", "accel_clock", "Clocks, by cause and effect",
     "rank device launches early waits late lower_ns upper_ns state"},
    {"devices", "accel_rate", "Cycle counters", "rank device mhz told_by events residual_ns", "",
     "", kOptional},
    {"devices", "accel_cycles", "Events whose two times disagree",
     "rank device events stretched shifted misaligned gapped", "", "", kOptional},
    {"memory", "profile_memory_peak", "Peak of allocated memory",
     "rank device_type device peak_allocated_bytes reserved_at_peak_bytes peak_reserved_bytes "
     "reserved_capacity_pct module op",
     "", "", kOptional},
    {"memory", "memory_fit", "What would fit",
     "rank device source peak_bytes fixed_bytes batch_bytes other_bytes unused_bytes "
     "checkpoint_bytes half_batch_bytes capacity_bytes batch_factor",
     "", "", kOptional},
    {"memory", "profile_memory_category", "What the peak was for",
     "rank device category bytes share allocations", "", "", kOptional},
    {"memory", "profile_memory_holder", "What was alive at the peak",
     "rank device bytes share_pct allocations source module op", "bytes", "", kOptional},
    {"memory", "profile_memory_op", "What ops allocated and freed",
     "rank device allocated_bytes freed_bytes net_bytes allocations op", "allocated_bytes", "",
     kOptional},
    {"memory", "memory_use", "Allocator snapshots",
     "rank device peak_allocated_bytes peak_reserved_bytes end_allocated_bytes "
     "end_reserved_bytes ooms retries",
     "", "", kOptional},
    {"memory", "memory_holder", "What held the memory",
     "rank device moment bytes share count frame", "", "", kOptional},
    {"memory", "memory_rank", "Ranks side by side",
     "rank in_use_bytes others_bytes excess_bytes excess_share line line_bytes line_others_bytes",
     "excess_bytes", "", kOptional},
    {"memory", "memory_category", "What it was for",
     "rank device moment category bytes share count", "", "", kOptional},
    {"graph", "execution_graph", "Ops of execution traces as a graph",
     "rank ops edges sources flow_bytes chain chain_ns total_ns parallelism collectives "
     "collective_bytes cyclic"},
    {"graph", "execution_replay", "Beside profiles of the same rank",
     "rank basis ops profile_ops same renamed missing extra difference", "", "", kOptional},
    {"graph", "execution_comm", "What collectives move",
     "rank total_bytes count bytes collective group_desc group_name group_size dtype",
     "total_bytes", "", kOptional},
    {"graph", "execution_flow", "What ops take from others", "rank bytes edges producer consumer",
     "bytes", "", kOptional},
    {"startup", "serving_startup", "Where the start of a server went",
     "phase inside seconds share fastest_seconds rank processes"},
};

}  // namespace

std::span<const Sheet> AllSheets() { return kSheets; }

bool IsSubcommand(std::string_view name) {
  return std::any_of(std::begin(kSheets), std::end(kSheets),
                     [&](const Sheet& sheet) { return sheet.subcommand == name; });
}

std::vector<Sheet> SheetsOf(std::string_view subcommand, const SheetOptions& options) {
  std::vector<Sheet> sheets;
  for (const Sheet& sheet : kSheets) {
    const bool is_defined =
        sheet.only_definition.empty() || sheet.only_definition == options.definition;
    if (sheet.subcommand == subcommand && is_defined) sheets.push_back(sheet);
  }
  return sheets;
}

std::vector<SheetColumn> ColumnsOf(const Sheet& sheet) {
  std::vector<SheetColumn> columns;
  for (std::string_view rest = sheet.columns; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    const size_t slash = std::min(word.find('/'), word.size());
    columns.push_back({word.substr(0, slash), word.substr(std::min(slash + 1, word.size()))});
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return columns;
}

std::vector<std::string_view> TablesOf(std::string_view subcommand) {
  std::vector<std::string_view> tables;
  for (const Sheet& sheet : kSheets) {
    if (sheet.subcommand == subcommand) tables.push_back(sheet.table);
  }
  return tables;
}

}  // namespace debrief::outputs::profile_sheets
