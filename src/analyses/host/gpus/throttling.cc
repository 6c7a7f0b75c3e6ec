// GPUs whose clock is low while they work. A clock is compared with those of the other GPUs of the
// job: one limit on power for all of them is no fault of one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/host/gpus/judge.h"
#include "base/stats/statistics.h"
#include "torch/gpu_throttling.h"

namespace debrief::analyses::host_gpus {

namespace {

constexpr double kBusyPercent = 50;
constexpr double kLow = 0.85;     // of what it should be
constexpr double kMostly = 0.7;   // of the samples behind the first low one
constexpr double kAtTimes = 0.3;  // of all samples, where it comes and goes
constexpr size_t kFewestLow = 3;
constexpr size_t kFewestBusy = 5;

// Samples of sm_clock at which the GPU worked.
std::vector<size_t> BusySamples(const Gpu& gpu) {
  const Values& clocks = gpu.Of("sm_clock");
  const Values& utilization = gpu.Utilization();
  const Values& reasons = gpu.Of("throttle_reasons");
  std::vector<size_t> busy;
  for (size_t i = 0; i < clocks.size(); ++i) {
    const Value* used = ValueAt(utilization, clocks[i].time_ns, i);
    const Value* why = ValueAt(reasons, clocks[i].time_ns, i);
    const bool idle = (used != nullptr && used->value < kBusyPercent) ||
                      (why != nullptr && (CodeOf(why->value) & kThrottleIdle) != 0);
    if (!idle) busy.push_back(i);
  }
  return busy;
}

double MiddleOf(const Values& values, const std::vector<size_t>& samples) {
  std::vector<double> some;
  some.reserve(samples.size());
  for (size_t i : samples) some.push_back(values[i].value);
  return some.empty() ? kNoDouble : Median(std::move(some));
}

// What the GPU says of at least a fifth of the samples. Counters of violations grow with them.
std::string ReasonsOf(const Gpu& gpu, const std::vector<size_t>& low, bool& is_sure) {
  const Values& clocks = gpu.Of("sm_clock");
  const Values& told = gpu.Of("throttle_reasons");
  for (const ThrottleReason& each : kThrottleReasons) {
    size_t count = 0;
    for (size_t i : low) {
      const Value* bits = ValueAt(told, clocks[i].time_ns, i);
      count += bits != nullptr && (CodeOf(bits->value) & each.bits) != 0 ? 1 : 0;
    }
    if (count * 5 < low.size() || count == 0) continue;
    is_sure = each.is_fault;
    return std::string(each.words);
  }
  const Values& violation = gpu.Of("thermal_violation");
  const Values& now = gpu.Of("thermal_violation_now");
  const bool grew = violation.size() > 1 && violation.back().value > violation.front().value;
  const bool is_on =
      std::any_of(now.begin(), now.end(), [](const Value& v) { return v.value > 0; });
  is_sure = grew || is_on;
  return is_sure ? "thermal throttling" : "";
}

// The first low sample behind which the clock stays low; where it comes and goes, the first.
bool FindBegin(const std::vector<size_t>& busy, const std::vector<bool>& low, size_t& begin,
               bool& lasts) {
  size_t low_behind = 0, first = busy.size(), first_low = busy.size();
  for (size_t n = busy.size(); n-- > 0;) {
    if (!low[n]) continue;
    ++low_behind;
    first_low = n;
    const auto behind = static_cast<double>(busy.size() - n);
    if (static_cast<double>(low_behind) >= kMostly * behind) first = n;
  }
  if (low_behind < kFewestLow) return false;
  lasts = first < busy.size() && busy.size() - first >= kFewestLow;
  begin = lasts ? first : first_low;
  return lasts || static_cast<double>(low_behind) >= kAtTimes * static_cast<double>(busy.size());
}

void JudgeClock(const Gpu& gpu, size_t peers, Throttling& found) {
  const Values& clocks = gpu.Of("sm_clock");
  const std::vector<size_t> busy = BusySamples(gpu);
  if (busy.size() < kFewestBusy) return;
  // Alone, a GPU is compared with itself, and believed only when it says why.
  constexpr size_t kFewestPeers = 2;
  constexpr double kOwnBest = 0.9;
  std::vector<int64_t> own;
  for (size_t i : busy) own.push_back(CodeOf(clocks[i].value));
  const auto best = static_cast<double>(Quantile(own, kOwnBest));
  const bool alone = peers < kFewestPeers || std::isnan(found.peers_mhz);
  const double limit = kLow * (alone ? best : found.peers_mhz);
  std::vector<bool> low;
  for (size_t i : busy) low.push_back(clocks[i].value < limit);
  size_t begin = 0;
  if (!FindBegin(busy, low, begin, found.lasts)) return;
  std::vector<size_t> samples;
  for (size_t n = begin; n < busy.size(); ++n) {
    if (low[n]) samples.push_back(busy[n]);
  }
  found.reasons = ReasonsOf(gpu, samples, found.is_sure);
  if (alone && !found.is_sure) return;
  // Without utilisation and without a reason a very low clock is that of a GPU that waits.
  constexpr double kIdleClock = 0.4;
  const double middle = MiddleOf(clocks, samples);
  const double usual = alone ? best : std::max(found.peers_mhz, begin > 0 ? best : 0);
  if (gpu.Utilization().empty() && found.reasons.empty() && middle < kIdleClock * usual) return;
  // Under one limit on power, chips of one kind differ by a tenth or two.
  constexpr double kFarBelow = 0.75;
  if (!found.is_sure && middle >= kFarBelow * usual) return;
  found.low_mhz = middle;
  found.usual_mhz = usual;
  found.from = busy[begin];
}

// "1,005"
std::string Grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3 && at <= digits.size();) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

std::vector<Throttling> FindThrottling(const std::vector<Gpu>& gpus) {
  std::vector<Throttling> all(gpus.size());
  for (size_t i = 0; i < gpus.size(); ++i)
    all[i].busy_mhz = MiddleOf(gpus[i].Of("sm_clock"), BusySamples(gpus[i]));
  // The middle one of all hardly depends on whether a GPU is counted among its own peers.
  std::vector<double> clocks;
  for (const Throttling& each : all) {
    if (!std::isnan(each.busy_mhz)) clocks.push_back(each.busy_mhz);
  }
  const size_t watched = clocks.size();
  const double middle = clocks.empty() ? kNoDouble : Median(clocks);
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (watched > 1) all[i].peers_mhz = middle;
    JudgeClock(gpus[i], watched > 0 ? watched - 1 : 0, all[i]);
  }
  return all;
}

