// What stands beside the events in the inputs, merged: it is passed on to the output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/event_ranges.h"

namespace debrief::accel {

using JsonMembers = std::vector<JsonMember>;

// One entry of `deviceProperties`.
struct DeviceEntry {
  JsonMembers members;  // `id` among them, where there is one
};

struct FileFacts {
  bool has_device_properties = false;
  bool has_schema = false;  // `schemaVersion`: a profiler of PyTorch wrote it
  bool is_own_output = false;
  std::optional<int64_t> rank;  // distributedInfo.rank
  std::vector<DeviceEntry> devices;
};

// Of the members of one file.
FileFacts FactsOf(const JsonMembers& members);

// Of all files.
struct Metadata {
  JsonMembers members;  // but deviceProperties, distributedInfo and otherData; later files win
  std::vector<DeviceEntry> devices;
  std::map<int64_t, std::string> distributed;  // distributedInfo, by rank

  void AddMembers(const JsonMembers& more);
  // Entries whose `id` is there already are left out.
  void AddDevices(const std::vector<DeviceEntry>& more);
};

}  // namespace debrief::accel
