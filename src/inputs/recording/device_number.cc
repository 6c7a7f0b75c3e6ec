#include "inputs/recording/device_number.h"

#include <charconv>

namespace debrief::inputs::recording {

namespace {

struct DeviceType {
  std::string_view name;
  int32_t number;
};

constexpr DeviceType kTypes[] = {{"cpu", 0},  {"cuda", 1}, {"gpu", 1},  {"hip", 1},
                                 {"xpu", 12}, {"mps", 13}, {"hpu", 15}, {"mtia", 19}};
constexpr int32_t kOtherType = 20;

}  // namespace

DeviceNumber NumberOfDevice(std::string_view name) {
  const size_t colon = name.find(':');
  DeviceNumber device = {.type = kOtherType};
  for (const DeviceType& type : kTypes) {
    if (type.name == name.substr(0, colon)) device.type = type.number;
  }
  if (device.type == 0) return {.type = 0, .index = -1};
  if (colon != name.npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), device.index);
  return device;
}

}  // namespace debrief::inputs::recording
