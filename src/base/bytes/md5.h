// MD5 (RFC 1321): the checksum that TORCH_TRACE puts beside its payloads. Broken as cryptography;
// here it only finds damaged files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace debrief {

class Md5 {
 public:
  void Update(std::string_view bytes);
  // The digest of all bytes so far. The object is spent afterwards.
  std::array<uint8_t, 16> Final();

 private:
  std::array<uint32_t, 4> state_ = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  uint64_t size_ = 0;
  std::array<char, 64> pending_;  // the first size_ % 64 bytes wait for a whole block
};

// 32 lower-case hexadecimal digits.
std::string Md5Hex(std::string_view bytes);

}  // namespace debrief
