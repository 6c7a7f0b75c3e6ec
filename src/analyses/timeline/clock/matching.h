// The collectives of one group, a lane for each rank: what has to be matched.
//
//   group mesh_dp [4, 6]    rank 4   ar ar ag | ar ar ag | ...
//                           rank 6      ar ag | ar ar ag | ...      began to record one later
//
// Sends and receives belong to a channel from one rank to another, so that the n-th send is the
// n-th receive.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "tables/profile_collective.h"

namespace debrief::analyses::timeline_clock {

// One rank of a job. Several files of one rank share its clock.
struct Node {
  int32_t rank = kNone32;
  std::vector<int32_t> inputs;
};

struct Lane {
  size_t node = 0;             // in Job::nodes
  std::vector<size_t> rows;    // of profile_collective, in the order in which they were issued
  std::vector<int64_t> slots;  // beside rows: equal ones belong together; kNone64 when not known
};

struct Group {
  std::vector<Lane> lanes;
};

struct Job {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::vector<Node> nodes;  // by rank; a timeline without a rank is a node of its own
  std::vector<Group> groups;
};

std::vector<Job> FindJobs(const Model& model);

inline int64_t EndOf(const ProfileCollectiveTable& table, size_t row) {
  return table.start_ns[row] + table.duration_ns[row];
}

// Which collective of one rank is which of another.
//
// By the sequence number where every lane of a group tells it. Otherwise by order, and since
// recordings may begin at different collectives, by the shift of the order under which ops and
// sizes agree; several shifts agree when a step repeats itself, and then under the right one the
// distance of ends, which is that of the clocks, stays the same, and steps of the same number meet.
//
// Cost: a lane is compared with the longest under 258 shifts at most, at 128 places each.

// The collectives that several ranks show.
struct Presence {
  size_t node = 0;
  size_t row = 0;  // of profile_collective
};

struct Match {
  size_t group = 0;
  int64_t slot = 0;
  bool synchronises = false;
  bool on_device = false;
  std::vector<Presence> present;  // by node; two or more
};

// In order of group and slot. What disagrees about the op is left out: it cannot be compared.
std::vector<Match> FindMatches(const Model& model, const Job& job);

// Gives slots to all lanes.
void MatchLanes(const Model& model, Group& group);

}  // namespace debrief::analyses::timeline_clock