void ReportThrottling(const GpusOfJob& job, const std::vector<Throttling>& found,
                      std::vector<Finding>& findings) {
  for (size_t i = 0; i < found.size(); ++i) {
    const Throttling& each = found[i];
    if (!each.is_low()) continue;
    const Gpu& gpu = job.gpus[i];
    const Values& clocks = gpu.Of("sm_clock");
    Finding finding = NewFinding(job, gpu, "host_gpus.throttled");
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    const Value& first = clocks[each.from];
    finding.headline = fmt::format("{} ran at {} MHz instead of {}{}{}{}", GpuAsSubject(gpu),
                                   Grouped(each.low_mhz), Grouped(each.usual_mhz),
                                   each.lasts ? FromTime(first.time_ns) : " at times",
                                   each.reasons.empty() ? "" : ", ", each.reasons);
    finding.evidence.push_back(
        {fmt::format("SM clock {:.0f} MHz; the other GPUs {:.0f} MHz", first.value, each.peers_mhz),
         "host_sample",
         {first.row}});
    const Values& heat = gpu.Of("temperature");
    if (const Value* hot = ValueAt(heat, first.time_ns, each.from); hot != nullptr) {
      finding.evidence.push_back(
          {fmt::format("temperature {:.0f} C", hot->value), "host_sample", {hot->row}});
    }
    finding.confidence = each.is_sure ? 0.85 : 0.6;
    finding.why = each.is_sure ? "the GPU itself reports the reason"
                               : "its clock alone is lower than those of its peers";
    finding.next_step =
        each.reasons == "thermal throttling"
            ? "Check the cooling of this GPU and its host; take it out of the job until then."
            : "Compare it with its peers: nvidia-smi -q -d CLOCK,PERFORMANCE,POWER.";
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::host_gpus
