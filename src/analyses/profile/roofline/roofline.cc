// What did ops have to do, and how far is that from what the device could do?
//
//   calls.h            calls of ops whose work ran on a device
//   op_args.h          arguments as the profiler wrote them
//   op_models.h        floating point operations and bytes of an op
//   generated_code.h   the same of compiled kernels, by the compile log
//   ../peaks.h         what the device can do
//   rows.h             rows of the tables, and sizes that should be padded
#include <set>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/peaks.h"
#include "analyses/profile/roofline/calls.h"
#include "analyses/profile/roofline/generated_code.h"
#include "analyses/profile/roofline/rows.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/compile_entry.h"
#include "tables/profile_mfu.h"
#include "tables/profile_mfu_step.h"
#include "tables/profile_roofline.h"
#include "tables/profile_roofline_call.h"
#include "tables/profile_roofline_sum.h"
#include "tables/roofline_peak.h"
#include "tables/timeline_device.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_roofline {

namespace {

using timeline::TimelineView;

// The first device of the timeline that is known; what the user says counts for any.
DeviceRoof RoofOf(const TimelineView& view) {
  const auto& devices = view.model.tables.Get<TimelineDeviceTable>();
  const timeline::RowRange rows = timeline::RowsOf(devices, view.who.input);
  DeviceRoof roof;
  for (size_t row = rows.begin; row < rows.end && !roof.peaks; ++row) {
    roof.name = devices.name[row];
    roof.peaks = profile::PeaksOf(view.model, row);
  }
  if (rows.size() == 0) roof.peaks = profile::ToldPeaks(view.model);
  return roof;
}

// The code of compiled kernels that profiles name, where there are compile logs.
void FindCode(const std::vector<TimelineView>& views, const Model& model, GeneratedCode& code) {
  if (model.tables.Get<CompileEntryTable>().size() == 0) return;
  const auto& files = model.tables.Get<TimelineOpTable>().kernel_file;
  for (const TimelineView& view : views) {
    std::set<StringId> seen;
    for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
      if (files[row] != StringId::kNone && seen.insert(files[row]).second)
        code.Want(view.who, model.pools.Text(files[row]));
    }
  }
  code.Find(model);
}

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  const std::vector<TimelineView> views = timeline::Timelines(model);
  GeneratedCode code;
  FindCode(views, model, code);
  std::vector<RoofSummary> summaries;
  for (const TimelineView& view : views) {
    summaries.push_back(AddRows(view, FindCalls(view, classes), RoofOf(view), code, result.part));
  }
  AddOddSizes(views, summaries, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_roofline",
               .scope = AnalysisScope::kRank,
               .sentence = "How far are ops from what the device could do?",
               .example =
                   "Matrix products of size 50257 reach 0.9 % of the GPU's roofline; 34.9 ms could "
                   "be saved",
               .needs = kTableNames<TimelineOpTable>,
               .makes = kTableNames<ProfileRooflineTable, ProfileRooflineSumTable,
                                    ProfileRooflineCallTable, ProfileMfuTable, ProfileMfuStepTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineOpArgsTable,
                                   TimelineDeviceTable, TimelineStepTable, CompileEntryTable,
                                   RooflinePeakTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_roofline
