#include "analyses/text/stacks/judgement.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace debrief::analyses::text_stacks {

namespace {

using Positions = std::vector<size_t>;

constexpr int kAlsoWaits = 5;  // for other ranks, like its peers
constexpr int kForDevice = 6;  // says nothing: a device waits for whatever was given to it

// How much it says against a process that it is found so while others wait; 0 is most.
int TierOf(const Stand& stand) {
  if (!stand.error.empty()) return 0;
  switch (stand.doing) {
    case Doing::kWork:
      return 1;
    case Doing::kCall:
      return 2;
    case Doing::kDevice:
      return 3;
    case Doing::kStartUp:
      return 4;
    case Doing::kWait:
      return kAlsoWaits;
    default:
      return kForDevice;
  }
}

bool WaitsBySight(const Stand& stand) {
  return stand.error.empty() && (stand.doing == Doing::kWait || stand.doing == Doing::kSync);
}

class Judging {
 public:
  explicit Judging(const Series& series) : processes_(series.processes) {
    for (size_t i = 0; i < processes_.size(); ++i) {
      const Stand& last = Last(i);
      bool shows = last.doing != Doing::kNothing && last.doing != Doing::kHelper;
      if (shows || !last.error.empty()) known_.push_back(i);
    }
  }

  Judgement Judge() {
    Judgement result;
    result.known = known_.size();
    if (known_.size() < 2 || !FindWaiters(result)) return result;
    Positions rest = Without(known_, result.waiters);
    if (rest.empty()) {
      FindDifferent(result);
    } else {
      ChooseSuspects(rest, result);
    }
    result.still = StillnessOf(result);
    // Between two dumps somebody moved: it is slow at most, not stuck.
    bool has_two = std::all_of(known_.begin(), known_.end(),
                               [&](size_t i) { return processes_[i].stands.size() > 1; });
    bool starts_up = std::any_of(result.suspects.begin(), result.suspects.end(), [&](size_t i) {
      return Last(i).doing == Doing::kStartUp && Last(i).error.empty();
    });
    bool weak = starts_up || result.outcome == Outcome::kDiverges;
    if (result.still < 2 && (has_two || weak)) result.outcome = Outcome::kNobody;
    return result;
  }

 private:
  const Stand& Last(size_t i) const { return processes_[i].last(); }

  static Positions Without(const Positions& all, const Positions& some) {
    Positions rest;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
    return rest;
  }

  // Half of them wait, by their stacks; else more than half stand in one line; else three of four
  // stay in lines of their own (the stages of a pipeline).
  bool FindWaiters(Judgement& result) const {
    Positions waiters;
    for (size_t i : known_) {
      if (WaitsBySight(Last(i))) waiters.push_back(i);
    }
    result.seen = waiters.size() * 2 >= known_.size();
    if (!result.seen) waiters = LargestCluster();
    result.waiters = std::move(waiters);
    if (result.seen || result.waiters.size() * 2 > known_.size()) return true;
    result.waiters = ThoseWhoStay();
    return result.waiters.size() * 4 >= known_.size() * 3;
  }

  Positions ThoseWhoStay() const {
    Positions stay;
    for (size_t i : known_) {
      if (TierOf(Last(i)) >= 2 && Last(i).doing != Doing::kStartUp && processes_[i].still() > 1)
        stay.push_back(i);
    }
    return stay;
  }

  Positions LargestCluster() const {
    std::map<std::string_view, Positions> clusters;
    for (size_t i : known_) {
      bool may_wait = Last(i).error.empty() &&
                      (Last(i).doing == Doing::kCall || Last(i).doing == Doing::kDevice);
      if (may_wait) clusters[Last(i).key].push_back(i);
    }
    Positions largest;
    for (auto& [key, members] : clusters) {
      if (members.size() > largest.size()) largest = members;
    }
    return largest;
  }

  // All wait. Where all but one stand in the same place, that one went another way.
  void FindDifferent(Judgement& result) const {
    result.outcome = Outcome::kAllWait;
    std::map<std::string_view, Positions> clusters;
    for (size_t i : result.waiters) clusters[Last(i).key].push_back(i);
    if (clusters.size() != 2 || result.waiters.size() < 3) return;
    for (const auto& [key, members] : clusters) {
      if (members.size() == 1 && Last(members[0]).doing == Doing::kWait) result.suspects = members;
    }
    if (result.suspects.empty()) return;
    result.waiters = Without(result.waiters, result.suspects);
    result.outcome = Outcome::kDiverges;
  }

  void ChooseSuspects(const Positions& rest, Judgement& result) const {
    int tier = kForDevice;
    for (size_t i : rest) tier = std::min(tier, TierOf(Last(i)));
    for (size_t i : rest) {
      if (TierOf(Last(i)) == tier) result.suspects.push_back(i);
    }
    bool waits = tier >= kAlsoWaits;
    if (tier == kForDevice || (waits && (rest.size() > 1 || known_.size() < 3))) {
      result.suspects.clear();
      result.outcome = Outcome::kAllWait;
      return;
    }
    Narrow(result.suspects);
    bool few = result.seen ? result.suspects.size() <= result.waiters.size()
                           : result.suspects.size() < result.waiters.size();
    if (!few) {
      result.suspects.clear();
      return;
    }
    result.outcome = waits ? Outcome::kDiverges : tier == 0 ? Outcome::kNoAnswer : Outcome::kAlone;
  }

  // Of several the ones that stay where they are, and of those the smallest cluster.
  void Narrow(Positions& suspects) const {
    bool some_stay = std::any_of(suspects.begin(), suspects.end(),
                                 [&](size_t i) { return processes_[i].still() > 1; });
    if (some_stay) std::erase_if(suspects, [&](size_t i) { return processes_[i].still() < 2; });
    std::map<std::string_view, Positions> clusters;
    for (size_t i : suspects) clusters[Last(i).key].push_back(i);
    size_t least = SIZE_MAX;
    for (const auto& [key, members] : clusters) least = std::min(least, members.size());
    std::erase_if(suspects, [&](size_t i) { return clusters[Last(i).key].size() > least; });
  }

  // All suspects and at least half of those who wait.
  size_t StillnessOf(const Judgement& result) const {
    std::vector<size_t> waits;
    for (size_t i : result.waiters) waits.push_back(processes_[i].still());
    std::sort(waits.rbegin(), waits.rend());
    size_t still = waits[(waits.size() - 1) / 2];
    for (size_t i : result.suspects) still = std::min(still, processes_[i].still());
    return still;
  }

  const std::vector<History>& processes_;
  Positions known_;
};

}  // namespace

Judgement Judge(const Series& series) { return Judging(series).Judge(); }

}  // namespace debrief::analyses::text_stacks
