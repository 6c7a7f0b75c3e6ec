#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analyses/accel/clock/clock.h"
#include "base/stats/statistics.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::accel_clock {

namespace {

// What tools of AIU traces assume of the counter when they are not told.
constexpr double kAssumedMhz = 1000;
// A tenth of a percent is a millisecond in a second: events of two ranks come apart visibly.
constexpr double kWrongMhz = 0.001;
// One odd event is an accident of the recording; from one in a hundred on it is a rule of it.
constexpr double kOften = 0.01;
constexpr double kMostly = 0.10;
constexpr int64_t kFewest = 3;

bool IsOften(int64_t count, int64_t of) {
  return count >= kFewest && static_cast<double>(count) >= kOften * static_cast<double>(of);
}

template <typename What>
using Devices = std::vector<const OfDevice<What>*>;

// Those of one attempt of one job together.
template <typename What>
std::map<std::pair<int32_t, int32_t>, Devices<What>> ByJob(
    const std::vector<OfDevice<What>>& devices,
    const std::function<bool(const What&)>& is_concerned) {
  std::map<std::pair<int32_t, int32_t>, Devices<What>> jobs;
  for (const OfDevice<What>& each : devices) {
    if (is_concerned(each.what)) jobs[{each.who.job, each.who.attempt}].push_back(&each);
  }
  return jobs;
}

template <typename What>
Finding Start(std::string_view rule, std::string_view table, const Devices<What>& devices) {
  Finding finding;
  finding.rule = rule;
  finding.job = devices.front()->who.job;
  finding.attempt = devices.front()->who.attempt;
  for (const OfDevice<What>* each : devices) {
    if (each->who.rank != kNone32) finding.ranks.push_back(each->who.rank);
  }
  std::sort(finding.ranks.begin(), finding.ranks.end());
  finding.ranks.erase(std::unique(finding.ranks.begin(), finding.ranks.end()), finding.ranks.end());
  Evidence evidence{.table = std::string(table)};
  for (const OfDevice<What>* each : devices) evidence.rows.push_back(each->row);
  finding.evidence.push_back(std::move(evidence));
  return finding;
}

struct Counts {
  int64_t odd = 0, all = 0;
  Severity severity() const {
    return static_cast<double>(odd) >= kMostly * static_cast<double>(all) ? Severity::kWarning
                                                                          : Severity::kInfo;
  }
  std::string text() const { return fmt::format("{} of {}", odd, all); }
};

Counts CountsOf(const Devices<Cycles>& devices, int64_t Cycles::* odd) {
  Counts counts;
  for (const OfDevice<Cycles>* each : devices) {
    counts.odd += each->what.*odd;
    counts.all += each->what.events;
  }
  return counts;
}

void AddFrequency(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings) {
  auto jobs = ByJob<Cycles>(
      devices, [](const Cycles& each) { return std::abs(each.mhz / kAssumedMhz - 1) > kWrongMhz; });
  for (const auto& [job, of_job] : jobs) {
    std::vector<double> rates;
    for (const OfDevice<Cycles>* each : of_job) rates.push_back(each->what.mhz);
    std::sort(rates.begin(), rates.end());
    double median = Median(rates);
    Finding finding = Start("accel.wrong_frequency", "accel_cycles", of_job);
    finding.headline = fmt::format(
        "The cycle counter of the AIU runs at {:.2f} MHz; tools that are not told "
        "assume {:.0f} MHz",
        median, kAssumedMhz);
    finding.evidence[0].text =
        fmt::format("{} devices or files, {:.2f} to {:.2f} MHz by the events themselves",
                    rates.size(), rates.front(), rates.back());
    finding.confidence = 0.9;
    finding.why = "fitted to the times of the host; the times shown here use it already";
    finding.next_step = fmt::format(
        "Give --freq={:.2f} to debrief accel; add the clock of the core behind a colon "
        "where utilisation matters",
        median);
    findings.push_back(std::move(finding));
  }
}

void AddStretched(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings) {
  auto jobs = ByJob<Cycles>(
      devices, [](const Cycles& each) { return IsOften(each.stretched, each.events); });
  for (const auto& [job, of_job] : jobs) {
    Counts counts = CountsOf(of_job, &Cycles::stretched);
    Finding finding = Start("accel.stretched_events", "accel_cycles", of_job);
    finding.severity = counts.severity();
    finding.headline = fmt::format(
        "{} events of the device take longer or shorter by the host than by the cycle counter",
        counts.text());
    finding.evidence[0].text = "more than a tenth and 2 us apart";
    finding.confidence = 0.7;
    finding.why = "either the host's times have delays in them or the counter changed its rate";
    finding.next_step =
        "Trust the durations of the counter (these are shown); look whether the clock of the "
        "device was changed during the run: debrief query OUT \"SELECT * FROM accel_rate\"";
    findings.push_back(std::move(finding));
  }
}

void AddShifted(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings) {
  auto jobs = ByJob<Cycles>(devices, [](const Cycles& each) { return each.shifted >= kFewest; });
  for (const auto& [job, of_job] : jobs) {
    Counts counts = CountsOf(of_job, &Cycles::shifted);
    const OfDevice<Cycles>* worst =
        *std::max_element(of_job.begin(), of_job.end(), [](const auto* a, const auto* b) {
          return std::abs(a->what.shift_ns) < std::abs(b->what.shift_ns);
        });
    Finding finding = Start("accel.shifted_events", "accel_cycles", of_job);
    finding.severity = counts.severity();
    finding.headline = fmt::format(
        "{} events of the device lie outside of the calls that waited for it, by up "
        "to {}",
        counts.text(), DurationText(std::abs(worst->what.shift_ns)));
    finding.evidence[0].text = "compared with the calls AIU Roundtrip of the same file";
    finding.confidence = 0.9;
    finding.why = "a device runs only what a call waits for; so the times of the file are off";
    finding.next_step = "Run debrief accel with --flex_ts_fix, which moves each file as a whole";
    findings.push_back(std::move(finding));
  }
}

void AddMisaligned(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings) {
  auto jobs = ByJob<Cycles>(
      devices, [](const Cycles& each) { return IsOften(each.misaligned, each.events); });
  for (const auto& [job, of_job] : jobs) {
    Counts counts = CountsOf(of_job, &Cycles::misaligned);
    Finding finding = Start("accel.misaligned_events", "accel_cycles", of_job);
    finding.severity = counts.severity();
    finding.headline = fmt::format(
        "{} events are kernels that began, by the counter, before the one before them had ended",
        counts.text());
    finding.evidence[0].text = "kernels in the order in which the host saw them end";
    finding.confidence = 0.7;
    finding.why = "an AIU runs one kernel at a time; files of two runs may have been mixed";
    finding.next_step = "Check that all files are of one run, and that none was given twice";
    findings.push_back(std::move(finding));
  }
}

void AddGapped(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings) {
  auto jobs = ByJob<Cycles>(devices, [](const Cycles& each) { return each.gapped; });
  for (const auto& [job, of_job] : jobs) {
    Finding finding = Start("accel.gapped_events", "accel_cycles", of_job);
    finding.severity = Severity::kWarning;
    finding.headline =
        "The cycle counter does not go on with the time of the host: gaps between events are not "
        "what they seem";
    finding.evidence[0].text = "each event alone agrees with the counter, the whole file does not";
    finding.confidence = 0.8;
    finding.why = "the counter was reset, stopped while idle, or records were copied";
    finding.next_step =
        "Trust durations, not gaps; record again with the power saving of the device off";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void AddCausalityFindings(const std::vector<OfDevice<Causality>>& devices,
                          std::vector<Finding>& findings) {
  auto jobs = ByJob<Causality>(devices, [](const Causality& each) {
    return IsOften(each.early, each.launches) || IsOften(each.late, each.waits);
  });
  for (const auto& [job, of_job] : jobs) {
    int64_t early = 0, launches = 0, late = 0, worst = 0;
    for (const OfDevice<Causality>* each : of_job) {
      early += each->what.early;
      launches += each->what.launches;
      late += each->what.late;
      worst = std::max({worst, each->what.worst_early_ns, each->what.worst_late_ns});
    }
    Finding finding = Start("accel.clock_violation", "accel_clock", of_job);
    finding.severity = Counts{early, launches}.severity();
    finding.headline = fmt::format(
        "The clocks of device and host disagree by {} or more: {} pieces of work begin before "
        "their launch, {} end after the call that waited for them",
        DurationText(worst), early, late);
    finding.evidence[0].text = fmt::format(
        "{} launches; lower_ns and upper_ns bound what has to be added to the times "
        "of the device",
        launches);
    finding.confidence = 0.9;
    finding.why = "nothing runs before it is launched";
    finding.next_step =
        "Distrust launch delays and idle causes of these timelines; a newer driver or profiler "
        "may align its clocks";
    findings.push_back(std::move(finding));
  }
}

void AddCycleFindings(const std::vector<OfDevice<Cycles>>& devices,
                      std::vector<Finding>& findings) {
  AddFrequency(devices, findings);
  AddStretched(devices, findings);
  AddShifted(devices, findings);
  AddMisaligned(devices, findings);
  AddGapped(devices, findings);
}

}  // namespace debrief::analyses::accel_clock
