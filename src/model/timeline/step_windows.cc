#include "model/timeline/step_windows.h"

#include <algorithm>

#include "tables/timeline_step.h"

namespace debrief::timeline {

std::vector<StepWindow> StepWindowsOf(const TimelineView& view) {
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  RowRange rows = RowsOf(steps, view.who.input);
  std::vector<StepWindow> windows;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    int64_t before = windows.empty() ? steps.start_ns[row] : windows.back().time.end;
    int64_t begin = std::max(before, steps.start_ns[row]);
    int64_t end = std::max(steps.end_ns[row], steps.device_end_ns[row]);  // null is the smallest
    windows.push_back({.step = steps.step[row],
                       .time = {begin, std::max(begin, end)},
                       .launches = steps.launches[row]});
  }
  return windows;
}

}  // namespace debrief::timeline
