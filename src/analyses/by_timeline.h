// For analyses that look at one timeline after the other: does it for all of them, side by side
// where there are threads. Rows come in the order of the timelines, whatever the number of threads.
//
//   ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) { ... rows ... });
//
// The callback runs on many threads: what it shares with others it may only read.
#pragma once

#include <functional>
#include <utility>

#include "analyses/analysis.h"
#include "base/threads/thread_pool.h"
#include "model/timeline/view.h"

namespace debrief {

inline void ForEachTimeline(
    const Model& model, AnalysisResult& result,
    const std::function<void(const timeline::TimelineView& view, Part& part)>& add_rows) {
  const std::vector<timeline::TimelineView> views = timeline::Timelines(model);
  if (result.pool == nullptr || views.size() < 2) {
    for (const timeline::TimelineView& view : views) add_rows(view, result.part);
    return;
  }
  result.pool->MapInOrder<Part>(
      views.size(),
      [&](size_t i) {
        Part part;
        add_rows(views[i], part);
        return part;
      },
      [&](size_t, Part&& part) { result.part.Append(std::move(part)); });
}

}  // namespace debrief
