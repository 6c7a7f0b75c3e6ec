// How long would steps take if no worker were slow, and who makes them long?
//
//   stage_job.h     the ops of a timeline that has all workers of a job of pipeline stages
//   stage_graph.h   what waits for what
//   replay.h        step times with any durations
//   stragglers.h    what each part costs, and which is the cause
#include "analyses/what_if/what_if.h"

#include "tables/timeline_process.h"
#include "tables/timeline_stage_op.h"
#include "tables/what_if_cause.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"
#include "tables/what_if_step.h"

namespace debrief::analyses::what_if {

namespace {

void ReplayStages(const timeline::TimelineView& view, AnalysisResult& result) {
  StageJob job = ReadStageJob(view);
  Stragglers found;
  if (job.why_not.empty()) {
    if (const auto graph = BuildStageGraph(job, job.why_not)) found = FindStragglers(job, *graph);
  }
  const auto row = static_cast<int64_t>(result.part.tables.Get<WhatIfJobTable>().size());
  AddStageRows(job, found, view.who, result.part);
  if (job.why_not.empty()) AddStageFindings(job, found, view.who, row, result.findings);
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& stage_ops = model.tables.Get<TimelineStageOpTable>();
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    if (timeline::RowsOf(stage_ops, view.who.input).size() > 0) ReplayStages(view, result);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info =
          {.name = "what_if",
           .sentence = "How long would steps take if no worker were slow, and who makes them "
                       "long?",
           .example = "Rank 0 (dp 0, pp 0) makes every step 1.97x longer: 22.9 s of 46.3 s",
           .needs = kTableNames<TimelineTable, TimelineSliceTable>,
           .makes =
               kTableNames<WhatIfJobTable, WhatIfCauseTable, WhatIfChangeTable, WhatIfStepTable>,
           .uses = kTableNames<timeline::ViewTables, TimelineProcessTable, TimelineStageOpTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::what_if
