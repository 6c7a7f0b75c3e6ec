// Errors that a GPU counts, a GPU that falls idle before all others, heat and full memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/host/gpus/judge.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"
#include "torch/gpu_faults.h"
#include "torch/gpu_throttling.h"

namespace debrief::analyses::host_gpus {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// How much a counter grew while it was watched, and the first sample that shows it. Drivers that
// start again begin at 0.
struct Growth {
  double by = 0;
  const Value* sample = nullptr;
};

Growth GrowthOf(const Values& values) {
  Growth growth;
  for (size_t i = 1; i < values.size(); ++i) {
    const double step = values[i].value - values[i - 1].value;
    if (step <= 0) continue;
    growth.by += step;
    if (growth.sample == nullptr) growth.sample = &values[i];
  }
  return growth;
}

// A job lives on after errors that NVLink or the memory contained.
bool MayGoOn(int64_t xid) {
  return xid == 74 || xid == 94 || xid == 137 || (xid >= 144 && xid <= 155);
}

void ReportXid(const GpusOfJob& job, const Gpu& gpu, std::vector<Finding>& findings) {
  const std::optional<ReportedFault> fault = FindXid(gpu);
  const GpuFault* known = fault ? GpuFaultOf(fault->code) : nullptr;
  if (known == nullptr) return;
  Finding finding = NewFinding(job, gpu, "host_gpus.xid");
  const bool ends = known->hardware && !MayGoOn(known->code);
  finding.severity = ends ? Severity::kError : Severity::kWarning;
  finding.role = Role::kCause;
  finding.headline = fmt::format("{} failed{}: {} (Xid {})", GpuAsSubject(gpu),
                                 fault->sample->time_ns == kNone64
                                     ? ""
                                     : fmt::format(" at {}", TimeOfDay(fault->sample->time_ns)),
                                 known->words, known->code);
  finding.evidence.push_back(
      {fmt::format("the GPU reports Xid {}, which it did not before", known->code),
       "host_sample",
       {fault->sample->row}});
  finding.confidence = known->hardware ? 0.85 : 0.6;
  finding.why = "the monitor saw the code appear while the job ran";
  finding.next_step = known->hardware
                          ? "Take this GPU out of use and have it checked."
                          : "Run this rank with CUDA_LAUNCH_BLOCKING=1 to find the kernel that "
                            "accesses memory it must not.";
  findings.push_back(std::move(finding));
}

void ReportCounter(const GpusOfJob& job, const Gpu& gpu, const Growth& growth,
                   std::string_view rule, std::string_view what, Role role,
                   std::vector<Finding>& findings) {
  Finding finding = NewFinding(job, gpu, rule);
  finding.severity = Severity::kWarning;
  finding.role = role;
  finding.headline = fmt::format("{} counted {:.0f} {}{}{}", GpuAsSubject(gpu), growth.by, what,
                                 growth.by == 1 ? "" : "s", FromTime(growth.sample->time_ns));
  finding.evidence.push_back({fmt::format("the counter is at {:.0f}", growth.sample->value),
                              "host_sample",
                              {growth.sample->row}});
  finding.confidence = 0.7;
  finding.why = "the counter grew while the job ran";
  finding.next_step = "Have this GPU and its links checked: nvidia-smi -q, dcgmi diag -r 3.";
  findings.push_back(std::move(finding));
}

}  // namespace

std::optional<ReportedFault> FindXid(const Gpu& gpu) {
  // The field keeps the last code for good: one that was there before the job is none of its.
  const Values& values = gpu.Of("xid");
  for (size_t i = 1; i < values.size(); ++i) {
    const auto code = CodeOf(values[i].value);
    const bool is_new = code != 0 && code != CodeOf(values[i - 1].value);
    if (is_new && GpuFaultOf(code) != nullptr) return ReportedFault{code, &values[i]};
  }
  return std::nullopt;
}

void ReportFaults(const GpusOfJob& job, std::vector<Finding>& findings) {
  std::vector<double> link_errors;
  for (const Gpu& gpu : job.gpus) link_errors.push_back(GrowthOf(gpu.Of("nvlink_errors")).by);
  const double usual = link_errors.empty() ? 0 : Median(link_errors);
  for (const Gpu& gpu : job.gpus) {
    ReportXid(job, gpu, findings);
    const Growth memory = GrowthOf(gpu.Of("ecc_uncorrected"));
    if (memory.sample != nullptr) {
      ReportCounter(job, gpu, memory, "host_gpus.ecc", "uncorrectable memory error", Role::kCause,
                    findings);
    }
    // A few errors that the link repaired by itself are usual.
    constexpr double kMany = 1000, kTimesUsual = 10;
    const Growth repaired = GrowthOf(gpu.Of("nvlink_errors"));
    const Growth recovered = GrowthOf(gpu.Of("nvlink_recoveries"));
    const bool many = repaired.by >= kMany && repaired.by >= kTimesUsual * usual;
    if (recovered.sample != nullptr || many) {
      ReportCounter(job, gpu, many ? repaired : recovered, "host_gpus.nvlink", "NVLink error",
                    Role::kObservation, findings);
    }
  }
}

int64_t BusyUntil(const Gpu& gpu) {
  constexpr double kBusy = 20;  // percent
  const Values& used = gpu.Utilization();
  for (size_t i = used.size(); i-- > 0;) {
    if (used[i].value >= kBusy) return used[i].time_ns;
  }
  return kNone64;
}

