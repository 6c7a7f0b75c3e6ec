// Replays the graph of a job of pipeline stages with any weights: how long would its steps take?
//
// A meeting begins when everything that one of its members waits for has ended; each member then
// takes its weight (of a local op its duration, of a transfer what it takes from the last arrival
// on). Steps are independent and each begins at 0. One pass over the graph serves many lanes at
// once: ends lie side by side, lane after lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyses/what_if/stage_graph.h"

namespace debrief::analyses::what_if {

// Step times in ns. `weight(op, step, lane)` of `lanes` replicas in each of `steps` steps;
// `delays`: besides, what each op waits before it begins, by op * steps * lanes + step * lanes +
// lane; null: nothing.
template <typename Weight>
std::vector<double> Replay(const StageGraph& graph, size_t steps, size_t lanes,
                           const Weight& weight, const double* delays = nullptr) {
  constexpr size_t kBlock = 256;  // lanes at once: what is at hand stays in the cache
  const size_t ops = graph.waits_for.size();
  const size_t steps_at_once = std::max<size_t>(1, kBlock / lanes);
  std::vector<double> ends(ops * steps_at_once * lanes), begin(steps_at_once * lanes), own;
  std::vector<double> times(steps);
  for (size_t first = 0; first < steps; first += steps_at_once) {
    const size_t count = std::min(steps_at_once, steps - first), width = count * lanes;
    for (const Meeting& meeting : graph.meetings) {
      std::fill_n(begin.begin(), width, 0.0);
      for (uint32_t op : meeting.ops) {
        own.assign(width, 0.0);
        for (uint32_t before : graph.waits_for[op]) {
          const double* end = &ends[before * width];
          for (size_t i = 0; i < width; ++i) own[i] = std::max(own[i], end[i]);
        }
        for (size_t i = 0; i < width; ++i) {
          if (delays != nullptr) own[i] += delays[op * steps * lanes + first * lanes + i];
          begin[i] = std::max(begin[i], own[i]);
        }
      }
      for (size_t step = 0; meeting.across_replicas && step < count; ++step) {
        const auto of_step = begin.begin() + static_cast<std::ptrdiff_t>(step * lanes);
        std::fill_n(of_step, lanes,
                    *std::max_element(of_step, of_step + static_cast<std::ptrdiff_t>(lanes)));
      }
      for (uint32_t op : meeting.ops) {
        for (size_t i = 0; i < width; ++i)
          ends[op * width + i] = begin[i] + weight(op, first + i / lanes, i % lanes);
      }
    }
    for (uint32_t op : graph.last) {
      for (size_t i = 0; i < width; ++i)
        times[first + i / lanes] = std::max(times[first + i / lanes], ends[op * width + i]);
    }
  }
  return times;
}

}  // namespace debrief::analyses::what_if
