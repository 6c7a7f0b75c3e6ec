// Perfetto protobuf traces. Recognised; a reader comes with the profiles part.
//
// The file is a run of   0a <length> <packet>   (field 1 of message Trace). A packet is fields
// again. A name that ends in .pftrace is believed when the first byte fits; otherwise the first
// packet must be whole and made of fields with known wire types.
#include "inputs/importer.h"

namespace debrief::inputs::perfetto {

namespace {

// Reads a varint and moves `at` behind it; false when it is cut or too long.
bool ReadVarint(std::string_view bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool SkipField(std::string_view bytes, size_t& at) {
  uint64_t tag = 0, length = 0;
  if (!ReadVarint(bytes, at, tag) || tag >> 3 == 0) return false;
  switch (tag & 7) {
    case 0:
      return ReadVarint(bytes, at, length);
    case 1:
      length = 8;
      break;
    case 2:
      if (!ReadVarint(bytes, at, length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > bytes.size() - at) return false;
  at += length;
  return true;
}

bool FirstPacketIsWhole(std::string_view head) {
  size_t at = 1;
  uint64_t length = 0;
  if (!ReadVarint(head, at, length) || length == 0 || length > head.size() - at) return false;
  std::string_view packet = head.substr(at, length);
  size_t inside = 0;
  while (inside < packet.size()) {
    if (!SkipField(packet, inside)) return false;
  }
  size_t next = at + length;
  return next == head.size() || head[next] == '\x0a';
}

bool IsNamedSo(std::string_view name) {
  return name.ends_with(".pftrace") || name.ends_with(".perfetto-trace") ||
         name.ends_with(".perfetto");
}

Recognition Sniff(const SniffInput& input) {
  bool starts_right = input.head.size() > 2 && input.head[0] == '\x0a';
  return {.mine = starts_right && (IsNamedSo(input.name) || FirstPacketIsWhole(input.head))};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "perfetto",
               .sentence = "Perfetto trace: protobuf packets of slices, tracks and counters",
               .example = "trace.pftrace",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::perfetto
