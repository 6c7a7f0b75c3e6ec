// Multiply-and-fold over 16 bytes at a time: the product of two 64-bit words, folded to 64 bits,
// mixes all of their bits in a few cycles. Well under a nanosecond for the short names that fill
// our pools.
#include "base/bytes/hash.h"

#include <cstring>

namespace debrief {

namespace {

constexpr uint64_t kMulA = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
constexpr uint64_t kMulB = 0xd6e8feb86659fd93;  // another odd constant with mixed bits

uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Load(const char* from, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

}  // namespace

uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size() * kMulA;
  const char* at = bytes.data();
  size_t left = bytes.size();
  while (left > 16) {
    hash = Fold(hash ^ Load(at, 8) ^ kMulA, Load(at + 8, 8) ^ kMulB);
    at += 16;
    left -= 16;
  }
  uint64_t low = left == 0 ? 0 : Load(at, left >= 8 ? 8 : left);
  uint64_t high = left > 8 ? Load(at + 8, left - 8) : 0;
  return Fold(hash ^ low ^ kMulA, high ^ kMulB ^ hash);
}

}  // namespace debrief
