// Where each collective stands on the timeline: process, track, from when to when.
//
// A process is a rank, a track a group of that rank. The boxes of one track must not overlap, since
// viewers take partly overlapping boxes for broken input, and a rank usually issues the next
// collectives of a group before the first is done. So a group has lanes: each op goes to the first
// lane that is free when it is issued. A hung rank may have 2000 ops in flight; beyond kMostLanes
// an op goes where room comes first, and its box begins there (its true time stays in args).
//
// Cost: one pass, and one sort by track and time.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "model/model.h"

namespace debrief::outputs::flight_timeline {

inline constexpr int32_t kMostLanes = 16;

struct Process {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  int32_t rank = kNone32;
  int64_t newest_ns = kNone64;  // newest time of its dump: until then an open op has lasted
  auto Key() const { return std::tie(job, attempt, rank); }
};

struct Group {
  size_t process = 0;
  size_t op_row = 0;  // an op of it, which has its name and members
  int32_t number = 0;
  int32_t lanes = 0;
};

struct Box {
  size_t op_row = 0;
  size_t group = 0;
  int32_t lane = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct Layout {
  std::vector<Process> processes;
  std::vector<Group> groups;
  std::vector<Box> boxes;  // by group, then time
  int64_t base_ns = 0;     // the earliest time
  size_t untimed = 0;      // ops without a time, which have no box
};

Layout MakeLayout(const Model& model);

}  // namespace debrief::outputs::flight_timeline
