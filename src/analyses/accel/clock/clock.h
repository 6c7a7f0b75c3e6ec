// The clocks of devices: what cause and effect say of them, what their own cycle counters say, and
// what is worth telling.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/launches.h"
#include "model/timeline/view.h"

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

struct Causality {
  int32_t device = kNone32;
  int64_t launches = 0, early = 0, worst_early_ns = kNone64;
  int64_t waits = 0, late = 0, worst_late_ns = kNone64;
  int64_t lower_ns = kNone64, upper_ns = kNone64;

  std::string_view State() const;
};

// One for each device that has work, in order of device.
std::vector<Causality> CausalityOf(const timeline::TimelineView& view,
                                   const timeline::DeviceWorks& works);

// What can be wrong with events that carry both times of the host and stamps of a cycle counter.
//
//   stretched    |---- host ----|  |- counter -|      the two disagree about one event
//   shifted      [AIU Roundtrip]   |- event -|        the host did not wait for the device then
//   misaligned   |-- kernel --|                       by the counter two kernels ran at once
//                        |-- kernel --|
//   gapped       each event agrees, and from one to the next counter and host go apart
//
// Cost: sorts the kernels of each device.

struct Cycles {
  int32_t device = kNone32;
  double mhz = kNoDouble;
  int64_t events = 0, stretched = 0, shifted = 0, shift_ns = kNone64, misaligned = 0;
  bool gapped = false;
};

// One for each row of accel_rate of the timeline.
std::vector<Cycles> CyclesOf(const timeline::TimelineView& view);

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
