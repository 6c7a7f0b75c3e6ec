// Rows about a job of pipeline stages that was replayed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/what_if/what_if.h"
#include "tables/what_if_cause.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"
#include "tables/what_if_step.h"

namespace debrief::analyses::what_if {

namespace {

WhatIfJobRow JobRow(const StageJob& job, const Stragglers& found, const Identity& who, Part& part) {
  WhatIfJobRow row;
  row.job = who.job;
  row.attempt = who.attempt;
  row.input = who.input;
  row.source = part.pools.Intern("stages");
  row.replicas = static_cast<int32_t>(job.replicas);
  row.stages = static_cast<int32_t>(job.stages);
  row.workers = static_cast<int32_t>(job.ranks.size());
  row.steps = static_cast<int32_t>(job.steps.size());
  row.steps_left_out = static_cast<int32_t>(job.steps_left_out);
  row.ops = static_cast<int64_t>(job.start_ns.size());
  if (!job.why_not.empty()) {
    row.why_not = part.pools.Intern(job.why_not);
    return row;
  }
  row.recorded_ns = std::llround(found.base);
  row.replayed_ns = std::llround(found.replayed);
  row.typical_ns = std::llround(found.ideal);
  row.slowdown = found.slowdown;
  row.wasted_share = 1 - 1 / found.slowdown;
  row.gap = found.gap;
  row.replay_error = found.replay_error;
  row.correlation = found.correlation;
  row.spread = found.spread;
  row.cause = part.pools.Intern(CauseName(CausesOf(job, found).front()));
  return row;
}

std::vector<int64_t> RankList(const StageJob& job, const std::vector<size_t>& workers) {
  std::vector<int64_t> ranks;
  for (size_t worker : workers) ranks.push_back(job.ranks[worker]);
  return ranks;
}

void AddCauseRows(const StageJob& job, const Stragglers& found, const Identity& who, Part& part) {
  auto add = [&](Cause cause, const Share& share, const std::vector<int64_t>& ranks) {
    if (std::isnan(share.removed)) return;
    WhatIfCauseRow row;
    row.job = who.job;
    row.attempt = who.attempt;
    row.cause = part.pools.Intern(CauseName(cause));
    if (!ranks.empty()) row.cause_ranks = part.pools.lists.Intern(ranks);
    row.removed_share = share.removed;
    row.added_share = share.added;
    part.tables.Edit<WhatIfCauseTable>().Add(row);
  };
  add(Cause::kWorkers, found.worst_workers, RankList(job, found.worst));
  add(Cause::kLastStage, found.last_stage, RankList(job, LastStage(job)));
  add(Cause::kVariation, {.removed = found.variation}, {});
  add(Cause::kDivision, {.removed = found.division}, {});
}

class ChangeRows {
 public:
  ChangeRows(const StageJob& job, const Stragglers& found, const Identity& who, Part& part)
      : job_(job), found_(found), who_(who), part_(part) {}

  void Add(std::string_view set) {
    if (!set.empty()) AddPart(NewRow("set", set, kNoDouble), found_.set_ns);
    for (const FamilyCost& each : found_.families)
      AddPart(NewRow("type", each.family, each.cost.slowdown), each.cost.fixed_ns);
    for (size_t stage = 0; stage < job_.stages; ++stage) {
      WhatIfChangeRow row =
          NewRow("stage", fmt::format("stage {}", stage), found_.stages[stage].slowdown);
      row.stage = static_cast<int32_t>(stage);
      AddPart(row, found_.stages[stage].fixed_ns);
    }
    for (size_t replica = 0; replica < job_.replicas; ++replica) {
      WhatIfChangeRow row =
          NewRow("replica", fmt::format("replica {}", replica), found_.replicas[replica]);
      row.replica = static_cast<int32_t>(replica);
      part_.tables.Edit<WhatIfChangeTable>().Add(row);
    }
    for (size_t worker = 0; worker < job_.ranks.size(); ++worker) AddWorker(worker);
    AddPart(NewRow("link", "links twice as fast", kNoDouble), found_.faster_links_ns);
    AddPart(NewRow("overlap", "communication hidden", kNoDouble), found_.overlap_ns);
    AddPart(NewRow("all", "all ops", found_.slowdown), found_.ideal);
  }

 private:
  WhatIfChangeRow NewRow(std::string_view kind, std::string_view name, double slowdown) {
    WhatIfChangeRow row;
    row.job = who_.job;
    row.attempt = who_.attempt;
    row.kind = part_.pools.Intern(kind);
    row.name = part_.pools.Intern(name);
    row.slowdown = slowdown;
    return row;
  }

  void AddPart(WhatIfChangeRow row, double fixed_ns) {
    row.step_ns = std::llround(fixed_ns);
    row.gain_ns = std::llround(found_.replayed - fixed_ns);
    row.gain_share = 1 - fixed_ns / found_.replayed;
    part_.tables.Edit<WhatIfChangeTable>().Add(row);
  }

  void AddWorker(size_t worker) {
    WhatIfChangeRow row =
        NewRow("worker", fmt::format("rank {}", job_.ranks[worker]), found_.workers[worker]);
    row.worker_rank = job_.ranks[worker];
    row.stage = static_cast<int32_t>(worker % job_.stages);
    row.replica = static_cast<int32_t>(worker / job_.stages);
    if (const double fixed = found_.worker_fixed_ns[worker]; !std::isnan(fixed))
      AddPart(row, fixed);
    else
      part_.tables.Edit<WhatIfChangeTable>().Add(row);
  }

  const StageJob& job_;
  const Stragglers& found_;
  const Identity& who_;
  Part& part_;
};

}  // namespace

void AddStageRows(const StageJob& job, const Stragglers& found, const Identity& who,
                  std::string_view set, Part& part) {
  part.tables.Edit<WhatIfJobTable>().Add(JobRow(job, found, who, part));
  if (!job.why_not.empty()) return;
  AddCauseRows(job, found, who, part);
  ChangeRows(job, found, who, part).Add(set);
  for (size_t step = 0; step < job.steps.size(); ++step) {
    WhatIfStepRow row;
    row.job = who.job;
    row.attempt = who.attempt;
    row.step = job.steps[step];
    row.recorded_ns = std::llround(found.base_ns[step]);
    row.replayed_ns = std::llround(found.step_ns[step]);
    row.slowdown = found.step_ns[step] / found.ideal;
    part.tables.Edit<WhatIfStepTable>().Add(row);
  }
}

}  // namespace debrief::analyses::what_if
