// Why a GPU's clock is lower than it could be, as NVIDIA's driver reports it (NVML's clock event
// reasons, a set of bits).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace debrief {

enum ThrottleBits : int64_t {
  kThrottleIdle = 0x1,
  kThrottlePowerCap = 0x4,
  kThrottleSlowdown = 0x8,
  kThrottleThermal = 0x20 | 0x40,
  kThrottlePowerBrake = 0x80,
};

// A code or a set of bits, as monitors write it among their values; 0 for what can be none.
inline int64_t CodeOf(double value) {
  constexpr double kMost = 1LL << 53;  // doubles beyond are no whole numbers of their own
  return value >= 0 && value < kMost ? static_cast<int64_t>(value) : 0;
}

struct ThrottleReason {
  int64_t bits;
  std::string_view words;
  bool is_fault;  // not a limit that GPUs under load run into anyway
};

// The graver first. Idle is no reason: such a GPU has nothing to do.
inline constexpr std::array<ThrottleReason, 4> kThrottleReasons = {
    {{kThrottleThermal, "thermal throttling", true},
     {kThrottlePowerBrake, "power brake", true},
     {kThrottlePowerCap, "power cap", false},
     {kThrottleSlowdown, "hardware slowdown", true}}};

// The gravest of them; null when none of the bits is one.
inline const ThrottleReason* ThrottleReasonOf(int64_t bits) {
  for (const ThrottleReason& reason : kThrottleReasons) {
    if ((bits & reason.bits) != 0) return &reason;
  }
  return nullptr;
}

}  // namespace debrief
