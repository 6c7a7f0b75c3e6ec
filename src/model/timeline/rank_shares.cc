#include "model/timeline/rank_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text/units.h"

namespace debrief::timeline {

int64_t JobShares::part_ns() const {
  int64_t sum = 0;
  for (const RankShare& share : ranks) sum += share.part_ns;
  return sum;
}

int64_t JobShares::whole_ns() const {
  int64_t sum = 0;
  for (const RankShare& share : ranks) sum += share.whole_ns;
  return sum;
}

std::vector<int32_t> JobShares::RanksToBlame(double at_least) const {
  std::vector<int32_t> numbers;
  for (const RankShare& share : ranks) {
    if (share.who.rank != kNone32 && share.fraction() >= at_least)
      numbers.push_back(share.who.rank);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (ranks.size() > 1 && numbers.size() * 2 > ranks.size()) numbers.clear();
  return numbers;
}

std::string JobShares::ShareInWords() const {
  std::string share = fmt::format("{:.0f} % of the time", 100 * worst().fraction());
  if (ranks.size() == 1) return share;
  return share + (worst().who.rank == kNone32 ? " on the worst timeline"
                                              : fmt::format(" on rank {}", worst().who.rank));
}

std::string JobShares::AmountInWords() const {
  return fmt::format("{} of {}", DurationText(worst().part_ns), DurationText(worst().whole_ns));
}

std::string JobShares::InWords() const {
  return fmt::format("{} ({})", ShareInWords(), AmountInWords());
}

std::string JobShares::OverallInWords() const {
  if (ranks.size() == 1) return "";
  return fmt::format("{:.0f} % over all {} timelines ({} of {})",
                     100 * static_cast<double>(part_ns()) / static_cast<double>(whole_ns()),
                     ranks.size(), DurationText(part_ns()), DurationText(whole_ns()));
}

std::vector<JobShares> SharesByJob(const std::vector<RankShare>& shares) {
  std::map<std::pair<int32_t, int32_t>, JobShares> jobs;
  for (const RankShare& share : shares) {
    if (share.whole_ns >= kShortestToTellNs)
      jobs[{share.who.job, share.who.attempt}].ranks.push_back(share);
  }
  std::vector<JobShares> result;
  for (auto& [key, job] : jobs) {
    std::stable_sort(job.ranks.begin(), job.ranks.end(),
                     [](const auto& a, const auto& b) { return a.fraction() > b.fraction(); });
    result.push_back(std::move(job));
  }
  return result;
}

}  // namespace debrief::timeline
