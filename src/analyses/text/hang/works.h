// The works that watchdogs gave up, by group: what each rank says it was waiting for.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/text/hang/talk.h"

namespace debrief::analyses::text_hang {

// The oldest work of one rank in one group that ran into its time limit.
struct Work {
  int32_t rank = kNone32;
  size_t row = 0;  // of text_event
  int64_t seq = kNone64;
  std::string_view op;
  int64_t elements_in = kNone64;
  int64_t elements_out = kNone64;
  int64_t last_enqueued = kNone64;
  int64_t last_completed = kNone64;
  int64_t start_ns = kNone64;  // when it began to wait
};

struct GroupWorks {
  std::string_view name;    // as the job numbers it
  std::string_view desc;    // what people call it
  std::vector<Work> works;  // by rank
};

// In order of description and name; groups without a name are left out.
std::vector<GroupWorks> CollectWorks(const Model& model, const Talk& talk);

// "all_reduce 16 of mesh_dp"; of a group without description "all_reduce 16 of group 8".
std::string WorkInWords(const GroupWorks& group, const Work& work);

// As other analyses spell it: ALLREDUCE is all_reduce.
std::string OpInWords(std::string_view op);

// The group as a finding names it; its ranks are those that speak of it.
GroupRef ToRef(const GroupWorks& group);

}  // namespace debrief::analyses::text_hang
