// Messages of a Chakra execution trace (et_def.proto of mlcommons/chakra), as they stand in a file:
// the length as a varint, then the message. The first is GlobalMetadata, all others are nodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs::chakra {

// The length of the message at the start of `bytes` and where the message begins; `size` 0 when the
// bytes end before it does, or there is no such number.
struct Framed {
  size_t begin = 0;
  uint64_t size = 0;
};
Framed ReadLength(std::string_view bytes);

// Views into the message.
struct NodeMessage {
  int64_t id = kNone64;
  std::string_view name;
  int type = 0;
  std::vector<int64_t> control, data;  // nodes that it depends on
  int64_t duration_us = kNone64;
  std::string_view input_shapes, input_types, output_shapes, output_types;
  // Attributes.
  int64_t comm_type = kNone64, comm_size = kNone64, rf_id = kNone64, group_size = kNone64;
  std::string_view group;
};
// False when the message is broken.
bool ReadNode(std::string_view message, NodeMessage& node);

// The version of GlobalMetadata; false when the message is none.
bool ReadMetadata(std::string_view message, std::string_view& version);

// "compute", "collective", ...; empty for a number that is none.
std::string_view NodeTypeName(int type);
std::string_view CollectiveName(int64_t type);

}  // namespace debrief::inputs::chakra
