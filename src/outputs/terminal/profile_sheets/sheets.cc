// Which tables each subcommand shows, and which of their columns.
#include <algorithm>

#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr SheetColumn kBreakdown[] = {"rank",
                                      "device",
                                      "total_ns",
                                      {"compute_ns", "total_ns"},
                                      {"exposed_communication_ns", "total_ns"},
                                      {"exposed_memcpy_ns", "total_ns"},
                                      {"other_ns", "total_ns"},
                                      {"idle_ns", "total_ns"},
                                      "kernels",
                                      "note"};
constexpr SheetColumn kStepBreakdown[] = {"rank",
                                          "step",
                                          "total_ns",
                                          {"compute_ns", "total_ns"},
                                          {"exposed_communication_ns", "total_ns"},
                                          {"exposed_memcpy_ns", "total_ns"},
                                          {"idle_ns", "total_ns"}};
constexpr SheetColumn kStreamBreakdown[] = {
    "rank",       "device",           "stream",    "total_ns", {"busy_ns", "total_ns"},
    "compute_ns", "communication_ns", "memcpy_ns", "kernels"};
constexpr SheetColumn kStepCategory[] = {"rank", "step", "category", "time_ns", "share_pct"};
constexpr SheetColumn kOverlap[] = {"rank",           "device",     "communication_ns",
                                    "computation_ns", "overlap_ns", "overlap_pct"};
constexpr SheetColumn kStepOverlap[] = {"rank",           "step",       "communication_ns",
                                        "computation_ns", "overlap_ns", "overlap_pct"};
constexpr SheetColumn kKernelTypes[] = {"rank", "time_ns", "share_pct", "kernel_type"};
constexpr SheetColumn kIdle[] = {"rank",    "device", "stream", "category",   "detail",
                                 "idle_ns", "ratio",  "gaps",   "longest_ns", "busiest_host"};
constexpr SheetColumn kGaps[] = {"rank", "place", "duration_ns", "cause", "host", "op", "work"};
constexpr SheetColumn kKernels[] = {"rank",      "total_ns",     "share_pct", "count",
                                    "mean_ns",   "median_ns",    "min_ns",    "max_ns",
                                    "stddev_ns", "device_class", "name"};
constexpr SheetColumn kKernelOps[] = {"rank", "total_ns", "count", "mean_ns",
                                      "op",   "shapes",   "kernel"};
constexpr SheetColumn kOps[] = {
    "rank",         "device_total_ns", "device_self_ns", "host_total_ns",
    "host_self_ns", "count",           "works",          "name"};
constexpr SheetColumn kOpShapes[] = {"rank", "device_total_ns", "host_self_ns", "count",
                                     "name", "shapes"};
constexpr SheetColumn kModules[] = {
    "rank",         "device_total_ns", "device_self_ns", "host_total_ns",
    "host_self_ns", "count",           "works",          "name"};
constexpr SheetColumn kLaunches[] = {
    "rank",          "launches",        "short_works",  "slow_calls", "slow_starts",
    "mean_delay_ns", "median_delay_ns", "max_delay_ns", "unlinked"};
constexpr SheetColumn kQueue[] = {"rank",      "device",     "stream", "launches",
                                  "max_depth", "mean_depth", "full_ns"};
constexpr SheetColumn kBandwidth[] = {"group_desc", "group_name", "op",        "bytes",
                                      "group_size", "count",      "median_ns", "min_ns",
                                      "max_ns",     "algbw",      "busbw",     "basis"};
constexpr SheetColumn kArrival[] = {"group_desc",   "group_name", "rank",        "wait_sum_ns",
                                    "wait_mean_ns", "times_last", "times_first", "collectives"};
constexpr SheetColumn kMatches[] = {"group_desc",    "op",          "bytes",       "position",
                                    "start_skew_ns", "end_skew_ns", "transfer_ns", "first_rank",
                                    "last_rank"};
constexpr SheetColumn kSteps[] = {"rank",
                                  "step",
                                  "label",
                                  "duration_ns",
                                  "host_ns",
                                  {"compute_ns", "duration_ns"},
                                  {"exposed_communication_ns", "duration_ns"},
                                  {"exposed_memory_ns", "duration_ns"},
                                  {"idle_ns", "duration_ns"},
                                  "works",
                                  "whole"};
