// Each of the 64 steps depends on the one before, so speed is the latency of a step. Two things
// shorten it: the loops have constant bounds and unroll to straight code, and the terms that do not
// depend on the newest word `b` are added first, off the critical path.
#include "base/bytes/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace debrief {

namespace {

constexpr size_t kBlock = 64;

// floor(2^32 * |sin(i + 1)|)
constexpr std::array<uint32_t, 64> kSine = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr int kShift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

uint32_t LoadWord(const char* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  return word;
}

template <int kRound>
[[gnu::always_inline]] inline uint32_t Mix(uint32_t sum, uint32_t b, uint32_t c, uint32_t d) {
  if constexpr (kRound == 0) return sum + (d ^ (b & (c ^ d)));
  // The two halves have no bit in common: adding them one by one equals adding their union, and
  // only the second waits for b.
  if constexpr (kRound == 1) return sum + (c & ~d) + (b & d);
  if constexpr (kRound == 2) return sum + (b ^ (c ^ d));
  return sum + (c ^ (b | ~d));
}

template <int kRound>
[[gnu::always_inline]] inline void Round(uint32_t (&w)[4], const char* block) {
  constexpr size_t kStride[4] = {1, 5, 3, 7};
  constexpr size_t kFirst[4] = {0, 1, 5, 0};
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; ++i) {
    // Instead of moving words around, step i works on them rotated by i.
    uint32_t& a = w[(16 - i) % 4];
    uint32_t b = w[(17 - i) % 4];
    uint32_t word = LoadWord(block + 4 * ((kFirst[kRound] + kStride[kRound] * i) % 16));
    uint32_t sum = a + kSine[16 * kRound + i] + word;
    a = b + std::rotl(Mix<kRound>(sum, b, w[(18 - i) % 4], w[(19 - i) % 4]), kShift[kRound][i % 4]);
  }
}

void Compress(std::array<uint32_t, 4>& state, const char* block) {
  uint32_t w[4] = {state[0], state[1], state[2], state[3]};
  Round<0>(w, block);
  Round<1>(w, block);
  Round<2>(w, block);
  Round<3>(w, block);
  for (size_t i = 0; i < 4; ++i) state[i] += w[i];
}

}  // namespace

void Md5::Update(std::string_view bytes) {
  if (bytes.empty()) return;
  size_t waiting = size_ % kBlock;
  size_ += bytes.size();
  if (waiting != 0) {
    size_t taken = std::min(kBlock - waiting, bytes.size());
    std::memcpy(pending_.data() + waiting, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (waiting + taken < kBlock) return;
    Compress(state_, pending_.data());
  }
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) Compress(state_, bytes.data());
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
}

std::array<uint8_t, 16> Md5::Final() {
  static constexpr char kPad[kBlock] = {'\x80'};
  uint64_t bits = size_ * 8;
  size_t used = size_ % kBlock;
  Update({kPad, used < 56 ? 56 - used : 120 - used});
  char length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (8 * i));
  Update({length, sizeof(length)});
  std::array<uint8_t, 16> digest;
  for (size_t i = 0; i < 16; ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (8 * (i % 4)));
  return digest;
}

std::string Md5Hex(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  Md5 md5;
  md5.Update(bytes);
  std::string hex;
  for (uint8_t byte : md5.Final()) {
    hex += kHex[byte >> 4];
    hex += kHex[byte & 15];
  }
  return hex;
}

}  // namespace debrief
