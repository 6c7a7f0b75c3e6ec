// A part of the device time on each rank of a job, for findings that speak of all ranks at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace debrief::timeline {

// Less than a tenth of a second of device time is a few steps of a small model: too little to judge
// a job by. Less than a second may still be start-up: worth telling, no reason to warn.
inline constexpr int64_t kShortestToTellNs = 100'000'000;
inline constexpr int64_t kShortestToWarnNs = 1'000'000'000;

struct RankShare {
  Identity who;
  int64_t part_ns = 0;
  int64_t whole_ns = 0;
  int64_t row = 0;  // that tells it, in the table that the finding cites

  double fraction() const {
    return whole_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
  }
};

// All ranks of one attempt of one job, the largest fraction first.
struct JobShares {
  std::vector<RankShare> ranks;

  const RankShare& worst() const { return ranks.front(); }
  int64_t part_ns() const;
  int64_t whole_ns() const;

  // A warning from that fraction of the worst rank on.
  Severity SeverityFrom(double warn) const {
    return worst().fraction() >= warn && worst().whole_ns >= kShortestToWarnNs ? Severity::kWarning
                                                                               : Severity::kInfo;
  }

  // Numbers of the ranks whose fraction is `at_least`, sorted. None when that is most of them: then
  // it is the job, and no rank, that is so.
  std::vector<int32_t> RanksToBlame(double at_least) const;

  // "31 % of the time"; of several ranks that of the worst: "31 % of the time on rank 3".
  std::string ShareInWords() const;
  // "412 ms of 1.30 s" of the worst.
  std::string AmountInWords() const;
  // Both: "31 % of the time (412 ms of 1.30 s)".
  std::string InWords() const;
  // "22 % over all 8 timelines (1.70 s of 7.70 s)"; empty where there is one.
  std::string OverallInWords() const;
};

// In order of job and attempt. Ranks that were recorded for less than kShortestToTellNs are left
// out.
std::vector<JobShares> SharesByJob(const std::vector<RankShare>& shares);

}  // namespace debrief::timeline
