// What is worth saying of the allocator of each device.
#pragma once

#include <vector>

#include "analyses/memory/use/devices.h"
#include "analyses/memory/use/replay.h"
#include "model/finding.h"

namespace debrief::analyses::memory_use {

// One device of one snapshot whose trace was replayed; `row` is its row of memory_use.
struct Replayed {
  DeviceKey key;
  Identity who;
  size_t row = 0;
  Scan scan;
};

// Of every attempt at most one finding a rule: that of the device to begin with, naming all ranks.
void AddFindings(const Model& model, const Part& part, const std::vector<Replayed>& devices,
                 std::vector<Finding>& findings);

}  // namespace debrief::analyses::memory_use
