#include "analyses/profile_steps/slow_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/summary.h"

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

std::string NameOf(const StepFigures& step) {
  return fmt::format("{}", step.label == kNone64 ? step.step : step.label);
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

Finding ToFinding(const Identity& who, const std::vector<StepFigures>& steps,
                  const StepFigures& slow, double median, size_t row) {
  const auto duration = static_cast<double>(slow.figures[kDuration]);
  Finding finding;
  finding.rule = "profile.slow_step";
  finding.severity = Severity::kWarning;
  finding.job = who.job;
  finding.attempt = who.attempt;
  if (who.rank != kNone32) finding.ranks = {who.rank};
  const Growth growth = slow.on_device ? LargestGrowth(steps, slow) : Growth{};
  const std::string whose = who.rank == kNone32 ? "" : fmt::format(" of rank {}", who.rank);
  finding.headline = fmt::format("Step {}{} took {:.1f} ms, {:.1f} times as long as usual",
                                 NameOf(slow), whose, duration / kMillisecond, duration / median);
  if (growth.ns > 0)
    finding.headline +=
        fmt::format(": {:.1f} ms more of {}", growth.ns / kMillisecond, growth.what);
  finding.evidence.push_back({fmt::format("the median of {} whole steps is {:.1f} ms",
                                          Values(steps, kDuration).size(), median / kMillisecond),
                              "profile_step",
                              {static_cast<int64_t>(row)}});
  finding.confidence = 0.9;
  finding.why = "far outside of how the other steps of the same recording vary";
  finding.next_step = NextStep(growth.what);
  return finding;
}

}  // namespace

void AddSlowSteps(const Identity& who, const std::vector<StepFigures>& steps, size_t first_row,
                  std::vector<Finding>& findings) {
  if (Values(steps, kDuration).size() < kFewestSteps) return;
  const double median = MedianOf(steps, kDuration);
  const double limit =
      std::max(median * kSlowFactor, median + kMostDeviations * MedianDeviation(steps, median));
  if (!(median > 0)) return;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].whole && static_cast<double>(steps[i].figures[kDuration]) > limit)
      findings.push_back(ToFinding(who, steps, steps[i], median, first_row + i));
  }
}

}  // namespace debrief::analyses::profile_steps
