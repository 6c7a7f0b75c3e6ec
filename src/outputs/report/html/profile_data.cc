// Island "profile": the derived tables of profiles and memory snapshots, and what their columns
// mean. Where there are several definitions of a figure the page shows debrief's own; the others
// are for comparing with older numbers, and `debrief profile --definition` has them.
#include "outputs/report/html/profile_data.h"

#include "outputs/report/html/table_shares.h"

namespace debrief::outputs::html {

namespace {

constexpr std::string_view kOwn = "debrief";

// All of them together make at most 23 MB, packed a tenth of that. Of each table the rows that
// matter come first: a whole timeline before its steps, long before short.
constexpr Share kProfileShares[] = {
    {"profile_breakdown", 6000, 3'000'000, "total_ns", kOwn},
    {"profile_step", 6000, 2'000'000},
    {"profile_overlap", 3000, 800'000, "communication_ns", kOwn},
    {"profile_rank", 2000, 1'000'000},
    {"profile_kernel", 8000, 3'000'000, "total_ns", kOwn},
    {"profile_kernel_op", 8000, 2'500'000, "total_ns"},
    {"profile_op", 6000, 1'500'000, "device_total_ns"},
    {"profile_op_shape", 6000, 2'000'000, "device_total_ns"},
    {"profile_module", 4000, 1'000'000, "host_total_ns"},
    {"profile_idle", 3000, 600'000, "idle_ns", kOwn},
    {"profile_gap", 3000, 1'000'000, "duration_ns"},
    {"profile_critical_summary", 3000, 1'500'000, "total_ns", kOwn},
    {"profile_memory_peak", 1000, 400'000, "peak_allocated_bytes"},
    {"profile_memory_curve", 16'000, 4'000'000},
    {"profile_memory_holder", 2000, 500'000, "bytes"},
    {"profile_memory_op", 2000, 500'000, "allocated_bytes"},
    {"memory_use", 500, 300'000, "peak_allocated_bytes"},
    {"memory_timeline", 10'000, 2'500'000},
    {"memory_holder", 1500, 2'000'000, "bytes"},
};

}  // namespace

std::string ProfileJson(const Model& model) {
  return TablesJson(model, kProfileShares, Meanings::kTold);
}

Status AddProfile(const Model& model, Islands& islands) {
  const std::string json = ProfileJson(model);
  return json.empty() ? Status() : islands.Add("profile", json);
}

}  // namespace debrief::outputs::html
