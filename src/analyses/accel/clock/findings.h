// What is worth telling about the clocks of devices.
#pragma once

#include <vector>

#include "analyses/accel/clock/causality.h"
#include "analyses/accel/clock/cycles.h"
#include "model/model.h"

namespace debrief::analyses::accel_clock {

// One row of accel_clock or accel_cycles.
template <typename What>
struct OfDevice {
  Identity who;  // its rank is that of the device where a file has several
  What what;
  int64_t row = 0;
};

void AddCausalityFindings(const std::vector<OfDevice<Causality>>& devices,
                          std::vector<Finding>& findings);
void AddCycleFindings(const std::vector<OfDevice<Cycles>>& devices, std::vector<Finding>& findings);

}  // namespace debrief::analyses::accel_clock
