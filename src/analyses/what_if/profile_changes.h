// What changes to a job would gain, from the profiles of its ranks.
//
//   rank           no moment of it takes longer than on the other ranks, and it does nothing that
//                  most of them do not; rank_part: only its hosts, only its kernels
//   all            the same for all ranks; type: of hosts, kernels, copies, one kernel; transfers
//   at
//                  their wire time
//   even           ranks of a step compute as long as each other
//   stage          a pipeline stage, or all of them, compute as long as the mean of the stages
//   collective     transfers of one kind take what the fastest of their size took
//   link           all transfers take half as long
//   overlap        transfers are hidden by computing, as far as there is time
//   host           hosts take no time; sync: they do not wait for their devices
//   data, compile, allocation   hosts do not load data, compile, allocate device memory
//   set            what the user asks for, all at once
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/what_if/profile_edits.h"
#include "analyses/what_if/profile_graph.h"
#include "analyses/what_if/settings.h"

namespace debrief::analyses::what_if {

struct ProfileChange {
  std::string_view kind;
  std::string name;
  double step_ns = 0;
  int32_t rank = kNone32;
  int32_t stage = kNone32;
  std::string_view part = {};   // of rank_part: host, kernels
  double slowdown = kNoDouble;  // of a job in which all but this part is typical
};

struct ProfileGains {
  std::vector<int64_t> steps;                      // labels of those that count
  std::vector<double> recorded_ns, replayed_ns;    // by step, mean over ranks
  double recorded = 0, replayed = 0, typical = 0;  // means over the steps
  double replay_error = 0;
  size_t steps_left_out = 0;
  size_t stages = 0;  // of its pipeline; 0: none
  std::vector<ProfileChange> changes;
  int32_t worst_rank = kNone32;        // whose change gains most
  double worst_gain = 0;               // of that, ns
  double next_gain = 0;                // of the next rank
  double even_gain = 0;                // of change `even`
  double stages_gain = 0;              // of even stages
  int32_t longest_stage = kNone32;     // whose ranks compute longest
  double longest_by = 1;               // times what those of the next one do
  std::vector<int32_t> longest_ranks;  // its ranks
  ProfileEdits::Variation variation;
};

// `views`: those that the graph was built from.
ProfileGains FindGains(const Model& model, const std::vector<timeline::TimelineView>& views,
                       const ProfileGraph& graph, const std::vector<Setting>& settings = {});

}  // namespace debrief::analyses::what_if
