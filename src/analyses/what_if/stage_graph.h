// What waits for what in a job of pipeline stages: built once, from one lane, and true for all.
//
// A meeting is ops that begin together: one local op alone, a send and its receive, the ops of all
// replicas. Meetings in an order in which every op comes behind those it waits for are the graph;
// replaying it is one pass (replay.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/what_if/stage_job.h"

namespace debrief::analyses::what_if {

struct Meeting {
  std::vector<uint32_t> ops;
  bool across_replicas = false;  // the same ops of all replicas are members, too
};

struct StageGraph {
  std::vector<Meeting> meetings;                 // in an order that keeps all dependencies
  std::vector<std::vector<uint32_t>> waits_for;  // by op
  std::vector<uint32_t> last;                    // ops whose ends are the end of the step
  std::vector<bool> meets;                       // by op: it waits for others before it moves data
  size_t odd_lanes = 0;                          // whose ops come in another order
};

// None, with the reason, when ops wait for each other in a circle or have no other end.
std::optional<StageGraph> BuildStageGraph(const StageJob& job, std::string& why_not);

}  // namespace debrief::analyses::what_if
