// The entries of one dump as kernels run them: a batch of sends and receives is one.
//
//   send 0->1  recv 0<-1  coalesced     -->  one unit, at the first entry
//   all_reduce                          -->  one unit
//   all_gather all_gather coalesced     -->  one unit (they share a sequence number)
//
// Cost: one pass over the entries.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/timeline/view.h"
#include "tables/comm_op.h"

namespace debrief::analyses::join_collectives {

struct Unit {
  size_t row = 0;  // of comm_op: its first entry
  int64_t created_ns = 0;
  int64_t seq = kNone64;
  int32_t op = 0;  // OpClassOf
  bool p2p = false;
};

// In order of issue, by name of the group.
using UnitsByGroup = std::map<StringId, std::vector<Unit>>;
UnitsByGroup UnitsOf(const Model& model, timeline::RowRange rows);

// Ops that one kernel may stand for have one number: a barrier is an all_reduce, and what NCCL does
// with sends and receives (all_to_all, gather, scatter) is a SendRecv kernel. 0: not known.
int32_t OpClassOf(std::string_view op);

// Sends and receives are numbered by themselves.
bool IsTransfer(std::string_view op);

}  // namespace debrief::analyses::join_collectives
