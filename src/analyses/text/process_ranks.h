// Which rank a process is, where one input names both: py-spy and NCCL RAS know processes alone.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "model/model.h"

namespace debrief::analyses {

class ProcessRanks {
 public:
  // From stacks, answers of RAS, how launchers say that processes ended and what NCCL prints.
  explicit ProcessRanks(const Model& model);

  // kNone32 when nobody tells, or when processes of several hosts have that number.
  int32_t RankOf(int32_t job, int32_t attempt, int64_t pid) const;

 private:
  void Add(int32_t job, int32_t attempt, int64_t pid, int32_t rank);

  std::map<std::tuple<int32_t, int32_t, int64_t>, int32_t> ranks_;
};

}  // namespace debrief::analyses
