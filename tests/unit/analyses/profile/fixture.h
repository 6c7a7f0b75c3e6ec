// Timelines for the analyses of profiles: launches linked, steps marked, rows as text.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/stats/intervals.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"
#include "unit/model/timeline_fixture.h"

namespace debrief {

// Fills timeline_launch as analysis timeline_launches does where correlations tell all.
inline void LinkByCorrelation(Model& model) {
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    std::unordered_map<int64_t, int32_t> calls;
    for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
      if (view.kind[timeline::TimelineView::At(slice)] == view.kinds.runtime)
        calls[view.correlation[timeline::TimelineView::At(slice)]] = slice;
    }
    for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
      size_t at = timeline::TimelineView::At(slice);
      if (!view.kinds.IsWork(view.kind[at])) continue;
      auto row = Part::RowOf<TimelineLaunchRow>(view.who);
      row.input = view.who.input;
      row.slice = slice;
      auto found = calls.find(view.correlation[at]);
      if (found != calls.end() && view.correlation[at] != kNone64) {
        row.launch = found->second;
        int32_t around = view.parent[timeline::TimelineView::At(found->second)];
        if (around != kNone32 && view.kind[timeline::TimelineView::At(around)] == view.kinds.op)
          row.op = around;
      }
      model.tables.Edit<TimelineLaunchTable>().Add(row);
    }
  }
}

inline void AddStep(Model& model, int32_t step, Interval host, int64_t device_end = kNone64,
                    int64_t launches = 1) {
  auto row = Part::RowOf<TimelineStepRow>({.input = 0, .job = 0, .attempt = 0, .rank = 0});
  row.input = 0;
  row.step = step;
  row.start_ns = host.begin;
  row.end_ns = host.end;
  row.device_end_ns = device_end;
  row.launches = launches;
  model.tables.Edit<TimelineStepTable>().Add(row);
}

// Some work on some streams and devices: touching, overlapping, empty and negative.
struct RandomWork {
  int32_t device = 0;
  int64_t stream = 0;
  int64_t begin = 0, duration = 0;
  int kind = 0;  // 0 computes, 1 communicates, 2 copies, 3 fills, 4 waits
};

inline std::vector<RandomWork> RandomWorks(std::mt19937& random, int32_t devices) {
  std::uniform_int_distribution<int64_t> begins(0, 60), durations(-2, 9);
  std::vector<RandomWork> works(1 + random() % 14);
  for (RandomWork& work : works) {
    work.device = static_cast<int32_t>(random() % static_cast<uint32_t>(devices));
    work.stream = 7 + static_cast<int64_t>(random() % 3);
    work.begin = begins(random);
    work.duration = durations(random);
    work.kind = static_cast<int>(random() % 5);
  }
  return works;
}

inline Model ModelOf(const std::vector<RandomWork>& works, int64_t unit_ns = 1) {
  constexpr std::string_view kNames[] = {"gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD", "Memset",
                                         "Stream Sync"};
  constexpr std::string_view kKinds[] = {timeline::kKernel, timeline::kKernel, timeline::kMemcpy,
                                         timeline::kMemset, timeline::kSync};
  TimelineFixture timeline;
  int64_t correlation = 0;
  for (const RandomWork& work : works) {
    int32_t track = timeline.AddStream(work.stream, work.device);
    timeline.AddSlice(track, {kNames[work.kind], kKinds[work.kind], work.begin * unit_ns,
                              work.duration * unit_ns, ++correlation, kNone64, "kernel"});
  }
  return timeline.Build();
}

}  // namespace debrief
