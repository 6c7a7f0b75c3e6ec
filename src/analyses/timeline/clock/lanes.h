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
  std::vector<size_t> rows;    // of profile_collective, in order of time
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

// No member can end such an op before all have begun it.
bool Synchronises(std::string_view op);

// The same, or the two ends of a channel.
inline bool OpsAgree(const Model& model, StringId a, StringId b) {
  auto is_end = [&](StringId op) {
    return model.pools.Text(op) == "send" || model.pools.Text(op) == "recv";
  };
  return a == b || (is_end(a) && is_end(b));
}

inline int64_t EndOf(const ProfileCollectiveTable& table, size_t row) {
  return table.start_ns[row] + table.duration_ns[row];
}

}  // namespace debrief::analyses::timeline_clock
