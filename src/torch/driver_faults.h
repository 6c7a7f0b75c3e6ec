// What drivers other than NVIDIA's write into the kernel log about a device that failed:
//
//   amdgpu 0000:c5:00.0: amdgpu: ring comp_1.1.1 timeout, signaled seq=151, emitted seq=153
//   mlx5_core 0000:9a:00.0: poll_health:800:(pid 0): device's health compromised - reached miss ...
//   xe 0000:2c:00.0: [drm] GT0: Engine reset: engine_class=ccs, logical_mask: 0x1, guc_id=3
#pragma once

#include <optional>
#include <string_view>

namespace debrief {

struct DriverFault {
  std::string_view device;   // "GPU", "network card", "disk", "host"
  std::string_view driver;   // amdgpu; "kernel" of disks and hosts
  std::string_view address;  // on the PCI bus; empty when the line has none
  std::string_view words;    // empty: the device works again
  bool hardware = false;     // not the program's doing
};

// Null for lines that only announce something.
std::optional<DriverFault> DriverFaultOf(std::string_view text);

}  // namespace debrief
