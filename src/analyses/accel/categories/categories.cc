// What kind of work takes the time of the devices: matrix products, attention, copies ...?
//
// The name of a kernel tells, by rules that are data (analyses/accel/kernel_category.h), and where
// it does not, the op that launched it. Cost: one pass over the slices; a name is looked at once.
#include <map>
#include <set>

#include "analyses/accel/devices.h"
#include "analyses/accel/kernel_category.h"
#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "model/timeline/device_time.h"
#include "model/timeline/launches.h"
#include "model/timeline/view.h"
#include "tables/accel_category.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_categories {

namespace {

using timeline::DeviceClass;
using timeline::TimelineView;

struct Sum {
  int64_t calls = 0, time_ns = 0;
  std::set<StringId> names;
};

using Sums = std::map<std::string_view, Sum>;  // by category

class Sorter {
 public:
  Sorter(const TimelineView& view, std::string_view vendor)
      : view_(view), links_(timeline::LaunchLinksOf(view)), cache_(view.model.pools, vendor) {}

  std::string_view CategoryOf(const timeline::DeviceWork& work) {
    if (work.device_class == DeviceClass::kMemcpy) return "copy";
    if (work.device_class == DeviceClass::kMemset) return "fill";
    int32_t op = links_.op[TimelineView::At(work.slice)];
    return cache_.Of(view_.name[TimelineView::At(work.slice)],
                     op == kNone32 ? StringId::kNone : view_.name[TimelineView::At(op)]);
  }

 private:
  const TimelineView& view_;
  timeline::LaunchLinks links_;
  accel::CategoryCache cache_;
};

void AddRows(const TimelineView& view, std::string_view vendor, int32_t device, const Sums& sums,
             Part& part) {
  int64_t whole_ns = 0;
  for (const auto& [category, sum] : sums) whole_ns += sum.time_ns;
  for (const auto& [category, sum] : sums) {
    auto row = Part::RowOf<AccelCategoryRow>(view.who);
    row.device = device;
    if (!vendor.empty()) row.vendor = part.pools.Intern(vendor);
    row.category = part.pools.Intern(category);
    row.names = static_cast<int64_t>(sum.names.size());
    row.calls = sum.calls;
    row.time_ns = sum.time_ns;
    if (whole_ns > 0)
      row.share_pct = 100 * static_cast<double>(sum.time_ns) / static_cast<double>(whole_ns);
    part.tables.Edit<AccelCategoryTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) {
    timeline::DeviceClasses classes(model);
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    if (works.works.empty()) return;
    std::string_view vendor = accel::VendorOf(view);
    Sorter sorter(view, vendor);
    std::map<int32_t, Sums> by_device;
    for (const timeline::DeviceWork& work : works.works) {
      Sum& sum = by_device[work.device][sorter.CategoryOf(work)];
      ++sum.calls;
      sum.time_ns += work.time.length();
      sum.names.insert(view.name[TimelineView::At(work.slice)]);
    }
    for (const auto& [device, sums] : by_device) AddRows(view, vendor, device, sums, part);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_categories",
               .scope = AnalysisScope::kRank,
               .sentence = "What kind of work takes the time of the devices?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelCategoryTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineDeviceTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_categories
