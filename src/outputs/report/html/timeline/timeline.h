// What the report's timeline shows: island "timeline", the outline (maker.h), and
// islands "timeline/0", "timeline/1" ... with the slices (island.h).
//
//   sources   profiles, phases of compilers, dumps, output   one input each, in parallel
//   islands   an input with a timeline has one of its own; logs share one until it has 20,000
//             slices, so that the page of a job of 1000 ranks does not load 3000 files
//
// Times count from the earliest of all sources that count from 1970; what counts from elsewhere
// begins at 0 and says so. Nothing is added when no source has a slice. Same model, same
// bytes, whatever the number of threads.
#pragma once

#include <string_view>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "model/model.h"
#include "outputs/report/html/islands.h"
#include "outputs/report/html/timeline/maker.h"

namespace debrief::outputs::html {

Status AddTimeline(const Model& model, ThreadPool& pool, Islands& islands);

// The same for any receiver; it is called from all threads.
Status MakeTimeline(const Model& model, const TimelineLimits& limits, ThreadPool& pool,
                    const IslandSink& sink);

}  // namespace debrief::outputs::html
