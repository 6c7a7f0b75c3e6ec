#include "model/timeline/launch_links.h"

#include "tables/timeline_launch.h"

namespace debrief::timeline {

LaunchLinks LaunchLinksOf(const TimelineView& view) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  RowRange rows = RowsOf(launches, view.who.input);
  LaunchLinks links;
  links.launch.assign(view.slices.size(), kNone32);
  links.op.assign(view.slices.size(), kNone32);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    links.launch[TimelineView::At(launches.slice[row])] = launches.launch[row];
    links.op[TimelineView::At(launches.slice[row])] = launches.op[row];
  }
  return links;
}

}  // namespace debrief::timeline
