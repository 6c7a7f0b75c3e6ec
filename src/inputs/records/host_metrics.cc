#include "inputs/records/host_metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "base/text/strings.h"
#include "tables/host_sample.h"
#include "torch/gpu_faults.h"

namespace debrief::inputs {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kPercent = 100;  // of a share of 1
constexpr double kMilli = 1e-3;

struct KnownMetric {
  std::string_view source;
  HostMetric metric;
};

constexpr KnownMetric kKnownMetrics[] = {
    // DCGM, as its exporter names the fields
    {"DCGM_FI_DEV_SM_CLOCK", {"sm_clock"}},
    {"DCGM_FI_DEV_MEM_CLOCK", {"memory_clock"}},
    {"DCGM_FI_DEV_GPU_TEMP", {"temperature"}},
    {"DCGM_FI_DEV_MEMORY_TEMP", {"memory_temperature"}},
    {"DCGM_FI_DEV_POWER_USAGE", {"power"}},
    {"DCGM_FI_DEV_GPU_UTIL", {"utilization"}},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", {"engine_active", kPercent}},
    {"DCGM_FI_PROF_SM_ACTIVE", {"sm_active", kPercent}},
    {"DCGM_FI_DEV_FB_USED", {"memory_used", kMiB}},
    {"DCGM_FI_DEV_FB_FREE", {"memory_free", kMiB}},
    {"DCGM_FI_DEV_FB_TOTAL", {"memory_total", kMiB}},
    {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", {"throttle_reasons"}},
    {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", {"throttle_reasons"}},
    {"DCGM_FI_DEV_THERMAL_VIOLATION", {"thermal_violation"}},
    {"DCGM_FI_DEV_POWER_VIOLATION", {"power_violation"}},
    {"DCGM_FI_DEV_XID_ERRORS", {"xid"}},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", {"ecc_uncorrected"}},
    {"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", {"ecc_uncorrected_ever"}},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", {"ecc_corrected"}},
    {"DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", {"ecc_corrected_ever"}},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", {"remap_failures"}},
    {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", {"pcie_replays"}},
    {"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", {"nvlink_errors"}},
    {"DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", {"nvlink_data_errors"}},
    {"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", {"nvlink_replays"}},
    {"DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", {"nvlink_recoveries"}},
    // nvidia_gpu_exporter
    {"nvidia_smi_clocks_current_sm_clock_hz", {"sm_clock", 1e-6}},
    {"nvidia_smi_clocks_sm_clock_hz", {"sm_clock", 1e-6}},
    {"nvidia_smi_temperature_gpu", {"temperature"}},
    {"nvidia_smi_power_draw_watts", {"power"}},
    {"nvidia_smi_utilization_gpu_ratio", {"utilization", kPercent}},
    {"nvidia_smi_memory_used_bytes", {"memory_used"}},
    {"nvidia_smi_memory_total_bytes", {"memory_total"}},
    {"nvidia_smi_clocks_throttle_reasons_active", {"throttle_reasons"}},
    {"nvidia_smi_clocks_event_reasons_active", {"throttle_reasons"}},
    // nvidia_gpu_prometheus_exporter
    {"nvidia_gpu_temperature_celsius", {"temperature"}},
    {"nvidia_gpu_duty_cycle", {"utilization"}},
    {"nvidia_gpu_power_usage_milliwatts", {"power", kMilli}},
    {"nvidia_gpu_memory_used_bytes", {"memory_used"}},
    {"nvidia_gpu_memory_total_bytes", {"memory_total"}},
    // AMD's device-metrics-exporter
    {"gpu_clock", {"sm_clock"}},
    {"amd_gpu_clock", {"sm_clock"}},
    {"gpu_junction_temperature", {"temperature"}},
    {"gpu_memory_temperature", {"memory_temperature"}},
    {"gpu_package_power", {"power"}},
    {"gpu_gfx_activity", {"utilization"}},
    {"gpu_used_vram", {"memory_used", kMiB}},
    {"gpu_free_vram", {"memory_free", kMiB}},
    {"gpu_total_vram", {"memory_total", kMiB}},
    {"gpu_ecc_uncorrect_total", {"ecc_uncorrected"}},
    // nvidia-smi --query-gpu
    {"clocks.current.sm", {"sm_clock"}},
    {"clocks.sm", {"sm_clock"}},
    {"clocks.current.memory", {"memory_clock"}},
    {"clocks.mem", {"memory_clock"}},
    {"clocks.max.sm", {"sm_clock_limit"}},
    {"temperature.gpu", {"temperature"}},
    {"temperature.memory", {"memory_temperature"}},
    {"power.draw", {"power"}},
    {"power.draw.instant", {"power"}},
    {"power.draw.average", {"power_average"}},
    {"power.limit", {"power_limit"}},
    {"enforced.power.limit", {"power_limit"}},
    {"utilization.gpu", {"utilization"}},
    {"utilization.memory", {"memory_utilization"}},
    {"memory.used", {"memory_used", kMiB}},
    {"memory.free", {"memory_free", kMiB}},
    {"memory.total", {"memory_total", kMiB}},
    {"clocks_throttle_reasons.active", {"throttle_reasons"}},
    {"clocks_event_reasons.active", {"throttle_reasons"}},
    {"ecc.errors.uncorrected.volatile.total", {"ecc_uncorrected"}},
    {"ecc.errors.uncorrected.aggregate.total", {"ecc_uncorrected_ever"}},
    {"ecc.errors.corrected.volatile.total", {"ecc_corrected"}},
    {"ecc.errors.corrected.aggregate.total", {"ecc_corrected_ever"}},
    {"fan.speed", {"fan"}},
    // nvidia-smi dmon
    {"pclk", {"sm_clock"}},
    {"mclk", {"memory_clock"}},
    {"gtemp", {"temperature"}},
    {"mtemp", {"memory_temperature"}},
    {"pwr", {"power"}},
    {"sm", {"utilization"}},
    {"mem", {"memory_utilization"}},
    {"fb", {"memory_used", kMiB}},
    {"tviol", {"thermal_violation_now"}},
    {"pviol", {"power_violation_now"}},
    {"sbecc", {"ecc_corrected"}},
    {"dbecc", {"ecc_uncorrected"}},
    {"pci", {"pcie_replays"}},
    // dcgmi dmon
    {"SMCLK", {"sm_clock"}},
    {"MMCLK", {"memory_clock"}},
    {"TMPTR", {"temperature"}},
    {"MMTMP", {"memory_temperature"}},
    {"POWER", {"power"}},
    {"GPUTL", {"utilization"}},
    {"MCUTL", {"memory_utilization"}},
    {"FBUSD", {"memory_used", kMiB}},
    {"FBFRE", {"memory_free", kMiB}},
    {"XIDER", {"xid"}},
    // node_exporter
    {"node_load1", {"load"}},
    {"node_memory_MemAvailable_bytes", {"host_memory_free"}},
    {"node_memory_MemTotal_bytes", {"host_memory_total"}},
    {"node_filesystem_avail_bytes", {"disk_free"}},
    {"node_filesystem_size_bytes", {"disk_total"}},
    {"node_vmstat_oom_kill", {"oom_kills"}}};

}  // namespace

HostMetric HostMetricOf(std::string_view source) {
  const auto* known = std::find_if(std::begin(kKnownMetrics), std::end(kKnownMetrics),
                                   [&](const KnownMetric& each) { return each.source == source; });
  return known == std::end(kKnownMetrics) ? HostMetric{} : known->metric;
}

std::string_view HostMetricInName(std::string_view file_name) {
  constexpr size_t kShortest = 8;  // shorter names are words
  for (const KnownMetric& known : kKnownMetrics) {
    if (known.source.size() >= kShortest && Contains(file_name, known.source)) return known.source;
  }
  return {};
}

HostSeries::HostSeries(const Identity& who, const Subject& subject, std::string_view source,
                       Part& part)
    : who_(who), gpu_(subject.gpu), part_(part) {
  who_.rank = kNone32;  // which rank a GPU is, others tell
  const HostMetric metric = HostMetricOf(source);
  scale_ = metric.scale;
  metric_ = part.pools.Intern(metric.name.empty() ? source : metric.name);
  host_ = part.pools.InternOrNone(subject.host);
  uuid_ = part.pools.InternOrNone(subject.uuid);
  const std::string bus = BusIdOf(subject.bus_id);
  bus_id_ = part.pools.InternOrNone(bus);
}

void HostSeries::Add(int64_t time_ns, double value) {
  if (!std::isfinite(value)) return;
  auto row = Part::RowOf<HostSampleRow>(who_);
  row.time_ns = time_ns;
  row.host = host_;
  row.gpu = gpu_;
  row.uuid = uuid_;
  row.bus_id = bus_id_;
  row.metric = metric_;
  row.value = value * scale_;
  part_.tables.Edit<HostSampleTable>().Add(row);
}

}  // namespace debrief::inputs
