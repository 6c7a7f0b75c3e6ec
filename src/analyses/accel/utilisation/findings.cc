#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/accel/utilisation/utilisation.h"
#include "base/text/units.h"
#include "model/timeline/rank_shares.h"

namespace debrief::analyses::accel_utilisation {

namespace {

// Ideal cycles leave out loading and storing; half of them is what well-tiled kernels reach. With a
// fifth, kernels wait for memory most of the time.
constexpr double kLow = 0.5;
constexpr double kVeryLow = 0.2;
// Of the time of all kernels: when the array has less to do, its utilisation does not matter.
constexpr double kMatters = 0.1;
constexpr size_t kMostNamed = 3;

using Kernel = Utilisation::Kernel;

// All devices of one attempt of one job.
struct JobUtilisation {
  Identity who;
  int64_t time_ns = 0;
  std::map<std::string, Kernel> kernels;  // summed by name
  std::vector<int64_t> rows;
  int64_t array_ns = 0, ideal_ns = 0;
};

std::map<std::pair<int32_t, int32_t>, JobUtilisation> ByJob(
    const std::vector<Utilisation>& devices) {
  std::map<std::pair<int32_t, int32_t>, JobUtilisation> jobs;
  for (const Utilisation& device : devices) {
    JobUtilisation& job = jobs[{device.who.job, device.who.attempt}];
    job.who = device.who;
    job.time_ns += device.time_ns;
    job.rows.push_back(device.total_row);
    if (device.autopilot) {  // only sums mean something
      job.array_ns += device.time_ns;
      job.ideal_ns += device.ideal_ns;
      continue;
    }
    for (const Kernel& each : device.kernels) {
      Kernel& kernel = job.kernels[each.name];
      kernel.name = each.name;
      kernel.time_ns += each.time_ns;
      kernel.ideal_ns += each.ideal_ns;
      job.array_ns += each.time_ns;
      job.ideal_ns += each.ideal_ns;
    }
  }
  return jobs;
}

int64_t LostOf(const Kernel& kernel) { return kernel.time_ns - kernel.ideal_ns; }

// Those that lose most, with what they reach.
std::string Blamed(const JobUtilisation& job) {
  std::vector<Kernel> kernels;
  for (const auto& [name, kernel] : job.kernels) kernels.push_back(kernel);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel& a, const Kernel& b) { return LostOf(a) > LostOf(b); });
  std::string text;
  for (size_t i = 0; i < std::min(kernels.size(), kMostNamed); ++i) {
    double reached = static_cast<double>(kernels[i].ideal_ns) /
                     static_cast<double>(std::max<int64_t>(kernels[i].time_ns, 1));
    text += fmt::format("{}{} ({:.0f} %)", i == 0 ? "" : ", ", kernels[i].name, 100 * reached);
  }
  return text;
}

}  // namespace

void AddFindings(const std::vector<Utilisation>& devices, std::vector<Finding>& findings) {
  for (const auto& [key, job] : ByJob(devices)) {
    double array = static_cast<double>(job.array_ns);
    double reached = array > 0 ? static_cast<double>(job.ideal_ns) / array : 1;
    if (reached >= kLow || array < kMatters * static_cast<double>(job.time_ns)) continue;
    std::string blamed = Blamed(job);
    Finding finding;
    finding.rule = "accel.low_utilisation";
    // What is shorter may be start-up: worth telling, no reason to warn.
    bool is_long = job.time_ns >= timeline::kShortestToTellNs;
    finding.severity = is_long && reached < kVeryLow ? Severity::kWarning : Severity::kInfo;
    finding.job = job.who.job;
    finding.attempt = job.who.attempt;
    finding.headline =
        fmt::format("Kernels reach {:.0f} % of their compiler's estimate: {} instead of {}",
                    100 * reached, DurationText(job.array_ns), DurationText(job.ideal_ns));
    finding.evidence.push_back({.text = blamed.empty()
                                            ? "with the autopilot only sums can be compared"
                                            : "kernels that lose most: " + blamed,
                                .table = "accel_utilisation",
                                .rows = job.rows});
    finding.confidence = 0.6;
    finding.why = "the clock of the core is not in the trace; 1.1 times the counter was assumed";
    finding.next_step =
        blamed.empty() ? "Record once with the autopilot off to see which kernels lose the time."
                       : "Look at shapes and layouts of these kernels; give debrief accel --freq "
                         "with both clocks for exact figures.";
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::accel_utilisation
