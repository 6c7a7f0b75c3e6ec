// What steps would gain without a cause of lost time: from replays of the job (what_if_change).
//
// Waiting adds up over ranks; what a job gains does not. Eight ranks that wait 50 ms each for one
// lose 400 ms and gain 50 ms a step at most, and nothing where something else is waited for next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyses/cost/division.h"
#include "model/model.h"

namespace debrief::analyses::cost {

struct FixKey;
struct Fix;

// The replays of one attempt of one job.
class ReplayedGains {
 public:
  ReplayedGains(const Model& model, int32_t job, int32_t attempt);

  bool exists() const { return steps_ > 0; }
  int64_t steps() const { return steps_; }
  int64_t step_ns() const { return step_ns_; }
  size_t ranks() const { return ranks_; }

  // The least that a step would gain if one of the replayed ranks were like the others: ranks that
  // were not replayed have less beyond the others than those.
  int64_t LeastOfRanks() const { return least_of_ranks_; }

  // A step would be shorter by that; none where no replay tells.
  std::optional<int64_t> GainOf(const FixKey& key) const;

 private:
  std::optional<int64_t> OfRank(const FixKey& key) const;

  int64_t steps_ = 0, step_ns_ = 0, least_of_ranks_ = 0;
  size_t ranks_ = 0;
  std::map<std::string_view, int64_t> by_kind_;
  std::map<std::pair<int32_t, std::string_view>, int64_t> by_rank_;  // rank and part
};

}  // namespace debrief::analyses::cost
