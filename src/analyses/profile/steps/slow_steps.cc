#include "analyses/profile/steps/slow_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/stats/statistics.h"

namespace debrief::analyses::profile_steps {

namespace {

// With fewer steps a median says little about what is usual.
constexpr size_t kFewestSteps = 4;
// Distance from the median in median absolute deviations; of normal noise one in 1e11 is as far.
constexpr double kMostDeviations = 10;
// And a quarter longer than usual: what is less is seldom worth a look, however steady the rest.
constexpr double kSlowFactor = 1.25;
constexpr double kMillisecond = 1e6;

std::vector<int64_t> Values(const std::vector<StepFigures>& steps, Figure figure) {
  std::vector<int64_t> values;
  for (const StepFigures& step : steps) {
    if (step.whole) values.push_back(step.figures[figure]);
  }
  return values;
}

double MedianOf(const std::vector<StepFigures>& steps, Figure figure) {
  std::vector<int64_t> values = Values(steps, figure);
  return Summarise(values).median;
}

double MedianDeviation(const std::vector<StepFigures>& steps, double median) {
  std::vector<int64_t> distances = Values(steps, kDuration);
  for (int64_t& value : distances)
    value = std::llround(std::abs(static_cast<double>(value) - median));
  return Summarise(distances).median;
}

struct Growth {
  std::string_view what;
  double ns = 0;
};

// The part of the step that grew most over what it usually is.
Growth LargestGrowth(const std::vector<StepFigures>& steps, const StepFigures& slow) {
  constexpr std::pair<Figure, std::string_view> kParts[] = {
      {kIdle, "idle time of the device"},
      {kCompute, "computation"},
      {kExposedCommunication, "communication that nothing hides"},
      {kExposedMemory, "copies and fills that nothing hides"}};
  Growth largest;
  for (const auto& [figure, what] : kParts) {
    const double grown = static_cast<double>(slow.figures[figure]) - MedianOf(steps, figure);
    if (grown > largest.ns) largest = {what, grown};
  }
  return largest;
}

std::string NextStep(std::string_view grown) {
  if (grown.starts_with("idle")) return "See what the host did in this step: table profile_gap.";
  if (grown.starts_with("communication"))
    return "See which rank came late to the collectives of this step.";
  return "Compare the kernels of this step with those of another: table timeline_launch.";
}

// On how many of the ranks, where more than one was recorded.
std::string Where(const std::vector<int32_t>& ranks, size_t slow, size_t timelines) {
  if (timelines == 1) return ranks.empty() ? "" : fmt::format(" on rank {}", ranks[0]);
  if (slow == timelines) return fmt::format(" on all {} ranks", timelines);
  return fmt::format(" on {} of {} ranks", slow, timelines);
}

}  // namespace

void SlowSteps::Look(const Identity& who, const std::vector<StepFigures>& steps, size_t first_row) {
  const Job job{who.job, who.attempt};
  ++timelines_[job];
  const size_t whole = Values(steps, kDuration).size();
  const double median = whole < kFewestSteps ? 0 : MedianOf(steps, kDuration);
  if (!(median > 0)) return;
  const double limit =
      std::max(median * kSlowFactor, median + kMostDeviations * MedianDeviation(steps, median));
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepFigures& step = steps[i];
    if (!step.whole || static_cast<double>(step.figures[kDuration]) <= limit) continue;
    const Growth growth = step.on_device ? LargestGrowth(steps, step) : Growth{};
    slow_[{job, step.label == kNone64 ? step.step : step.label}].push_back(
        {who.rank, step.figures[kDuration], median, whole, growth.what, growth.ns, i == 0,
         static_cast<int64_t>(first_row + i)});
  }
}

void SlowSteps::AddFindings(std::vector<Finding>& findings) const {
  for (const auto& [key, slow] : slow_) findings.push_back(ToFinding(key.first, key.second, slow));
}

Finding SlowSteps::ToFinding(const Job& job, int64_t label, const std::vector<Slow>& slow) const {
  const Slow& worst = *std::max_element(slow.begin(), slow.end(), [](const Slow& a, const Slow& b) {
    return a.duration_ns < b.duration_ns;
  });
  const size_t timelines = timelines_.at(job);
  Finding finding;
  finding.rule = "profile.slow_step";
  // The first step that is recorded pays for the start of the profiler.
  finding.severity = worst.is_first ? Severity::kInfo : Severity::kWarning;
  finding.job = job.first;
  finding.attempt = job.second;
  for (const Slow& each : slow) {
    const bool few = timelines == 1 || slow.size() * 2 <= timelines;
    if (few && each.rank != kNone32) finding.ranks.push_back(each.rank);
    finding.evidence.push_back({fmt::format("{:.1f} ms; the median of {} whole steps is {:.1f} ms",
                                            static_cast<double>(each.duration_ns) / kMillisecond,
                                            each.steps, each.median_ns / kMillisecond),
                                "profile_step",
                                {each.row}});
  }
  const std::string which =
      fmt::format(fmt::runtime(worst.is_first ? "The first recorded step ({})" : "Step {}"), label);
  const auto duration = static_cast<double>(worst.duration_ns);
  finding.headline = fmt::format(
      "{} took {:.1f} ms{}, {:.1f} times as long as usual", which, duration / kMillisecond,
      Where(finding.ranks, slow.size(), timelines), duration / worst.median_ns);
  if (worst.growth_ns > 0)
    finding.headline +=
        fmt::format(": {:.1f} ms more of {}", worst.growth_ns / kMillisecond, worst.grew);
  finding.confidence = 0.9;
  finding.why = "far outside of how the other steps of the same recording vary";
  finding.next_step = NextStep(worst.grew);
  return finding;
}

}  // namespace debrief::analyses::profile_steps
