// cleanup_copy_of_device_ts: the device's own times are for the passes before.
#include "accel/passes/passes.h"

namespace debrief::accel {

void CleanupCopyOfDeviceTs(EventList&, Run& run) {
  for (Stamps& stamps : run.stamps) stamps.has_dev = false;
}

}  // namespace debrief::accel
