#include "base/text/newlines.h"

#include <algorithm>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace debrief {

namespace {

constexpr size_t kBlock = 64;

// The mask of a block that may be shorter than 64 bytes.
uint64_t TailMask(std::string_view tail) {
  char block[kBlock] = {};
  std::memcpy(block, tail.data(), tail.size());
  return NewlineMask(block);
}

#ifdef __AVX2__
__m256i Matches(const char* from) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n'));
}

// Newlines in `blocks` (at most 127) blocks: counted in bytes, 0 to 254 each, which are summed at
// the end. Two accumulators would not help, the loads are the limit.
size_t CountBlocks(const char* from, size_t blocks) {
  __m256i counts = _mm256_setzero_si256();
  for (size_t i = 0; i < blocks; ++i, from += kBlock) {
    counts = _mm256_sub_epi8(counts, _mm256_add_epi8(Matches(from), Matches(from + 32)));
  }
  const __m256i sums = _mm256_sad_epu8(counts, _mm256_setzero_si256());
  uint64_t lanes[4];
  std::memcpy(lanes, &sums, sizeof(lanes));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#else
size_t CountBlocks(const char* from, size_t blocks) {
  size_t count = 0;
  for (size_t i = 0; i < blocks; ++i, from += kBlock) {
    count += static_cast<size_t>(__builtin_popcountll(NewlineMask(from)));
  }
  return count;
}
#endif

}  // namespace

// In every byte: the high bit of `zero` is set exactly when the byte of `word` is '\n', since the
// sum of the low seven bits never carries into the next byte. The product moves the eight high bits
// together.
uint64_t NewlineMaskPortable(const char* block) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  constexpr uint64_t kGather = 0x0102040810204080;
  uint64_t mask = 0;
  for (size_t i = 0; i < 8; ++i) {
    uint64_t word = 0;
    for (size_t j = 0; j < 8; ++j) {
      word |= static_cast<uint64_t>(static_cast<unsigned char>(block[8 * i + j])) << (8 * j);
    }
    word ^= 0x0a0a0a0a0a0a0a0a;
    const uint64_t zero = ~(((word & kLow) + kLow) | word | kLow);
    mask |= ((zero >> 7) * kGather >> 56) << (8 * i);
  }
  return mask;
}

#ifdef __AVX2__
uint64_t NewlineMask(const char* block) {
  const auto low = static_cast<uint32_t>(_mm256_movemask_epi8(Matches(block)));
  const auto high = static_cast<uint32_t>(_mm256_movemask_epi8(Matches(block + 32)));
  return low | static_cast<uint64_t>(high) << 32;
}
#else
uint64_t NewlineMask(const char* block) { return NewlineMaskPortable(block); }
#endif

size_t CountNewlines(std::string_view text) {
  size_t count = 0;
  while (text.size() >= kBlock) {
    const size_t blocks = std::min<size_t>(text.size() / kBlock, 127);
    count += CountBlocks(text.data(), blocks);
    text.remove_prefix(blocks * kBlock);
  }
  return count + static_cast<size_t>(__builtin_popcountll(text.empty() ? 0 : TailMask(text)));
}

void LineSplitter::Load() {
  const size_t left = text_.size() - block_;
  if (left >= kBlock) {
    mask_ = NewlineMask(text_.data() + block_);
  } else {
    mask_ = left == 0 ? 0 : TailMask(text_.substr(block_));
  }
}

bool LineSplitter::Advance() {
  if (text_.size() - block_ <= kBlock) return false;
  block_ += kBlock;
  Load();
  return true;
}

bool LineSplitter::Last(std::string_view& line) {
  if (begin_ >= text_.size()) return false;
  line = text_.substr(begin_);
  begin_ = text_.size();
  terminated_ = false;
  return true;
}

}  // namespace debrief