double LargestMemoryShare(const Gpu& gpu) {
  const Values& used = gpu.Of("memory_used");
  const Values& total = gpu.Of("memory_total");
  const Values& free = gpu.Of("memory_free");
  double largest = kNoDouble;
  for (size_t i = 0; i < used.size(); ++i) {
    const Value* all = ValueAt(total, used[i].time_ns, i);
    const Value* rest = ValueAt(free, used[i].time_ns, i);
    const double size = all != nullptr    ? all->value
                        : rest != nullptr ? used[i].value + rest->value
                                          : 0;
    if (size <= 0) continue;
    const double share = used[i].value / size;
    if (!(share <= largest)) largest = share;
  }
  return largest;
}

// In a hang the kernels of NCCL keep the GPUs of those busy that wait; the one they wait for is
// idle.
void ReportIdle(const GpusOfJob& job, std::vector<Finding>& findings) {
  constexpr size_t kFewest = 3;
  constexpr int64_t kShortestNs = 30 * kSecondNs;
  std::vector<std::pair<int64_t, const Gpu*>> ends;
  for (const Gpu& gpu : job.gpus) {
    if (gpu.Utilization().size() < 2) continue;
    const int64_t until = BusyUntil(gpu);
    if (until != kNone64) ends.emplace_back(until, &gpu);
  }
  if (ends.size() < kFewest) return;
  std::sort(ends.begin(), ends.end());
  const auto [first_ns, gpu] = ends[0];
  const int64_t others_ns = ends[1].first;
  if (others_ns - first_ns < kShortestNs) return;
  const Values& used = gpu->Utilization();
  const auto idle =
      std::upper_bound(used.begin(), used.end(), first_ns,
                       [](int64_t time, const Value& each) { return time < each.time_ns; });
  constexpr std::ptrdiff_t kFewestIdle = 2;
  if (used.end() - idle < kFewestIdle) return;
  Finding finding = NewFinding(job, *gpu, "host_gpus.idle_first");
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  finding.headline = fmt::format("{} was idle{}, all others were busy until {} or longer",
                                 GpuAsSubject(*gpu), FromTime(idle->time_ns), TimeOfDay(others_ns));
  finding.evidence.push_back(
      {fmt::format("utilisation {:.0f} %", idle->value), "host_sample", {idle->row}});
  finding.confidence = 0.6;
  finding.why = "GPUs that wait in a collective look busy; the one that they wait for does not";
  finding.next_step = "See where that rank stands: its stack, its output.";
  findings.push_back(std::move(finding));
}

void ReportHeatAndMemory(const GpusOfJob& job, const std::vector<Throttling>& throttled,
                         std::vector<Finding>& findings) {
  constexpr double kHot = 85, kHotter = 10;       // C
  constexpr double kFull = 0.99, kNotFull = 0.9;  // of the memory
  std::vector<double> heats, shares;
  for (const Gpu& gpu : job.gpus) {
    double heat = kNoDouble;
    for (const Value& each : gpu.Of("temperature")) heat = std::fmax(heat, each.value);
    if (!std::isnan(heat)) heats.push_back(heat);
    const double share = LargestMemoryShare(gpu);
    if (!std::isnan(share)) shares.push_back(share);
  }
  const double heat_of_peers = heats.size() > 2 ? Median(heats) : kNoDouble;
  const double share_of_peers = shares.size() > 2 ? Median(shares) : kNoDouble;
  for (size_t i = 0; i < job.gpus.size(); ++i) {
    const Gpu& gpu = job.gpus[i];
    const Value* hottest = nullptr;
    for (const Value& each : gpu.Of("temperature")) {
      if (hottest == nullptr || each.value > hottest->value) hottest = &each;
    }
    const bool hot = hottest != nullptr && hottest->value >= kHot &&
                     hottest->value >= heat_of_peers + kHotter && !throttled[i].is_low();
    if (hot) {
      Finding finding = NewFinding(job, gpu, "host_gpus.hot");
      finding.headline = fmt::format("{} reached {:.0f} C, the others {:.0f} C", GpuAsSubject(gpu),
                                     hottest->value, heat_of_peers);
      finding.evidence.push_back({"highest temperature", "host_sample", {hottest->row}});
      finding.confidence = 0.8;
      finding.why = "its clock did not fall yet";
      finding.next_step = "Check the cooling of this GPU.";
      findings.push_back(std::move(finding));
    }
    const double share = LargestMemoryShare(gpu);
    if (share >= kFull && share_of_peers < kNotFull) {
      Finding finding = NewFinding(job, gpu, "host_gpus.memory_full");
      finding.headline = fmt::format(
          "The memory of {} was full, that of the others at {}",
          gpu.rank == kNone32 ? GpuAsSubject(gpu) : fmt::format("rank {}'s GPU", gpu.rank),
          PercentText(share_of_peers));
      finding.evidence.push_back(
          {"memory in use", "host_sample", {gpu.Of("memory_used").front().row}});
      finding.confidence = 0.8;
      finding.why = "as the driver reports it; PyTorch keeps memory that it no longer uses";
      finding.next_step = "A memory snapshot of that rank shows what holds it.";
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace debrief::analyses::host_gpus
