// Which tables each subcommand shows, and which of their columns in which words.
#include <algorithm>

#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr SheetColumn kBreakdown[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"total_ns", "span"},
    {"compute_ns", "compute", "total_ns"},
    {"exposed_communication_ns", "exposed comm.", "total_ns"},
    {"exposed_memcpy_ns", "exposed copies", "total_ns"},
    {"other_ns", "other", "total_ns"},
    {"idle_ns", "idle", "total_ns"},
    {"kernels", "work"},
    {"note", "note"},
};
constexpr SheetColumn kStepBreakdown[] = {
    {"rank", "rank"},
    {"step", "step"},
    {"total_ns", "span"},
    {"compute_ns", "compute", "total_ns"},
    {"exposed_communication_ns", "exposed comm.", "total_ns"},
    {"exposed_memcpy_ns", "exposed copies", "total_ns"},
    {"idle_ns", "idle", "total_ns"},
};
constexpr SheetColumn kStreamBreakdown[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"stream", "stream"},
    {"total_ns", "span"},
    {"busy_ns", "busy", "total_ns"},
    {"compute_ns", "compute"},
    {"communication_ns", "communication"},
    {"memcpy_ns", "copies"},
    {"kernels", "work"},
};
constexpr SheetColumn kStepCategory[] = {
    {"rank", "rank"},    {"step", "step"},       {"category", "category"},
    {"time_ns", "time"}, {"share_pct", "share"},
};
constexpr SheetColumn kOverlap[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"communication_ns", "communication"},
    {"computation_ns", "computation"},
    {"overlap_ns", "both at once"},
    {"overlap_pct", "hidden"},
};
constexpr SheetColumn kStepOverlap[] = {
    {"rank", "rank"},
    {"step", "step"},
    {"communication_ns", "communication"},
    {"computation_ns", "computation"},
    {"overlap_ns", "both at once"},
    {"overlap_pct", "hidden"},
};
constexpr SheetColumn kKernelTypes[] = {
    {"rank", "rank"},
    {"time_ns", "time"},
    {"share_pct", "share"},
    {"kernel_type", "what runs"},
};
constexpr SheetColumn kIdle[] = {
    {"rank", "rank"},           {"device", "device"},     {"stream", "stream"},
    {"category", "cause"},      {"detail", "host is in"}, {"idle_ns", "idle"},
    {"ratio", "ratio"},         {"gaps", "gaps"},         {"longest_ns", "longest"},
    {"busiest_host", "mostly"},
};
constexpr SheetColumn kGaps[] = {
    {"rank", "rank"},       {"place", "#"},    {"duration_ns", "gap"}, {"cause", "cause"},
    {"host", "host is in"}, {"op", "then op"}, {"work", "then work"},
};
constexpr SheetColumn kKernels[] = {
    {"rank", "rank"},         {"total_ns", "total"},     {"share_pct", "share"}, {"count", "count"},
    {"mean_ns", "mean"},      {"median_ns", "median"},   {"min_ns", "min"},      {"max_ns", "max"},
    {"stddev_ns", "std dev"}, {"device_class", "class"}, {"name", "kernel"},
};
constexpr SheetColumn kKernelOps[] = {
    {"rank", "rank"}, {"total_ns", "total"}, {"count", "count"},   {"mean_ns", "mean"},
    {"op", "op"},     {"shapes", "shapes"},  {"kernel", "kernel"},
};
constexpr SheetColumn kOps[] = {
    {"rank", "rank"},
    {"device_total_ns", "device"},
    {"device_self_ns", "device self"},
    {"host_total_ns", "host"},
    {"host_self_ns", "host self"},
    {"count", "count"},
    {"works", "work"},
    {"name", "op"},
};
constexpr SheetColumn kOpShapes[] = {
    {"rank", "rank"},
    {"device_total_ns", "device"},
    {"host_self_ns", "host self"},
    {"count", "count"},
    {"name", "op"},
    {"shapes", "shapes"},
};
constexpr SheetColumn kModules[] = {
    {"rank", "rank"},
    {"device_total_ns", "device"},
    {"device_self_ns", "device self"},
    {"host_total_ns", "host"},
    {"host_self_ns", "host self"},
    {"count", "calls"},
    {"works", "work"},
    {"name", "module"},
};
constexpr SheetColumn kLaunches[] = {
    {"rank", "rank"},
    {"launches", "launches"},
    {"short_works", "short work"},
    {"slow_calls", "slow calls"},
    {"slow_starts", "slow starts"},
    {"mean_delay_ns", "mean delay"},
    {"median_delay_ns", "median delay"},
    {"max_delay_ns", "max delay"},
    {"unlinked", "not shown"},
};
constexpr SheetColumn kQueue[] = {
    {"rank", "rank"},         {"device", "device"},     {"stream", "stream"},
    {"launches", "launches"}, {"max_depth", "deepest"}, {"mean_depth", "mean"},
    {"full_ns", "full"},
};
constexpr SheetColumn kBandwidth[] = {
    {"group_desc", "group"}, {"group_name", "name"},  {"op", "op"},
    {"bytes", "bytes"},      {"group_size", "ranks"}, {"count", "count"},
    {"median_ns", "median"}, {"min_ns", "min"},       {"max_ns", "max"},
    {"algbw", "algbw"},      {"busbw", "busbw"},      {"basis", "basis"},
};
constexpr SheetColumn kArrival[] = {
    {"group_desc", "group"},  {"group_name", "name"},   {"rank", "rank"},
    {"wait_sum_ns", "waits"}, {"wait_mean_ns", "mean"}, {"times_last", "last"},
    {"times_first", "first"}, {"collectives", "of"},
};
constexpr SheetColumn kMatches[] = {
    {"group_desc", "group"},
    {"op", "op"},
    {"bytes", "bytes"},
    {"position", "number"},
    {"start_skew_ns", "arrival skew"},
    {"end_skew_ns", "end skew"},
    {"transfer_ns", "transfer"},
    {"first_rank", "first"},
    {"last_rank", "last"},
};
constexpr SheetColumn kSteps[] = {
    {"rank", "rank"},
    {"step", "step"},
    {"label", "label"},
    {"duration_ns", "step time"},
    {"host_ns", "host"},
    {"compute_ns", "compute", "duration_ns"},
    {"exposed_communication_ns", "exposed comm.", "duration_ns"},
    {"exposed_memory_ns", "exposed copies", "duration_ns"},
    {"idle_ns", "idle", "duration_ns"},
    {"works", "work"},
    {"whole", "whole"},
};
constexpr SheetColumn kStepSummary[] = {
    {"rank", "rank"},     {"figure", "figure"}, {"steps", "steps"}, {"min", "min"},
    {"median", "median"}, {"mean", "mean"},     {"max", "max"},     {"stddev", "std dev"},
};
constexpr SheetColumn kRanks[] = {
    {"rank", "rank"},
    {"step_ns", "step"},
    {"compute_ns", "compute"},
    {"communication_ns", "communication"},
    {"idle_ns", "idle"},
    {"host_own_ns", "host"},
    {"data_loading_ns", "data"},
    {"times_last", "last"},
    {"own_delay_ns", "own delay"},
    {"caused_wait_ns", "others wait"},
    {"straggler", "straggler"},
    {"reason", "because of"},
};
constexpr SheetColumn kClocks[] = {
    {"rank", "rank"},           {"state", "state"},     {"offset_ns", "offset"},
    {"drift_ppb", "drift ppb"}, {"matched", "matched"}, {"residual_ns", "residual"},
};
constexpr SheetColumn kCriticalSummary[] = {
    {"rank", "rank"},
    {"step", "step"},
    {"state", "state"},
    {"total_ns", "path"},
    {"cpu_ns", "host", "total_ns"},
    {"data_loading_ns", "data", "total_ns"},
    {"gpu_compute_ns", "compute", "total_ns"},
    {"gpu_communication_ns", "communication", "total_ns"},
    {"gpu_memcpy_ns", "copies", "total_ns"},
    {"kernel_launch_delay_ns", "launch delay", "total_ns"},
    {"kernel_kernel_delay_ns", "between work", "total_ns"},
    {"reason", "reason"},
};
constexpr SheetColumn kMemoryPeak[] = {
    {"rank", "rank"},
    {"device_type", "type"},
    {"device", "device"},
    {"peak_allocated_bytes", "peak allocated"},
    {"reserved_at_peak_bytes", "reserved then"},
    {"peak_reserved_bytes", "peak reserved"},
    {"reserved_capacity_pct", "of device"},
    {"module", "module"},
    {"op", "op"},
};
constexpr SheetColumn kMemoryAlive[] = {
    {"rank", "rank"},         {"device", "device"}, {"bytes", "bytes"},   {"share_pct", "share"},
    {"allocations", "count"}, {"source", "source"}, {"module", "module"}, {"op", "op"},
};
constexpr SheetColumn kMemoryOps[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"allocated_bytes", "allocated"},
    {"freed_bytes", "freed"},
    {"net_bytes", "net"},
    {"allocations", "allocations"},
    {"op", "op"},
};
constexpr SheetColumn kPathSegments[] = {
    {"rank", "rank"},      {"segment", "#"},       {"duration_ns", "time"},
    {"bound", "bound by"}, {"edge", "waited for"}, {"name", "what"},
};
constexpr SheetColumn kMemoryUse[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"peak_allocated_bytes", "peak in use"},
    {"peak_reserved_bytes", "reserved then"},
    {"end_allocated_bytes", "in use at end"},
    {"end_reserved_bytes", "reserved at end"},
    {"ooms", "ooms"},
    {"retries", "retries"},
};
constexpr SheetColumn kMemoryHolder[] = {
    {"rank", "rank"},   {"device", "device"}, {"moment", "moment"},      {"bytes", "bytes"},
    {"share", "share"}, {"count", "count"},   {"frame", "allocated at"},
};

