#include "model/accel/device_rank.h"

#include "tables/accel_rate.h"

namespace debrief::accel {

size_t StampedDevices(const timeline::TimelineView& view) {
  return timeline::RowsOf(view.model.tables.Get<AccelRateTable>(), view.who.input).size();
}

}  // namespace debrief::accel
