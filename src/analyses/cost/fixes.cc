#include "analyses/cost/fixes.h"

#include <algorithm>
#include <tuple>

#include "base/stats/statistics.h"
#include "model/compile/frames.h"
#include "tables/cost_fix.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::cost {

namespace {

constexpr size_t kStepsToCompare = 3;

template <typename Map>
typename Map::key_type LargestOf(const Map& map, typename Map::key_type none) {
  int64_t most = kNone64;
  for (const auto& [key, ns] : map) {
    if (ns > most) none = key, most = ns;
  }
  return none;
}

class Collector {
 public:
  Collector(const Model& model, const Regions& regions, const CompileTimes& compiling)
      : model_(model), regions_(regions), compiling_(compiling) {}

  void AddWaits(const std::vector<WaitBlame>& blames) {
    const auto& waits = model_.tables.Get<ProfileCollectiveWaitTable>();
    const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
    for (size_t row = 0; row < blames.size(); ++row) {
      auto match = static_cast<size_t>(waits.match[row]);
      for (const Blame& blame : blames[row].blames) {
        Fix& fix = jobs_[{waits.job[row], waits.attempt[row]}][{.kind = FixKind::kLateRank,
                                                                .reason = blame.culprit.state,
                                                                .culprit = blame.culprit.rank}];
        fix.lost_ns += blame.ns;
        fix.ranks.insert(waits.rank[row]);
        if (fix.last_match != waits.match[row]) ++fix.times;
        fix.last_match = waits.match[row];
        fix.where[{matches.group_name[match], matches.op[match]}] += blame.ns;
        fix.by_device = matches.on_device[match] != 0;
      }
    }
  }

  void AddIdle(const Division& division) {
    ForEachInWindows(division, [&](const Segment& segment, int64_t ns) {
      if (!IsLost(segment.state) || segment.state == State::kWait) return;
      if (segment.state == State::kCompile) {
        AddCompile(KeyOf(division.who), CompileIdOf(segment), ns);
        return;
      }
      AddIdle(division, {.reason = segment.state}, ns);
    });
    MoveFirstStep(division);
    for (const CompileTime& each : compiling_.Of(division.who)) {
      RegionKey key{KeyOf(division.who), WithoutAttempt(model_.pools.Text(each.compile_id))};
      in_windows_[key] += Length(Clip(division.windows, each.time));
    }
  }

  void AddCompiledApart() {
    for (const auto& [key, region] : regions_) {
      if (!(region.again || region.alone) || region.compile_ns == kNone64) continue;
      auto inside = in_windows_.find(key);
      int64_t outside = region.compile_ns - (inside == in_windows_.end() ? 0 : inside->second);
      if (outside > 0) AddCompile(key.first, key.second, outside);
    }
  }

  std::map<JobKey, Fixes> Take() { return std::move(jobs_); }

 private:
  void AddIdle(const Division& division, const FixKey& key, int64_t ns) {
    Fix& fix = jobs_[{division.who.job, division.who.attempt}][key];
    fix.lost_ns += ns;
    fix.ranks.insert(division.who.rank);
    fix.by_device = division.by_device;
  }

  // A profiler that starts takes time in the first step that it records. Idle time only: what is
  // more than in the middle one of the other steps.
  void MoveFirstStep(const Division& division) {
    if (division.steps.size() < kStepsToCompare ||
        Length(division.windows) != Length(division.steps))
      return;
    const std::vector<StateTimes> steps = TimesOfSteps(division);
    for (State state : {State::kData, State::kSync, State::kAllocation, State::kHost, State::kPace,
                        State::kUnknown}) {
      std::vector<int64_t> others;
      for (size_t i = 1; i < steps.size(); ++i) others.push_back(steps[i][state]);
      const int64_t more = steps[0][state] - Median(std::move(others));
      if (more <= 0) continue;
      AddIdle(division, {.reason = state}, -more);
      AddIdle(division, {.kind = FixKind::kFirstStep, .reason = State::kUnknown}, more);
    }
  }

  std::string_view CompileIdOf(const Segment& segment) const {
    if (segment.row == kNone64) return {};
    return WithoutAttempt(model_.pools.Text(static_cast<StringId>(segment.row)));
  }

  void AddCompile(const RankKey& rank, std::string_view compile_id, int64_t ns) {
    FixKey key{.kind = FixKind::kCompile, .reason = State::kCompile};
    auto region = regions_.find({rank, compile_id});
    if (region != regions_.end()) {
      key.function = region->second.function;
      key.file = region->second.file;
      key.line = region->second.line;
    }
    Fix& fix = jobs_[{rank.job, rank.attempt}][key];
    fix.lost_ns += ns;
    fix.ranks.insert(rank.rank);
    fix.again = fix.again && region != regions_.end() && region->second.again;
    fix.alone = fix.alone && region != regions_.end() && region->second.alone;
    if (counted_.insert({rank, compile_id}).second) ++fix.times;
    if (!compile_id.empty()) fix.compilations[compile_id] += ns;
  }

