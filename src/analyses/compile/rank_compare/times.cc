#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analyses/compile/rank_compare/rank_compare.h"
#include "tables/compile_overlap.h"
#include "tables/compile_phase.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

constexpr size_t kMostSets = 64;

struct Step {
  int64_t ns;
  int32_t rank;
  bool begins;
};

struct Set {
  double seconds = 0;
  int64_t intervals = 0;
  std::vector<int32_t> ranks;
};

// The numbers of splitmix64: a set is the exclusive or of its ranks' numbers.
uint64_t NumberOf(int32_t rank) {
  uint64_t x = static_cast<uint64_t>(rank) + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// `to` is not before `from`.
double SecondsBetween(int64_t from, int64_t to) {
  return static_cast<double>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from)) / 1e9;
}

class Sweep {
 public:
  Sweep(const Job& job, const Intervals& intervals) : job_(job) {
    for (const auto& [rank, of_rank] : intervals) {
      for (const Interval& interval : of_rank) {
        steps_.push_back({interval.begin, rank, true});
        steps_.push_back({interval.end, rank, false});
      }
    }
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return std::tie(a.ns, a.begins, a.rank) < std::tie(b.ns, b.begins, b.rank);
    });
  }

  // Times of each rank: alone, and while others do not compile.
  std::map<int32_t, std::pair<double, double>> Run() {
    std::map<int32_t, std::pair<double, double>> of_rank;
    double alone = 0, partly = 0;  // so far, whoever it was
    size_t active = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const double passed = i == 0 ? 0 : SecondsBetween(steps_[i - 1].ns, steps_[i].ns);
      if (active == 1) alone += passed;
      if (active > 0 && active < job_.ranks.size()) partly += passed;
      if (active > 0 && active < job_.ranks.size() && passed > 0) Count(passed);
      auto& [rank_alone, rank_partly] = of_rank[steps_[i].rank];
      const double sign = steps_[i].begins ? -1 : 1;
      rank_alone += sign * alone;
      rank_partly += sign * partly;
      active += steps_[i].begins ? 1 : static_cast<size_t>(-1);
      hash_ ^= NumberOf(steps_[i].rank);
    }
    return of_rank;
  }

  // The sets with most seconds, in that order.
  std::vector<Set> Largest() {
    std::vector<std::pair<uint64_t, Set>> sets(sets_.begin(), sets_.end());
    const size_t count = std::min(sets.size(), kMostSets);
    std::partial_sort(sets.begin(), sets.begin() + static_cast<ptrdiff_t>(count), sets.end(),
                      [](const auto& a, const auto& b) {
                        return std::pair(-a.second.seconds, a.first) <
                               std::pair(-b.second.seconds, b.first);
                      });
    sets.resize(count);
    SpellOut(sets);
    std::vector<Set> largest;
    for (auto& [hash, set] : sets) largest.push_back(std::move(set));
    return largest;
  }

 private:
  void Count(double seconds) {
    Set& set = sets_[hash_];
    set.seconds += seconds;
    ++set.intervals;
  }

  void SpellOut(std::vector<std::pair<uint64_t, Set>>& sets) const {
    std::unordered_map<uint64_t, Set*> wanted;
    for (auto& [hash, set] : sets) wanted.emplace(hash, &set);
    std::set<int32_t> active;
    uint64_t hash = 0;
    for (const Step& step : steps_) {
      step.begins ? static_cast<void>(active.insert(step.rank))
                  : static_cast<void>(active.erase(step.rank));
      hash ^= NumberOf(step.rank);
      auto found = wanted.find(hash);
      if (found == wanted.end() || !found->second->ranks.empty()) continue;
      found->second->ranks.assign(active.begin(), active.end());
    }
  }

  const Job& job_;
  std::vector<Step> steps_;
  std::unordered_map<uint64_t, Set> sets_;
  uint64_t hash_ = 0;
};

void AddSets(const Job& job, const std::vector<Set>& sets, Part& part) {
  for (const Set& set : sets) {
    CompileOverlapRow row;
    row.job = job.job;
    row.attempt = job.attempt;
    row.ranks = InternRanks(set.ranks, part);
    row.waiting = static_cast<int32_t>(job.ranks.size() - set.ranks.size());
    row.seconds = set.seconds;
    row.intervals = set.intervals;
    part.tables.Edit<CompileOverlapTable>().Add(row);
  }
}

}  // namespace

Intervals FindIntervals(const Model& model, const Job& job) {
  const auto& phases = model.tables.Get<CompilePhaseTable>();
  const auto& spans = model.tables.Get<CompileSpanTable>();
  Intervals intervals;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases.depth[i] != 0 || phases.job[i] != job.job || phases.attempt[i] != job.attempt)
      continue;
    if (phases.rank[i] != kNone32)
      intervals[phases.rank[i]].push_back({phases.start_ns[i], phases.end_ns[i]});
  }
  for (const auto& [rank, rows] : job.spans) {
    if (intervals.contains(rank)) continue;
    for (size_t row : rows) {
      if (spans.start_ns[row] != kNone64 && spans.end_ns[row] >= spans.start_ns[row])
        intervals[rank].push_back({spans.start_ns[row], spans.end_ns[row]});
    }
  }
  for (auto& [rank, of_rank] : intervals) of_rank = Union(std::move(of_rank));
  return intervals;
}

void AddTimes(const Model& model, const Job& job, Part& part) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  Sweep sweep(job, FindIntervals(model, job));
  auto waits = sweep.Run();
  std::vector<CompileRankTimeRow> rows;
  double slowest = 0;
  for (int32_t rank : job.ranks) {
    auto row =
        Part::RowOf<CompileRankTimeRow>({.job = job.job, .attempt = job.attempt, .rank = rank});
    row.compilations = 0;
    row.seconds = 0;
    if (auto found = job.spans.find(rank); found != job.spans.end()) {
      row.compilations = static_cast<int64_t>(found->second.size());
      for (size_t span : found->second) {
        if (std::isfinite(spans.seconds[span])) row.seconds += spans.seconds[span];
      }
    }
    std::tie(row.alone_s, row.while_others_idle_s) = waits[rank];
    slowest = std::max(slowest, row.seconds);
    rows.push_back(row);
  }
  for (CompileRankTimeRow& row : rows) {
    row.share_of_slowest = slowest > 0 ? row.seconds / slowest : kNoDouble;
    part.tables.Edit<CompileRankTimeTable>().Add(row);
  }
  AddSets(job, sweep.Largest(), part);
}

}  // namespace debrief::analyses::compile_rank_compare
