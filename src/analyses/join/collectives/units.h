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
#include <tuple>
#include <vector>

#include "model/model.h"
#include "model/timeline/view.h"
#include "tables/comm_op.h"

namespace debrief::analyses::join_collectives {

// Which place of the compile-time schedule a collective of a profile has.
//
// Inductor logs for each graph the collectives in the order in which its code issues them. A
// profile shows each call of a graph, so the collectives inside of one call, in their order, are a
// schedule of the compilation whose ops are the same ones.
//
//   ## Call CompiledFxGraph f... ## [ all_gather, reduce_scatter ]   1/0: [all_gather_..,
//   reduce_..]
//
// Forward and backward of a compilation have a schedule each; where both look alike nobody can
// tell.

// One collective that compiled code issued.
struct CompiledCall {
  int32_t op = 0;                // OpClassOf
  int64_t entry = kNone64;       // of compile_collective; null when not told
  int32_t position = kNone32;    // likewise
  std::string_view reason = {};  // why it is not told
};

class Schedules {
 public:
  explicit Schedules(const Model& model);

  // Fills the places of what one call of a graph issued on a rank, in order. The id is the model's.
  void Place(const Identity& who, StringId compile_id, std::vector<CompiledCall*>& calls) const;

 private:
  struct Schedule {
    int64_t entry = kNone64;
    std::vector<int32_t> ops;        // what communicates
    std::vector<int32_t> positions;  // beside ops
  };

  using Key = std::tuple<int32_t, int32_t, int32_t, StringId>;  // job, attempt, rank, compile id
  std::map<Key, std::vector<Schedule>> of_compilation_;
};

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
