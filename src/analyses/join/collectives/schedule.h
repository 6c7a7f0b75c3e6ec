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
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::join_collectives {

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

}  // namespace debrief::analyses::join_collectives
