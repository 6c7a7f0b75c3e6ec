// What did the devices do with the time: compute, communicate, copy, nothing? By our definition and
// by those of the tools that people compare with (tables.def says how they differ).

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/profile/breakdown/definitions.h"
#include "analyses/profile/breakdown/findings.h"
#include "analyses/profile/breakdown/step_categories.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_step_category.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_breakdown {

namespace {

constexpr auto kNeeds = kTableNames<TimelineTable, TimelineSliceTable>;
constexpr auto kUses = kTableNames<TimelineLaunchTable, TimelineStepTable>;
constexpr auto kMakes = kTableNames<ProfileBreakdownTable, ProfileStepCategoryTable>;

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const timeline::TimelineView& view, Part& part) {
    timeline::DeviceClasses classes(model);
    timeline::HtaNames hta_names(model);
    TraceLensNames trace_lens_names(model);
    StepCategories categories(model);
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    if (!works.works.empty()) {
      AddDebrief(view, works, part);
      AddTraceLens(view, works, trace_lens_names, part);
    }
    AddHta(view, hta_names, part);
    categories.Add(view, works, part);
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
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_breakdown
