// Does communication hide behind computation, and what runs beside what?
#include "analyses/analysis.h"

#include "analyses/profile/overlap/kernel_types.h"
#include "analyses/profile/overlap/overlap.h"
#include "compat/hta/rows.h"
#include "model/timeline/device_time.h"
#include "tables/profile_kernel_types.h"
#include "tables/profile_overlap.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_overlap {

namespace {

constexpr auto kNeeds = kTableNames<TimelineTable, TimelineSliceTable>;
constexpr auto kUses = kTableNames<TimelineStepTable>;
constexpr auto kMakes = kTableNames<ProfileOverlapTable, ProfileKernelTypesTable>;

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  timeline::HtaNames hta_names(model);
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    timeline::HtaRows hta_rows = HtaRowsOf(view, hta_names);
    AddOverlap(view, works, result.part);
    AddHtaOverlap(view, hta_rows, result.part);
    AddKernelTypes(view, works, result.part);
    AddHtaKernelTypes(view, hta_rows, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_overlap",
               .sentence = "How far does communication hide behind computation?",
               .example = "47 % of the communication of rank 0 runs beside computation",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_overlap
