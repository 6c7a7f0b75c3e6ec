#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "analyses/accel/clock/clock.h"
#include "base/stats/statistics.h"
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

template <typename Row>
using Rows = std::vector<const Row*>;

// One finding for each attempt of a job that has rows which are concerned; describe(rows, finding)
// says what they show.
template <typename Row, typename IsConcerned, typename Describe>
void AddRule(std::string_view rule, std::string_view table, const std::vector<Row>& devices,
             IsConcerned is_concerned, Describe describe, std::vector<Finding>& findings) {
  std::map<std::pair<int32_t, int32_t>, Rows<Row>> jobs;
  for (const Row& each : devices) {
    if (is_concerned(each)) jobs[{each.job, each.attempt}].push_back(&each);
  }
  for (const auto& [job, rows] : jobs) {
    Finding finding;
    finding.rule = rule;
    finding.job = job.first;
    finding.attempt = job.second;
    Evidence evidence{.table = std::string(table)};
    std::set<int32_t> ranks;
    for (const Row* each : rows) {
      evidence.rows.push_back(each->number);
      if (each->rank != kNone32) ranks.insert(each->rank);
    }
    finding.ranks.assign(ranks.begin(), ranks.end());
    finding.evidence.push_back(std::move(evidence));
    describe(rows, finding);
    findings.push_back(std::move(finding));
  }
}

struct Counts {
  int64_t odd = 0, all = 0;
  Severity severity() const {
    return static_cast<double>(odd) >= kMostly * static_cast<double>(all) ? Severity::kWarning
                                                                          : Severity::kInfo;
  }
};

// The text of the counts; the severity is that of their share.
std::string CountsIn(const Rows<Cycles>& rows, int64_t Cycles::* odd, Finding& finding) {
  Counts counts;
  for (const Cycles* each : rows) {
    counts.odd += each->*odd;
    counts.all += each->events;
  }
  finding.severity = counts.severity();
  return fmt::format("{} of {}", counts.odd, counts.all);
}

void DescribeFrequency(const Rows<Cycles>& rows, Finding& finding) {
  std::vector<double> rates;
  for (const Cycles* each : rows) rates.push_back(each->mhz);
  std::sort(rates.begin(), rates.end());
  double median = Median(rates);
  finding.headline = fmt::format(
      "The cycle counter of the AIU runs at {:.2f} MHz; tools assume {:.0f} MHz without --freq",
      median, kAssumedMhz);
  finding.evidence[0].text =
      rates.size() == 1
          ? fmt::format("{:.2f} MHz by the events themselves", median)
          : fmt::format("{} devices or files, {:.2f} to {:.2f} MHz by the events themselves",
                        rates.size(), rates.front(), rates.back());
  finding.confidence = 0.9;
  finding.why = "fitted to the times of the host; the times shown here use it already";
  finding.next_step = fmt::format(
      "Give --freq={:.2f} to debrief accel; add the clock of the core behind a colon "
      "where utilisation matters.",
      median);
}

void DescribeStretched(const Rows<Cycles>& rows, Finding& finding) {
  finding.headline =
      fmt::format("{} device events have other durations on the host than by the cycle counter",
                  CountsIn(rows, &Cycles::stretched, finding));
  finding.evidence[0].text = "more than a tenth and 2 us apart";
  finding.confidence = 0.7;
  finding.why = "either the host's times have delays in them or the counter changed its rate";
  finding.next_step =
      "Trust the durations of the counter (these are shown); look whether the clock of the "
      "device was changed during the run: debrief query OUT \"SELECT * FROM accel_rate\"";
}

void DescribeShifted(const Rows<Cycles>& rows, Finding& finding) {
  int64_t worst = 0;
  for (const Cycles* each : rows) worst = std::max(worst, std::abs(each->shift_ns));
  finding.headline = fmt::format(
      "{} device events lie outside of the host calls that waited for them, by up to {}",
      CountsIn(rows, &Cycles::shifted, finding), DurationText(worst));
  finding.evidence[0].text = "compared with the calls AIU Roundtrip of the same file";
  finding.confidence = 0.9;
  finding.why = "a device runs only what a call waits for, so the times of the file are wrong";
  finding.next_step = "Run debrief accel with --flex_ts_fix, which moves each file as a whole.";
}

void DescribeMisaligned(const Rows<Cycles>& rows, Finding& finding) {
  finding.headline =
      fmt::format("{} events are kernels that overlap the one before them, by the cycle counter",
                  CountsIn(rows, &Cycles::misaligned, finding));
  finding.evidence[0].text = "kernels in the order in which the host saw them end";
  finding.confidence = 0.7;
  finding.why = "an AIU runs one kernel at a time; files of two runs may have been mixed";
  finding.next_step = "Check that all files are of one run, and that none was given twice.";
}

void DescribeGapped(const Rows<Cycles>&, Finding& finding) {
  finding.severity = Severity::kWarning;
  finding.headline =
      "The cycle counter and the host's clock drift apart: gaps between events are not reliable";
  finding.evidence[0].text = "each event alone agrees with the counter, the whole file does not";
  finding.confidence = 0.8;
  finding.why = "the counter was reset, stopped while idle, or records were copied";
  finding.next_step =
      "Trust durations, not gaps; record again with the power saving of the device off.";
}

void DescribeViolation(const Rows<Causality>& rows, Finding& finding) {
  int64_t early = 0, launches = 0, late = 0, worst = 0;
  for (const Causality* each : rows) {
    early += each->early;
    launches += each->launches;
    late += each->late;
    worst = std::max({worst, each->worst_early_ns, each->worst_late_ns});
  }
  finding.severity = Counts{early, launches}.severity();
  finding.headline = fmt::format(
      "The clocks of device and host disagree by {} or more; {} begin before their launch",
      DurationText(worst), Plural(static_cast<size_t>(early), "kernel"));
  finding.evidence[0].text = fmt::format(
      "{} launches; {} end after the call that waited for them; lower_ns and upper_ns bound what "
      "has to be added to the times of the device",
      launches, Plural(static_cast<size_t>(late), "kernel"));
  finding.confidence = 0.9;
  finding.why = "nothing runs before it is launched";
  finding.next_step =
      "Do not trust launch delays and idle causes of these timelines; a newer driver or profiler "
      "may align its clocks.";
}

}  // namespace

void AddCausalityFindings(const std::vector<Causality>& devices, std::vector<Finding>& findings) {
  AddRule(
      "accel.clock_violation", "accel_clock", devices,
      [](const Causality& each) {
        return IsOften(each.early, each.launches) || IsOften(each.late, each.waits);
      },
      DescribeViolation, findings);
}

void AddCycleFindings(const std::vector<Cycles>& devices, std::vector<Finding>& findings) {
  const auto add = [&](std::string_view rule, auto is_concerned, auto describe) {
    AddRule(rule, "accel_cycles", devices, is_concerned, describe, findings);
  };
  add(
      "accel.wrong_frequency",
      [](const Cycles& each) { return std::abs(each.mhz / kAssumedMhz - 1) > kWrongMhz; },
      DescribeFrequency);
  add(
      "accel.stretched_events",
      [](const Cycles& each) { return IsOften(each.stretched, each.events); }, DescribeStretched);
  add(
      "accel.shifted_events", [](const Cycles& each) { return each.shifted >= kFewest; },
      DescribeShifted);
  add(
      "accel.misaligned_events",
      [](const Cycles& each) { return IsOften(each.misaligned, each.events); }, DescribeMisaligned);
  add("accel.gapped_events", [](const Cycles& each) { return each.gapped != 0; }, DescribeGapped);
}

}  // namespace debrief::analyses::accel_clock
