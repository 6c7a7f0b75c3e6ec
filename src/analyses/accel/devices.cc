#include "analyses/accel/devices.h"

#include <unordered_set>

#include "analyses/accel/kernel_category.h"
#include "tables/accel_rate.h"
#include "tables/timeline_device.h"

namespace debrief::accel {

size_t StampedDevices(const timeline::TimelineView& view) {
  return timeline::RowsOf(view.model.tables.Get<AccelRateTable>(), view.who.input).size();
}

std::string_view VendorOf(const timeline::TimelineView& view) {
  const auto& devices = view.model.tables.Get<TimelineDeviceTable>();
  timeline::RowRange rows = timeline::RowsOf(devices, view.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    std::string_view vendor = VendorOfDevice(view.model.pools.Text(devices.name[row]));
    if (!vendor.empty()) return vendor;
  }
  std::unordered_set<StringId> asked;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = timeline::TimelineView::At(slice);
    if (view.kind[at] != view.kinds.runtime || !asked.insert(view.name[at]).second) continue;
    std::string_view vendor = VendorOfCall(view.NameOf(slice));
    if (!vendor.empty()) return vendor;
  }
  return {};
}

}  // namespace debrief::accel
