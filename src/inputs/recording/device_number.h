// Devices as the timeline tables number them, by the names that programs give them.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::inputs::recording {

struct DeviceNumber {
  int32_t type = 0;   // as PyTorch numbers types of devices
  int32_t index = 0;  // -1: the host
};

// "cuda:1" is 1 of type 1; what PyTorch has no name for is of the type it keeps for others.
DeviceNumber NumberOfDevice(std::string_view name);

}  // namespace debrief::inputs::recording
