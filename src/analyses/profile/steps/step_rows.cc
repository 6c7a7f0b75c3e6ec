#include "analyses/profile/steps/step_rows.h"

#include "model/timeline/device_time.h"
#include "model/timeline/step_windows.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_steps {

namespace {

using timeline::TimelineView;

void SetDeviceTimes(const timeline::TimeSplit& split, StepFigures& step) {
  step.figures[kBusy] = split.busy;
  step.figures[kCompute] = split.compute;
  step.figures[kExposedCommunication] = split.exposed_communication;
  step.figures[kExposedMemory] = split.exposed_memory;
  step.figures[kIdle] = split.idle;
}

void CountKernels(const TimelineView& view, std::vector<StepFigures>& steps) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (launches.step[row] == kNone32) continue;
    const size_t slice = TimelineView::At(launches.slice[row]);
    StepFigures& step = steps[TimelineView::At(launches.step[row])];
    if (view.kind[slice] == view.kinds.kernel) ++step.figures[kKernels];
  }
}

}  // namespace

std::vector<StepFigures> StepFiguresOf(const TimelineView& view,
                                       const timeline::DeviceClasses& classes) {
  const std::vector<timeline::StepWindow> windows = timeline::StepWindowsOf(view);
  if (windows.empty()) return {};
  const auto& table = view.model.tables.Get<TimelineStepTable>();
  const size_t first = timeline::RowsOf(table, view.who.input).begin;
  const timeline::DeviceWorks works = timeline::DeviceWorksOf(view, classes);
  const timeline::ClassTimes times = timeline::ClassTimesOf(works.works);
  std::vector<StepFigures> steps;
  for (size_t i = 0; i < windows.size(); ++i) {
    const size_t row = first + i;
    StepFigures step = {.step = windows[i].step,
                        .label = table.label[row],
                        .start = windows[i].time.begin,
                        .whole = table.whole[row] != 0,
                        .on_device = !works.works.empty()};
    step.figures[kHost] = table.end_ns[row] - table.start_ns[row];
    step.figures[kDuration] = windows[i].time.length();
    step.figures[kWorks] = windows[i].launches;
    SetDeviceTimes(timeline::SplitTime(times, windows[i].time), step);
    steps.push_back(step);
  }
  CountKernels(view, steps);
  return steps;
}

}  // namespace debrief::analyses::profile_steps