  const Model& model_;
  const Regions& regions_;
  const CompileTimes& compiling_;
  std::map<JobKey, Fixes> jobs_;
  std::map<RegionKey, int64_t> in_windows_;
  std::set<RegionKey> counted_;
};

std::string_view KindName(FixKind kind) {
  if (kind == FixKind::kLateRank) return "late_rank";
  if (kind == FixKind::kFirstStep) return "first_step";
  return kind == FixKind::kIdle ? "idle" : "compile";
}

StringId TextId(std::string_view text, Part& part) {
  return text.empty() ? StringId::kNone : part.pools.Intern(text);
}

CostFixRow RowOf(const Model& model, const FixKey& key, const Fix& fix, Part& part) {
  CostFixRow row;
  row.kind = part.pools.Intern(KindName(key.kind));
  row.reason = part.pools.Intern(NameOf(key.reason));
  row.culprit = key.culprit;
  row.lost_ns = fix.lost_ns;
  std::vector<int64_t> ranks;
  for (int32_t rank : fix.ranks) {
    if (rank != kNone32) ranks.push_back(rank);
  }
  if (!ranks.empty()) row.ranks = part.pools.lists.Intern(ranks);
  if (fix.times > 0) row.times = fix.times;
  auto [group, op] = LargestOf(fix.where, {StringId::kNone, StringId::kNone});
  row.group_name = TextId(model.pools.Text(group), part);
  row.op = TextId(model.pools.Text(op), part);
  row.compile_id = TextId(LargestOf(fix.compilations, {}), part);
  row.function = TextId(key.function, part);
  row.file = TextId(key.file, part);
  row.line = key.line;
  row.text = part.pools.Intern(InWords(key, fix));
  return row;
}

}  // namespace

std::map<JobKey, Fixes> FindFixes(const Model& model, const std::vector<Division>& divisions,
                                  const std::vector<WaitBlame>& blames, const Regions& regions,
                                  const CompileTimes& compiling) {
  Collector collector(model, regions, compiling);
  collector.AddWaits(blames);
  for (const Division& division : divisions) collector.AddIdle(division);
  collector.AddCompiledApart();
  return collector.Take();
}

bool CanBeFixed(const FixKey& key) {
  return key.reason != State::kUnknown && key.reason != State::kPace;
}

std::vector<std::pair<FixKey, const Fix*>> Ordered(const Fixes& fixes) {
  std::vector<std::pair<FixKey, const Fix*>> ordered;
  for (const auto& [key, fix] : fixes) {
    if (fix.lost_ns > 0) ordered.emplace_back(key, &fix);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::tuple(CanBeFixed(a.first), a.second->Weight(), a.second->lost_ns) >
           std::tuple(CanBeFixed(b.first), b.second->Weight(), b.second->lost_ns);
  });
  return ordered;
}

// Time lost bounds what is gained: of idle devices what a rank idles for this reason, of a late
// rank what all others wait for it.
void SetGains(const ReplayedGains& gains, Fixes& fixes) {
  if (!gains.exists()) return;
  for (auto& [key, fix] : fixes) {
    const int64_t by_rank = fix.lost_ns / static_cast<int64_t>(std::max<size_t>(1, gains.ranks()));
    const auto gain = gains.GainOf(key);
    const bool is_late = key.kind == FixKind::kLateRank;
    fix.weight_ns = is_late ? std::min(by_rank, gains.LeastOfRanks() * gains.steps()) : by_rank;
    if (!gain) continue;
    fix.gain_ns = std::min(*gain * gains.steps(), is_late ? fix.lost_ns : by_rank);
    fix.weight_ns = fix.gain_ns;
  }
}

void AddFixRows(const Model& model, const JobKey& job, const Fixes& fixes,
                const ReplayedGains& gains, Part& part) {
  int64_t all = 0;
  for (const auto& [key, fix] : fixes) all += fix.lost_ns;
  int32_t position = 0;
  for (const auto& [key, fix] : Ordered(fixes)) {
    CostFixRow row = RowOf(model, key, *fix, part);
    row.job = job.first;
    row.attempt = job.second;
    row.position = position++;
    row.gain_ns = fix->gain_ns;
    if (fix->gain_ns != kNone64) {
      row.step_before_ns = gains.step_ns();
      row.step_ns = gains.step_ns() - fix->gain_ns / gains.steps();
    }
    row.share = static_cast<double>(fix->lost_ns) / static_cast<double>(std::max<int64_t>(1, all));
    part.tables.Edit<CostFixTable>().Add(row);
  }
}

}  // namespace debrief::analyses::cost
