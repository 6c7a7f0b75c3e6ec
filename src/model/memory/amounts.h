// Sums of bytes that files tell, and how they are written.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::memory {

// Files may tell absurd numbers; the sum of them stays the largest there is. None counts as 0.
inline int64_t Plus(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (a == kNone64) a = 0;
  if (b == kNone64) b = 0;
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum != kNone64) return sum;
  return a > 0 ? kMost : -kMost;
}
inline int64_t Minus(int64_t a, int64_t b) { return Plus(a, b == kNone64 ? 0 : -b); }

// "512 bytes", "640.0 KiB", "312.5 MiB", "77.60 GiB": devices have powers of two.
inline std::string SizeText(int64_t bytes) {
  constexpr double kStep = 1024;
  const double size = std::abs(static_cast<double>(bytes));
  const std::string_view sign = bytes < 0 ? "-" : "";
  if (size < kStep) return fmt::format("{} bytes", bytes);
  if (size < kStep * kStep) return fmt::format("{}{:.1f} KiB", sign, size / kStep);
  const double mib = size / (kStep * kStep);
  return mib < kStep ? fmt::format("{}{:.1f} MiB", sign, mib)
                     : fmt::format("{}{:.2f} GiB", sign, mib / kStep);
}

// "GPU 0 of rank 3"
inline std::string DeviceName(int32_t device, int32_t rank) {
  if (rank == kNone32) return fmt::format("GPU {}", device);
  return fmt::format("GPU {} of rank {}", device, rank);
}

// " (3 more like it)"
inline std::string Others(size_t devices) {
  return devices < 2 ? "" : fmt::format(" ({} more like it)", devices - 1);
}

}  // namespace debrief::memory
