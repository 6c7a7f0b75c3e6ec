// Can the clocks of the devices be trusted?
//
//   causality.cc  devices whose work is launched and waited for by calls of the host
//   cycles.cc     devices that stamp their work with a cycle counter

#include "analyses/accel/clock/clock.h"

#include "analyses/accel/devices.h"
#include "analyses/analysis.h"
#include "model/timeline/view.h"
#include "tables/accel_clock.h"
#include "tables/accel_cycles.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_clock {

namespace {

using timeline::TimelineView;

template <typename Table, typename Row>
int64_t Add(const Row& row, Part& part) {
  auto& table = part.tables.Edit<Table>();
  table.Add(row);
  return static_cast<int64_t>(table.size()) - 1;
}

int64_t AddRow(const Identity& who, const Causality& causality, Part& part) {
  auto row = Part::RowOf<AccelClockRow>(who);
  row.device = causality.device;
  row.launches = causality.launches;
  row.early = causality.early;
  row.worst_early_ns = causality.worst_early_ns;
  row.waits = causality.waits;
  row.late = causality.late;
  row.worst_late_ns = causality.worst_late_ns;
  row.lower_ns = causality.lower_ns;
  row.upper_ns = causality.upper_ns;
  row.state = part.pools.Intern(causality.State());
  return Add<AccelClockTable>(row, part);
}

int64_t AddRow(const Identity& who, const Cycles& cycles, Part& part) {
  auto row = Part::RowOf<AccelCyclesRow>(who);
  row.device = cycles.device;
  row.events = cycles.events;
  row.stretched = cycles.stretched;
  row.shifted = cycles.shifted;
  row.shift_ns = cycles.shift_ns;
  row.misaligned = cycles.misaligned;
  row.gapped = cycles.gapped;
  return Add<AccelCyclesTable>(row, part);
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  std::vector<OfDevice<Causality>> causalities;
  std::vector<OfDevice<Cycles>> all_cycles;
  for (const TimelineView& view : timeline::Timelines(model)) {
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    for (const Causality& each : CausalityOf(view, works))
      causalities.push_back({view.who, each, AddRow(view.who, each, result.part)});
    std::vector<Cycles> cycles = CyclesOf(view);
    for (const Cycles& each : cycles) {
      Identity who = accel::OwnerOf(view, each.device, cycles.size());
      all_cycles.push_back({who, each, AddRow(who, each, result.part)});
    }
  }
  AddCausalityFindings(causalities, result.findings);
  AddCycleFindings(all_cycles, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_clock",
               .sentence = "Can the clocks of the devices be trusted?",
               .example =
                   "The cycle counter of the AIU runs at 557.08 MHz; tools that are not told "
                   "assume 1000 MHz",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelClockTable, AccelCyclesTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, AccelRateTable,
                                   AccelStampTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_clock
