// What one rank of a job lost and made others lose: rows of cost_rank.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyses/cost/blame.h"
#include "analyses/cost/division.h"

namespace debrief::analyses::cost {

struct RankSums {
  bool by_device = false;
  bool from_steps = false;
  int64_t windows = 0;
  StateTimes times;
  int64_t caused_ns = 0;
  int64_t region_ns = 0;
  int64_t compiled_gpu_ns = 0;
};

using JobKey = std::pair<int32_t, int32_t>;  // job, attempt

std::map<RankKey, RankSums> SumRanks(const Model& model, const std::vector<Division>& divisions,
                                     const std::vector<WaitBlame>& blames);

std::map<JobKey, int64_t> LostOfJobs(const std::map<RankKey, RankSums>& ranks);

void AddRankRows(const std::map<RankKey, RankSums>& ranks, Part& part);

}  // namespace debrief::analyses::cost
