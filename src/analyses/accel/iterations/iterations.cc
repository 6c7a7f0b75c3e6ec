// How long does a device take for one iteration?
//
// The names of its computing kernels, in order of time, are searched for the stretch that repeats
// itself (model/accel/iterations.h). Unlike timeline_steps this needs no marks and no calls of the
// host, and says why where it finds nothing. Cost: sorts the kernels; linear else.
#include "model/accel/iterations.h"

#include <map>
#include <unordered_map>

#include "analyses/accel/devices.h"
#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "base/stats/statistics.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/accel_iteration.h"
#include "tables/accel_rate.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_iterations {

namespace {

using timeline::DeviceWork;
using timeline::TimelineView;

// Kernels of one device, by start.
struct Kernels {
  std::vector<uint32_t> names;  // small numbers
  std::vector<int64_t> starts;
};

std::map<int32_t, Kernels> KernelsOf(const TimelineView& view, const timeline::DeviceWorks& works) {
  std::map<int32_t, Kernels> by_device;
  std::unordered_map<StringId, uint32_t> numbers;
  for (const DeviceWork& work : works.works) {
    if (work.device_class != timeline::DeviceClass::kCompute) continue;
    auto next = static_cast<uint32_t>(numbers.size());
    StringId name = view.name[TimelineView::At(work.slice)];
    Kernels& kernels = by_device[work.device];
    kernels.names.push_back(numbers.try_emplace(name, next).first->second);
    kernels.starts.push_back(work.time.begin);
  }
  return by_device;
}

// From begin to begin, where one follows the other without anything between.
std::vector<int64_t> LengthsOf(const accel::Iterations& found, const Kernels& kernels) {
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < found.starts.size(); ++i) {
    if (found.starts[i] - found.starts[i - 1] != found.period) continue;
    lengths.push_back(kernels.starts[found.starts[i]] - kernels.starts[found.starts[i - 1]]);
  }
  return lengths;
}

void AddRow(const Identity& who, int32_t device, const Kernels& kernels, Part& part) {
  accel::Iterations found = accel::FindIterations(kernels.names);
  std::vector<int64_t> lengths = LengthsOf(found, kernels);
  auto row = Part::RowOf<AccelIterationRow>(who);
  row.device = device;
  row.kernels = static_cast<int64_t>(kernels.names.size());
  row.iterations = static_cast<int64_t>(found.starts.size());
  row.measured = static_cast<int64_t>(lengths.size());
  if (found.period > 0) row.period = static_cast<int64_t>(found.period);
  if (!lengths.empty()) {
    Summary summary = Summarise(lengths);
    row.mean_ns = summary.mean;
    row.stddev_ns = summary.stddev;
    row.min_ns = summary.min;
    row.median_ns = summary.median;
    row.max_ns = summary.max;
  } else {
    row.why_not = part.pools.Intern(
        found.period > 0 ? "no two iterations follow each other directly" : found.why_not);
  }
  part.tables.Edit<AccelIterationTable>().Add(row);
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) {
    timeline::DeviceClasses classes(model);
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    size_t stamped = accel::StampedDevices(view);
    for (const auto& [device, kernels] : KernelsOf(view, works))
      AddRow(accel::OwnerOf(view, device, stamped), device, kernels, part);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_iterations",
               .scope = AnalysisScope::kRank,
               .sentence = "How long does a device take for one iteration of its kernels?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelIterationTable>,
               .uses = kTableNames<timeline::ViewTables, AccelRateTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_iterations
