// What can be wrong with events that carry both times of the host and stamps of a cycle counter.
//
//   stretched    |---- host ----|  |- counter -|      the two disagree about one event
//   shifted      [AIU Roundtrip]   |- event -|        the host did not wait for the device then
//   misaligned   |-- kernel --|                       by the counter two kernels ran at once
//                        |-- kernel --|
//   gapped       each event agrees, and from one to the next counter and host go apart
//
// Cost: sorts the kernels of each device.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::accel_clock {

struct Cycles {
  int32_t device = kNone32;
  double mhz = kNoDouble;
  int64_t events = 0, stretched = 0, shifted = 0, shift_ns = kNone64, misaligned = 0;
  bool gapped = false;
};

// One for each row of accel_rate of the timeline.
std::vector<Cycles> CyclesOf(const timeline::TimelineView& view);

}  // namespace debrief::analyses::accel_clock
