// A recording without its zeros, so that a fuzzer changes what matters:
//
//   2 bytes n, then n bytes of the file header; for every chunk 2 bytes n, then n bytes of it
//
// Each piece is filled up with zeros to its size; the last one is not when bit 15 of its n is set,
// which is a file that was cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "recorder/format.h"

namespace debrief::recorder {

inline constexpr size_t kMostChunks = 6;
inline constexpr unsigned kCutPiece = 0x8000;

inline std::vector<std::byte> UnpackRecording(std::span<const uint8_t> packed) {
  std::vector<std::byte> bytes;
  for (size_t piece = 0; piece <= kMostChunks && packed.size() >= 2; ++piece) {
    const unsigned told = packed[0] | unsigned{packed[1]} << 8;
    packed = packed.subspan(2);
    const size_t size = piece == 0 ? kFileHeaderBytes : kChunkBytes;
    const size_t count = std::min({packed.size(), size_t{told & (kCutPiece - 1)}, size});
    const size_t from = bytes.size();
    bytes.resize(from + ((told & kCutPiece) != 0 && count == packed.size() ? count : size));
    std::transform(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(count),
                   bytes.begin() + static_cast<ptrdiff_t>(from),
                   [](uint8_t byte) { return std::byte{byte}; });
    packed = packed.subspan(count);
  }
  return bytes;
}

inline std::vector<uint8_t> PackRecording(std::span<const std::byte> bytes) {
  std::vector<uint8_t> packed;
  for (size_t at = 0, size = kFileHeaderBytes; at < bytes.size(); at += size, size = kChunkBytes) {
    const auto piece = bytes.subspan(at, std::min(size, bytes.size() - at));
    size_t count = std::min<size_t>(piece.size(), kCutPiece - 1);
    while (count != 0 && piece[count - 1] == std::byte{0}) --count;
    packed.push_back(static_cast<uint8_t>(count & 255));
    packed.push_back(static_cast<uint8_t>(count >> 8));
    for (size_t i = 0; i < count; ++i) packed.push_back(static_cast<uint8_t>(piece[i]));
  }
  return packed;
}

}  // namespace debrief::recorder
