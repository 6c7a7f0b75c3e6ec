// Perfetto traces byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debrief::testing {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

// Fields by their number: a varint, bytes (texts and messages), eight bytes.
inline std::string Int(uint64_t field, uint64_t value) {
  return Varint(field << 3) + Varint(value);
}
inline std::string Bytes(uint64_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}
inline std::string Fixed(uint64_t field, uint64_t value) {
  std::string bytes = Varint(field << 3 | 1);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

inline std::string Trace(const std::vector<std::string>& packets) {
  std::string bytes;
  for (const std::string& packet : packets) bytes += Bytes(1, packet);
  return bytes;
}

// Packets with one event on a track.
inline std::string Begin(uint64_t time, uint64_t track, const std::string& name) {
  return Int(8, time) + Bytes(11, Int(9, 1) + Int(11, track) + Bytes(23, name));
}
inline std::string End(uint64_t time, uint64_t track) {
  return Int(8, time) + Bytes(11, Int(9, 2) + Int(11, track));
}

}  // namespace debrief::testing
