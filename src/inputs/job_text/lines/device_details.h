// What runtimes of accelerators print below an exception that itself names a call only:
//
//   RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64
//   [ERROR] 2026-05-21-11:57:54 (PID:927, Device:3, RankID:3) ERR02200 DIST call hccl api failed.
//   EJ0001: 2026-05-21-11:57:54.167.645 Failed to initialize the HCCP process. Reason: ...
//
//   RuntimeError: RESOURCE_EXHAUSTED: From /job:localservice/replica:0/task:0:
//     (0) RESOURCE_EXHAUSTED: Attempting to reserve 10.51G at the bottom of memory. ...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct DeviceDetail {
  std::string_view reason;  // "Failed to initialize the HCCP process. Reason: ..."; may be empty
  int32_t rank = kNone32;   // where the line names it
};

std::optional<DeviceDetail> ParseDeviceDetail(std::string_view text);

}  // namespace debrief::inputs::job_text
