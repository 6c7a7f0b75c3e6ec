// What did the devices do with the time: compute, communicate, copy, nothing? By our definition and
// by those of the tools that people compare with (tables.def says how they differ).
#include <fmt/format.h>

#include <vector>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/profile/breakdown/definitions.h"
#include "compat/hta/tables.h"
#include "model/model.h"
#include "model/timeline/rank_shares.h"
#include "model/timeline/view.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_step_category.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_breakdown {

namespace {

// A tenth is where TensorBoard's plug-in begins to recommend; a quarter is more than most other
// changes to a model can win back.
constexpr double kNoticeable = 0.10;
constexpr double kLarge = 0.25;

std::vector<timeline::RankShare> ExposedShares(const Part& part) {
  const auto& rows = part.tables.Get<ProfileBreakdownTable>();
  StringId debrief = part.pools.strings.Find("debrief"), all = part.pools.strings.Find("all");
  std::vector<timeline::RankShare> shares;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.definition[row] != debrief || rows.scope[row] != all) continue;
    shares.push_back({.who = {rows.input[row], rows.job[row], rows.attempt[row], rows.rank[row]},
                      .part_ns = rows.exposed_communication_ns[row],
                      .whole_ns = rows.total_ns[row],
                      .row = static_cast<int64_t>(row)});
  }
  return shares;
}

Finding FindingOf(const timeline::JobShares& job, const Part& part) {
  const auto& rows = part.tables.Get<ProfileBreakdownTable>();
  auto worst = static_cast<size_t>(job.worst().row);
  Finding finding;
  finding.rule = "profile.exposed_communication";
  finding.severity = job.SeverityFrom(kLarge);
  finding.job = job.worst().who.job;
  finding.attempt = job.worst().who.attempt;
  finding.ranks = job.RanksToBlame(kNoticeable);
  finding.headline = fmt::format("Communication that no computation hides takes {}", job.InWords());
  double hidden = rows.communication_ns[worst] > 0
                      ? 100 * static_cast<double>(rows.overlap_ns[worst]) /
                            static_cast<double>(rows.communication_ns[worst])
                      : 0;
  finding.evidence.push_back(
      {.text = fmt::format("{:.0f} % of the communication runs beside computation; exposed is the "
                           "time in which a communication kernel runs and no other kernel computes",
                           hidden),
       .table = "profile_breakdown",
       .rows = {job.worst().row}});
  finding.confidence = 0.9;
  finding.why = "measured; a communication kernel that waits for a late rank counts as well";
  finding.next_step =
      "See which collectives wait for others and which move much; then overlap them with "
      "computation (bucket sizes, prefetch of FSDP) or send less";
  return finding;
}

// Of the rows of profile_breakdown in `part`: one finding for a job.
void AddFindings(const Part& part, std::vector<Finding>& findings) {
  for (const timeline::JobShares& job : SharesByJob(ExposedShares(part))) {
    if (job.worst().fraction() >= kNoticeable) findings.push_back(FindingOf(job, part));
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const timeline::TimelineView& view, Part& part) {
    timeline::DeviceClasses classes(model);
    hta::Names hta_names(model);
    TraceLensNames trace_lens_names(model.pools, TraceLensClass);
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    if (!works.works.empty()) {
      AddDebrief(view, works, part);
      AddTraceLens(view, works, trace_lens_names, part);
    }
    hta::AddBreakdown(view, hta_names, part);
    AddStepCategories(view, works, part);
  });
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_breakdown",
               .sentence = "What do the devices do with the time: compute, communicate, copy, "
                           "nothing?",
               .example = "Communication that no computation hides takes 31 % of the device time "
                          "(412 ms of 1.3 s on rank 3)",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileBreakdownTable, ProfileStepCategoryTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_breakdown