constexpr SheetColumn kStepSummary[] = {"rank",   "figure", "steps", "min",
                                        "median", "mean",   "max",   "stddev"};
constexpr SheetColumn kRanks[] = {
    "rank",         "step_ns",        "compute_ns",      "communication_ns",
    "idle_ns",      "host_own_ns",    "data_loading_ns", "times_last",
    "own_delay_ns", "caused_wait_ns", "straggler",       "reason"};
constexpr SheetColumn kClocks[] = {"rank",      "state",   "offset_ns",
                                   "drift_ppb", "matched", "residual_ns"};
constexpr SheetColumn kCriticalSummary[] = {"rank",
                                            "step",
                                            "state",
                                            "total_ns",
                                            {"cpu_ns", "total_ns"},
                                            {"data_loading_ns", "total_ns"},
                                            {"gpu_compute_ns", "total_ns"},
                                            {"gpu_communication_ns", "total_ns"},
                                            {"gpu_memcpy_ns", "total_ns"},
                                            {"kernel_launch_delay_ns", "total_ns"},
                                            {"kernel_kernel_delay_ns", "total_ns"},
                                            "reason"};
constexpr SheetColumn kMemoryPeak[] = {"rank",
                                       "device_type",
                                       "device",
                                       "peak_allocated_bytes",
                                       "reserved_at_peak_bytes",
                                       "peak_reserved_bytes",
                                       "reserved_capacity_pct",
                                       "module",
                                       "op"};
constexpr SheetColumn kMemoryAlive[] = {"rank",        "device", "bytes",  "share_pct",
                                        "allocations", "source", "module", "op"};
constexpr SheetColumn kMemoryOps[] = {
    "rank", "device", "allocated_bytes", "freed_bytes", "net_bytes", "allocations", "op"};
constexpr SheetColumn kPathSegments[] = {"rank", "segment", "duration_ns", "bound", "edge", "name"};
constexpr SheetColumn kMemoryUse[] = {"rank",
                                      "device",
                                      "peak_allocated_bytes",
                                      "peak_reserved_bytes",
                                      "end_allocated_bytes",
                                      "end_reserved_bytes",
                                      "ooms",
                                      "retries"};
constexpr SheetColumn kMemoryHolder[] = {"rank",  "device", "moment", "bytes",
                                         "share", "count",  "frame"};

constexpr SheetColumn kCategories[] = {"rank",      "device", "category", "time_ns",
                                       "share_pct", "calls",  "names"};
constexpr SheetColumn kIterations[] = {"rank",      "device", "iterations", "period", "mean_ns",
                                       "stddev_ns", "min_ns", "median_ns",  "max_ns", "why_not"};
constexpr SheetColumn kHostCalls[] = {"rank",  "total_ns", "share_pct", "self_ns",
                                      "calls", "mean_ns",  "max_ns",    "name"};
constexpr SheetColumn kUtilisation[] = {
    "rank",  "device", "time_ns",  "ideal_ns", "utilisation_pct",
    "calls", "phase",  "category", "kernel",   "why_not"};
constexpr SheetColumn kBalance[] = {"rank",
                                    "device",
                                    "span_ns",
                                    {"compute_ns", "span_ns"},
                                    {"communication_ns", "span_ns"},
                                    {"idle_ns", "span_ns"},
                                    "excess_pct"};
constexpr SheetColumn kCollectiveCosts[] = {"op",       "group_name", "bytes",  "count",    "ranks",
                                            "total_ns", "mean_ns",    "max_ns", "share_pct"};
constexpr SheetColumn kDeviceClocks[] = {"rank", "device",   "launches", "early", "waits",
                                         "late", "lower_ns", "upper_ns", "state"};
constexpr SheetColumn kCycleChecks[] = {"rank",    "device",     "events", "stretched",
                                        "shifted", "misaligned", "gapped"};
constexpr SheetColumn kRates[] = {"rank", "device", "mhz", "told_by", "events", "residual_ns"};
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
    {"steps", "profile_step_stats", "Over all whole steps", kStepSummary, "", "", "", true, "",
     "profile_step"},
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
