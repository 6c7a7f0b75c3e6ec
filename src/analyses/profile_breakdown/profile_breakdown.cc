// What did the devices do with the time: compute, communicate, copy, nothing? By our definition and
// by those of the tools that people compare with (tables.def says how they differ).
#include <array>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/profile_breakdown/definitions.h"
#include "analyses/profile_breakdown/findings.h"
#include "analyses/profile_breakdown/step_categories.h"

namespace debrief::analyses::profile_breakdown {

namespace {

constexpr std::array<std::string_view, 2> kNeeds = {"timeline", "timeline_slice"};
constexpr std::array<std::string_view, 2> kUses = {"timeline_launch", "timeline_step"};
constexpr std::array<std::string_view, 2> kMakes = {"profile_breakdown", "profile_step_category"};

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
