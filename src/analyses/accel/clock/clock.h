// The clocks of devices: what cause and effect say of them, what their own cycle counters say, and
// what is worth telling.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "tables/accel_clock.h"
#include "tables/accel_cycles.h"

namespace debrief::analyses::accel_clock {

// What cause and effect say of the clock of a device: nothing runs before it is launched, and what
// a call waited for has ended when the call returns.
//
//   host    [launch]            [ cudaDeviceSynchronize ]
//   device      [ kernel ]
//           |---| at least 0             |--| at least 0
//
// Cost: sorts the works and the waits.

// Profilers of old wrote whole microseconds.
inline constexpr int64_t kToleranceNs = 1000;

struct Causality : AccelClockRow {
  int64_t number = 0;  // of the row
};

// What can be wrong with events that carry both times of the host and stamps of a cycle counter.
//
//   stretched    |---- host ----|  |- counter -|      the two disagree about one event
//   shifted      [AIU Roundtrip]   |- event -|        the host did not wait for the device then
//   misaligned   |-- kernel --|                       by the counter two kernels ran at once
//                        |-- kernel --|
//   gapped       each event agrees, and from one to the next counter and host go apart
//
// Cost: sorts the kernels of each device.

struct Cycles : AccelCyclesRow {
  double mhz = kNoDouble;
  int64_t number = 0;  // of the row
};

void AddCausalityFindings(const std::vector<Causality>& devices, std::vector<Finding>& findings);
void AddCycleFindings(const std::vector<Cycles>& devices, std::vector<Finding>& findings);

}  // namespace debrief::analyses::accel_clock
