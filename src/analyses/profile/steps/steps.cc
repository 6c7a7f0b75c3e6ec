// How long do steps take, how do they vary, and is one of them odd?
//
// A device runs behind the host, so a step lasts until the last work that was launched in it. Cost:
// one pass over the work of devices; figures of a step are intersections with its window.

#include "analyses/analysis.h"
#include "analyses/profile/steps/slow_steps.h"
#include "analyses/profile/steps/step_rows.h"
#include "base/stats/statistics.h"
#include "tables/profile_step.h"
#include "tables/profile_step_stats.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_steps {

namespace {

using timeline::TimelineView;

constexpr auto kNeeds = kTableNames<TimelineStepTable>;
constexpr auto kUses = kTableNames<TimelineLaunchTable>;
constexpr auto kMakes = kTableNames<ProfileStepTable, ProfileStepStatsTable>;

// Of a timeline without work of devices nothing is said about devices.
bool IsOfDevice(Figure figure) { return figure != kHost && figure != kDuration; }

void AddSteps(const TimelineView& view, const std::vector<StepFigures>& steps, Part& part) {
  for (const StepFigures& step : steps) {
    auto row = Part::RowOf<ProfileStepRow>(view.who);
    row.input = view.who.input;
    row.step = step.step;
    row.label = step.label;
    row.start_ns = step.start;
    row.whole = step.whole;
    row.host_ns = step.figures[kHost];
    row.duration_ns = step.figures[kDuration];
    if (step.on_device) {
      row.busy_ns = step.figures[kBusy];
      row.compute_ns = step.figures[kCompute];
      row.exposed_communication_ns = step.figures[kExposedCommunication];
      row.exposed_memory_ns = step.figures[kExposedMemory];
      row.idle_ns = step.figures[kIdle];
      row.works = step.figures[kWorks];
      row.kernels = step.figures[kKernels];
    }
    part.tables.Edit<ProfileStepTable>().Add(row);
  }
}

void AddStats(const TimelineView& view, const std::vector<StepFigures>& steps, Part& part) {
  for (size_t figure = 0; figure < kFigures; ++figure) {
    std::vector<int64_t> values;
    for (const StepFigures& step : steps) {
      if (step.whole && (step.on_device || !IsOfDevice(static_cast<Figure>(figure))))
        values.push_back(step.figures[figure]);
    }
    if (values.empty()) continue;
    const Summary summary = Summarise(values);
    auto row = Part::RowOf<ProfileStepStatsRow>(view.who);
    row.input = view.who.input;
    row.figure = part.pools.Intern(kFigureNames[figure]);
    row.steps = summary.count;
    row.min = static_cast<double>(summary.min);
    row.median = summary.median;
    row.max = static_cast<double>(summary.max);
    row.mean = summary.mean;
    row.stddev = summary.stddev;
    part.tables.Edit<ProfileStepStatsTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  SlowSteps slow;
  for (const TimelineView& view : timeline::Timelines(model)) {
    const std::vector<StepFigures> steps = StepFiguresOf(view, classes);
    const size_t first_row = result.part.tables.Get<ProfileStepTable>().size();
    AddSteps(view, steps, result.part);
    AddStats(view, steps, result.part);
    slow.Look(view.who, steps, first_row);
  }
  slow.AddFindings(result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_steps",
               .sentence = "How long do steps take, how do they vary, and is one of them odd?",
               .example =
                   "Step 412 took 812.0 ms on 1 of 8 ranks, 2.1 times as long as usual: 402.3 ms "
                   "more of idle time of the device",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_steps
