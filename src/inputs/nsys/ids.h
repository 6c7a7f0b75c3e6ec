// Numbers of Nsight Systems that hold several: hardware << 56 | machine << 48 | pid << 24 | tid.
#pragma once

#include <cstdint>

#include "base/pools/ids.h"

namespace debrief::inputs::nsys {

inline int64_t PidOf(int64_t global_id) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_id) >> 24 & 0xffffff);
}
inline int64_t TidOf(int64_t global_id) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_id) & 0xffffff);
}

// 4294967295 is "none" in columns of 32 bits.
inline int64_t OrMinusOne(int64_t number) { return number == 0xffffffff ? -1 : number; }

}  // namespace debrief::inputs::nsys
