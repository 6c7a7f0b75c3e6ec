// Does communication hide behind computation, and what runs beside what?
#include <array>

#include "analyses/analysis.h"
#include "analyses/profile_overlap/kernel_types.h"
#include "analyses/profile_overlap/overlap.h"
#include "model/timeline/device_time.h"
#include "model/timeline/hta_rows.h"

namespace debrief::analyses::profile_overlap {

namespace {

constexpr std::array<std::string_view, 2> kNeeds = {"timeline", "timeline_slice"};
constexpr std::array<std::string_view, 1> kUses = {"timeline_step"};
constexpr std::array<std::string_view, 2> kMakes = {"profile_overlap", "profile_kernel_types"};

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