constexpr SheetColumn kCategories[] = {
    {"rank", "rank"},       {"device", "device"}, {"category", "category"}, {"time_ns", "time"},
    {"share_pct", "share"}, {"calls", "calls"},   {"names", "names"},
};
constexpr SheetColumn kIterations[] = {
    {"rank", "rank"},       {"device", "device"},    {"iterations", "iterations"},
    {"period", "kernels"},  {"mean_ns", "mean"},     {"stddev_ns", "std dev"},
    {"min_ns", "min"},      {"median_ns", "median"}, {"max_ns", "max"},
    {"why_not", "why not"},
};
constexpr SheetColumn kHostCalls[] = {
    {"rank", "rank"},   {"total_ns", "total"}, {"share_pct", "share"}, {"self_ns", "self"},
    {"calls", "calls"}, {"mean_ns", "mean"},   {"max_ns", "max"},      {"name", "function"},
};
constexpr SheetColumn kUtilisation[] = {
    {"rank", "rank"},         {"device", "device"},        {"time_ns", "time"},
    {"ideal_ns", "at best"},  {"utilisation_pct", "used"}, {"calls", "calls"},
    {"phase", "phase"},       {"category", "category"},    {"kernel", "kernel"},
    {"why_not", "not valid"},
};
constexpr SheetColumn kBalance[] = {
    {"rank", "rank"},
    {"device", "device"},
    {"span_ns", "span"},
    {"compute_ns", "compute", "span_ns"},
    {"communication_ns", "communication", "span_ns"},
    {"idle_ns", "idle", "span_ns"},
    {"excess_pct", "more than others"},
};
constexpr SheetColumn kCollectiveCosts[] = {
    {"op", "op"},        {"group_name", "group"}, {"bytes", "bytes"},
    {"count", "count"},  {"ranks", "ranks"},      {"total_ns", "total"},
    {"mean_ns", "mean"}, {"max_ns", "max"},       {"share_pct", "share"},
};
constexpr SheetColumn kDeviceClocks[] = {
    {"rank", "rank"},         {"device", "device"},    {"launches", "launches"},
    {"early", "too early"},   {"waits", "waited for"}, {"late", "too late"},
    {"lower_ns", "at least"}, {"upper_ns", "at most"}, {"state", "state"},
};
constexpr SheetColumn kCycleChecks[] = {
    {"rank", "rank"},           {"device", "device"},   {"events", "events"},
    {"stretched", "stretched"}, {"shifted", "shifted"}, {"misaligned", "misaligned"},
    {"gapped", "gapped"},
};
constexpr SheetColumn kRates[] = {
    {"rank", "rank"},       {"device", "device"}, {"mhz", "MHz"},
    {"told_by", "told by"}, {"events", "events"}, {"residual_ns", "residual"},
};
constexpr Sheet kSheets[] = {
    {"breakdown", "profile_breakdown", "Where the time of the devices went", kBreakdown, "",
     "scope", "all"},
    {"breakdown", "profile_breakdown", "The same, step by step", kStepBreakdown, "", "scope",
     "step", true},
    {"breakdown", "profile_breakdown", "The same, stream by stream", kStreamBreakdown, "", "scope",
     "stream", true},
    {"breakdown", "profile_step_category", "What each step did, by TensorBoard's categories",
     kStepCategory, "", "", "", true, "tensorboard"},
    {"overlap", "profile_overlap", "Communication hidden behind computation", kOverlap, "", "scope",
     "all"},
    {"overlap", "profile_overlap", "The same, step by step", kStepOverlap, "", "scope", "step",
     true},
    {"overlap", "profile_kernel_types", "What runs at the same time", kKernelTypes, "time_ns"},
    {"idle", "profile_idle", "Why the devices were idle", kIdle, "idle_ns"},
    {"idle", "profile_gap", "The longest gaps, and what the host did in them", kGaps, "", "", "",
     true},
    {"kernels", "profile_kernel", "Kernels, copies and fills by name", kKernels, "total_ns"},
    {"kernels", "profile_kernel_op", "The same by op and shapes", kKernelOps, "total_ns", "", "",
     true},
    {"ops", "profile_op", "Ops by name", kOps, "device_total_ns"},
    {"ops", "profile_op_shape", "Ops by name and shapes", kOpShapes, "device_total_ns", "", "",
     true},
    {"ops", "profile_module", "Modules", kModules, "device_total_ns", "", "", true},
    {"launches", "profile_launch_stats", "Launches of work", kLaunches},
    {"launches", "profile_queue", "Work that waits on each stream", kQueue, "max_depth"},
    {"comms", "profile_bandwidth", "Collectives by group, op and size", kBandwidth, "bytes"},
    {"comms", "profile_arrival", "Who waits for whom", kArrival, "", "", "", true},
    {"comms", "profile_collective_match", "Collectives with the largest arrival skew", kMatches,
     "start_skew_ns", "", "", true},
    {"steps", "profile_step", "Each step", kSteps},
    {"steps", "profile_step_stats", "Over all whole steps", kStepSummary, "", "", "", true},
    {"ranks", "profile_rank", "Ranks side by side", kRanks},
    {"ranks", "timeline_clock", "Their clocks", kClocks, "", "", "", true},
    {"critical-path", "profile_critical_summary", "Critical path", kCriticalSummary},
    {"critical-path", "profile_critical_path", "Its segments", kPathSegments, "duration_ns", "", "",
     true},
    {"devices", "accel_category", "Device time by kind of work", kCategories, "time_ns"},
    {"devices", "accel_iteration", "Iterations, by the repetition of kernels", kIterations},
    {"devices", "accel_host_call", "Functions of the runtime on the host", kHostCalls, "total_ns",
     "", "", true},
    {"devices", "accel_utilisation", "What kernels take and what their compiler promised",
     kUtilisation, "time_ns", "", "", true},
    {"devices", "accel_balance", "Devices side by side", kBalance, "", "", "", true},
    {"devices", "accel_collective", "What collectives cost", kCollectiveCosts, "total_ns", "", "",
     true},
    {"devices", "accel_clock", "Clocks, by cause and effect", kDeviceClocks},
    {"devices", "accel_rate", "Cycle counters", kRates, "", "", "", true},
    {"devices", "accel_cycles", "Events whose two times disagree", kCycleChecks, "", "", "", true},
    {"memory", "profile_memory_peak", "Peak of allocated memory", kMemoryPeak, "", "", "", true},
    {"memory", "profile_memory_holder", "What was alive at the peak", kMemoryAlive, "bytes", "", "",
     true},
    {"memory", "profile_memory_op", "What ops allocated and freed", kMemoryOps, "allocated_bytes",
     "", "", true},
    {"memory", "memory_use", "Allocator snapshots", kMemoryUse, "", "", "", true},
    {"memory", "memory_holder", "What held the memory", kMemoryHolder, "", "", "", true},
};

}  // namespace

std::span<const Sheet> AllSheets() { return kSheets; }

bool IsSubcommand(std::string_view name) {
  return std::any_of(std::begin(kSheets), std::end(kSheets),
                     [&](const Sheet& sheet) { return sheet.subcommand == name; });
}

bool IsAskedFor(const Sheet& sheet, std::string_view subcommand, const SheetOptions& options) {
  return sheet.subcommand == subcommand &&
         (sheet.only_definition.empty() || sheet.only_definition == options.definition);
}

std::vector<std::string_view> TablesOf(std::string_view subcommand) {
  std::vector<std::string_view> tables;
  for (const Sheet& sheet : kSheets) {
    if (sheet.subcommand == subcommand) tables.push_back(sheet.table);
  }
  return tables;
}

}  // namespace debrief::outputs::profile_sheets
