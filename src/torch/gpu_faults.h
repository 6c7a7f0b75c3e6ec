// Faults of GPUs as NVIDIA's driver numbers them (Xid), and the names of GPUs on the PCI bus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief {

struct GpuFault {
  int64_t code;
  std::string_view words;
  bool hardware;  // not the program's doing
};

// Null for codes that follow from another fault, or only announce something.
const GpuFault* GpuFaultOf(int64_t xid);

// A PCI address as NCCL prints it, function included: "0000:4b:00" and "00000000:4B:00.0" are
// 4b000. Empty when it is none.
std::string BusIdOf(std::string_view address);

}  // namespace debrief
