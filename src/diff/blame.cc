// Who made steps longer or shorter, in words.
//
// Only what a rank does itself can be to blame: its host, its data loader, its compiler, its GPU.
// Ranks that wait are never to blame. Where no rank's own work changed, communication is.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "diff/run_diff.h"
#include "diff/steps.h"

namespace debrief::diff {

namespace {

constexpr StepPart kOwnWork[] = {StepPart::kHost, StepPart::kData, StepPart::kCompile,
                                 StepPart::kGpu};
constexpr StepPart kShared[] = {StepPart::kCommunication, StepPart::kWaiting, StepPart::kStill};

// Where steps changed, what changed the other way is no reason.
bool CanBeReason(const Change& change, const Change& total) {
  if (!change.is_real) return false;
  return !total.is_real || (change.difference() > 0) == (total.difference() > 0);
}

struct Candidate {
  int32_t rank = kNone32;
  StepPart part = StepPart::kHost;
  Change change;
};

std::optional<Candidate> LargestOwn(const StepDiff& diff) {
  std::optional<Candidate> best;
  for (const auto& [rank, change] : diff.ranks) {
    for (StepPart part : kOwnWork) {
      if (!CanBeReason(change[part], diff.job.total)) continue;
      if (!best || std::abs(change[part].difference()) > std::abs(best->change.difference()))
        best = {rank, part, change[part]};
    }
  }
  return best;
}

// Ranks whose same part changed the same way, at least half as much.
std::vector<int32_t> AlikeRanks(const StepDiff& diff, const Candidate& worst) {
  std::vector<int32_t> alike;
  for (const auto& [rank, change] : diff.ranks) {
    const Change& own = change[worst.part];
    const bool same_way = (own.difference() > 0) == (worst.change.difference() > 0);
    if (own.is_real && same_way &&
        2 * std::abs(own.difference()) >= std::abs(worst.change.difference()))
      alike.push_back(rank);
  }
  return alike;
}

int64_t OthersWait(const StepDiff& diff, const std::vector<int32_t>& blamed) {
  std::vector<int64_t> waits;
  for (const auto& [rank, change] : diff.ranks) {
    if (std::find(blamed.begin(), blamed.end(), rank) == blamed.end())
      waits.push_back(change[StepPart::kWaiting].difference());
  }
  return Mean(waits);
}

std::optional<Blame> BlameShared(const StepDiff& diff) {
  std::optional<Blame> blame;
  for (StepPart part : kShared) {
    const Change& change = diff.job[part];
    if (!diff.job.total.is_real || !CanBeReason(change, diff.job.total)) continue;
    if (!blame || std::abs(change.difference()) > std::abs(blame->change.difference()))
      blame = Blame{.part = part, .ranks = {}, .change = change};
  }
  return blame;
}

// "the host of rank 6", "communication".
std::string WhoInWords(const Blame& blame) {
  const bool is_thing = blame.part == StepPart::kHost || blame.part == StepPart::kGpu;
  std::string whose;
  if (!blame.ranks.empty()) whose = fmt::format(" of {}", RanksInWords(blame.ranks));
  return fmt::format("{}{}{}", is_thing ? "the " : "", PartInWords(blame.part), whose);
}

std::string LongerOrLess(int64_t difference) {
  return fmt::format("{} {}", DurationText(std::abs(difference)),
                     difference > 0 ? "longer" : "less");
}

}  // namespace

std::optional<Blame> FindBlame(const StepDiff& diff) {
  const std::optional<Candidate> worst = LargestOwn(diff);
  if (!worst) return BlameShared(diff);
  Blame blame{.part = worst->part, .ranks = AlikeRanks(diff, *worst), .change = worst->change};
  const bool is_everyone = blame.ranks.size() * 2 > diff.ranks.size();
  if (is_everyone) blame.ranks.clear();
  if (is_everyone && diff.ranks.size() > 1) blame.change = diff.job[worst->part];
  if (!is_everyone) blame.others_wait_ns = OthersWait(diff, blame.ranks);
  return blame;
}

std::string StepHeadline(const StepDiff& diff) {
  const Change& total = diff.job.total;
  const bool same_way = diff.blame && total.difference() != 0 &&
                        (diff.blame->change.difference() > 0) == (total.difference() > 0);
  if (diff.blame && !same_way) {
    return fmt::format("Steps take as long, within noise, though {} takes {} per step",
                       WhoInWords(*diff.blame), LongerOrLess(diff.blame->change.difference()));
  }
  std::string line = fmt::format("Steps take {} ({}{})", LongerOrLess(total.difference()),
                                 PercentText(total), total.is_real ? "" : ", within noise");
  if (!diff.blame) return line;
  return line + fmt::format(", because of {} ({} per step)", WhoInWords(*diff.blame),
                            SignedText(diff.blame->change.difference(), Unit::kNanoseconds));
}

}  // namespace debrief::diff
