// What changes to a job would gain, from the profiles of its ranks.
//
//   rank         no moment of it takes longer than on the other ranks, and it does nothing that
//   most
//                of them do not
//   all          the same for all ranks
//   collective   transfers of one kind take what the fastest of their size took
//   link         all transfers take half as long
//   set          what the user asks for, all at once
//   data, compile  the host does not load data, does not compile
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/what_if/profile_graph.h"
#include "analyses/what_if/settings.h"

namespace debrief::analyses::what_if {

struct ProfileChange {
  std::string_view kind;
  std::string name;
  int32_t rank = kNone32;
  double step_ns = 0;
};

struct ProfileGains {
  std::vector<int64_t> steps;                      // labels of those that count
  std::vector<double> recorded_ns, replayed_ns;    // by step, mean over ranks
  double recorded = 0, replayed = 0, typical = 0;  // means over the steps
  double replay_error = 0;
  size_t steps_left_out = 0;
  std::vector<ProfileChange> changes;
  int32_t worst_rank = kNone32;  // whose change gains most
  double worst_gain = 0;         // of that, ns
  double next_gain = 0;          // of the next rank
};

ProfileGains FindGains(const Model& model, const ProfileGraph& graph,
                       const std::vector<Setting>& settings = {});

}  // namespace debrief::analyses::what_if
