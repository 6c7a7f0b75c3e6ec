#include "model/accel/vendor.h"

#include <unordered_set>

#include "model/accel/kernel_category.h"
#include "tables/timeline_device.h"

namespace debrief::accel {

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
