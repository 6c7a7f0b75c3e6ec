// How long would steps take if no worker were slow, and who makes them long?
//
//   stage_job.h     the ops of a timeline that has all workers of a job of pipeline stages
//   stage_graph.h   what waits for what
//   replay.h        step times with any durations
//   stragglers.h    what each part costs, and which is the cause
//   profile_graph.h, profile_changes.h   the same for a job whose ranks have a profile each
//   job_path.h      its critical path across ranks
#include "analyses/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text/strings.h"
#include "tables/input.h"
#include "tables/job_path.h"
#include "tables/job_path_cause.h"
#include "tables/job_path_name.h"
#include "tables/job_path_step.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_process.h"
#include "tables/timeline_stage_op.h"
#include "tables/timeline_step.h"
#include "tables/what_if_cause.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"
#include "tables/what_if_set.h"
#include "tables/what_if_step.h"

namespace debrief::analyses::what_if {

namespace {

// A timeline of a whole job, and its findings: [first, end).
struct ReplayedJob {
  Identity who;
  double lost_ns = 0;  // per step
  size_t first = 0, end = 0;
};

ReplayedJob ReplayStages(const timeline::TimelineView& view, const std::vector<Setting>& settings,
                         AnalysisResult& result) {
  ReplayedJob replayed{.who = view.who, .first = result.findings.size()};
  StageJob job = ReadStageJob(view);
  Stragglers found;
  if (job.why_not.empty()) {
    if (const auto graph = BuildStageGraph(job, job.why_not))
      found = FindStragglers(job, *graph, settings);
  }
  const auto row = static_cast<int64_t>(result.part.tables.Get<WhatIfJobTable>().size());
  AddStageRows(job, found, view.who, InWords(settings), result.part);
  if (job.why_not.empty()) {
    AddStageFindings(job, found, view.who, row, result.findings);
    replayed.lost_ns = found.replayed - found.ideal;
  }
  replayed.end = result.findings.size();
  return replayed;
}

std::string_view FileOf(const Model& model, int32_t input) {
  const auto& inputs = model.tables.Get<InputTable>();
  return FileName(model.pools.Text(inputs.path[static_cast<size_t>(input)]));
}

// Several timelines that each hold a whole job are several runs, whatever folder they share: their
// findings name the file, and the run that loses most per step is told first.
void TellApart(const Model& model, const std::vector<ReplayedJob>& replayed,
               std::vector<Finding>& findings) {
  for (const ReplayedJob& each : replayed) {
    double most = 0;
    size_t runs = 0;
    for (const ReplayedJob& other : replayed) {
      if (other.who.job != each.who.job || other.who.attempt != each.who.attempt) continue;
      most = std::max(most, other.lost_ns);
      ++runs;
    }
    if (runs < 2) continue;
    for (size_t i = each.first; i < each.end; ++i) {
      Finding& finding = findings[i];
      finding.headline = fmt::format("{}: {}", FileOf(model, each.who.input), finding.headline);
      finding.why += fmt::format("; each of {} timelines is a run of its own", runs);
      if (each.lost_ns < most) finding.role = Role::kObservation;
    }
  }
}

// Attempts of jobs of which several ranks have profiles with work of devices.
void ReplayProfiles(const Model& model, const std::vector<Setting>& settings,
                    AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  std::map<std::pair<int32_t, int32_t>, std::vector<timeline::TimelineView>> jobs;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    if (view.who.rank != kNone32 && view.works.size() > 0)
      jobs[{view.who.job, view.who.attempt}].push_back(view);
  }
  for (const auto& [job, views] : jobs) {
    std::set<int32_t> ranks;
    for (const timeline::TimelineView& view : views) ranks.insert(view.who.rank);
    if (ranks.size() < 2) continue;
    const ProfileGraph graph = BuildProfileGraph(model, views);
    ProfileGains gains;
    if (graph.why_not.empty()) gains = FindGains(model, views, graph, settings);
    const Identity who = {.job = job.first, .attempt = job.second};
    AddProfileReport(graph, gains, who, result);
    if (graph.why_not.empty())
      AddPathRows(graph, FindJobPath(graph, views, classes), views, who, result.part);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const std::vector<Setting> settings = SettingsOf(model);
  const auto& stage_ops = model.tables.Get<TimelineStageOpTable>();
  std::vector<ReplayedJob> replayed;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    if (timeline::RowsOf(stage_ops, view.who.input).size() > 0)
      replayed.push_back(ReplayStages(view, settings, result));
  }
  TellApart(model, replayed, result.findings);
  ReplayProfiles(model, settings, result);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "what_if",
               .sentence = "How long would steps take if no worker were slow, and who makes them "
                           "long?",
               .example = "Rank 0 (dp 0, pp 0) makes every step 1.97x longer: 22.9 s of 46.3 s",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes =
                   kTableNames<WhatIfJobTable, WhatIfCauseTable, WhatIfChangeTable, WhatIfStepTable,
                               JobPathTable, JobPathStepTable, JobPathCauseTable, JobPathNameTable>,
               .uses = kTableNames<timeline::ViewTables, InputTable, TimelineProcessTable,
                                   TimelineStageOpTable, WhatIfSetTable, TimelineStepTable,
                                   TimelineLaunchTable, TimelineClockTable, ProfileCollectiveTable,
                                   ProfileCollectiveMatchTable, ProfileCollectiveWaitTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::what_if
