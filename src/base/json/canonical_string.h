// Pieces of strings for json_canonical: what to copy at once, and the escapes in between.
//
// The input is checked already: valid UTF-8, no bare control characters, quotes in their places. So
// everything between escapes prints as it stands, and an escape prints no longer than it was read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace debrief::json_canonical {

inline constexpr size_t kBlock = 32;           // bytes that are copied at once, wanted or not
inline constexpr size_t kMaxEscapedBytes = 6;  // \u001f
inline constexpr int32_t kBadEscape = -1;

inline char* Put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// As Put, but may write up to kBlock - 1 bytes more. `end` is where the readable bytes end.
inline char* PutShort(char* to, std::string_view text, const char* end) {
  if (text.size() > kBlock || static_cast<size_t>(end - text.data()) < kBlock) return Put(to, text);
  std::memcpy(to, text.data(), kBlock);
  return to + text.size();
}

// Copies `text` up to its first backslash, or all of it, and says how much that was. Reads and
// writes as PutShort does.
inline size_t CopyToBackslash(char* to, std::string_view text, [[maybe_unused]] const char* end) {
  const char* from = text.data();
  const size_t size = text.size();
  size_t done = 0;
#ifdef __AVX2__
  for (; done < size && static_cast<size_t>(end - from) >= done + kBlock; done += kBlock) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + done), bytes);
    const __m256i marks = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    const auto mask = static_cast<uint32_t>(_mm256_movemask_epi8(marks));
    if (mask != 0) return std::min(done + static_cast<size_t>(__builtin_ctz(mask)), size);
  }
  if (done >= size) return size;
#endif
  const void* found = std::memchr(from + done, '\\', size - done);
  const size_t stop = found ? static_cast<size_t>(static_cast<const char*>(found) - from) : size;
  std::memcpy(to + done, from + done, stop - done);
  return stop;
}

// The code point of the escape that `raw` begins with, which is taken from it; kBadEscape when JSON
// has no such escape or it is half a surrogate pair.
int32_t TakeEscape(std::string_view& raw);

// A byte of a string as it is printed.
char* PutEscaped(uint8_t byte, char* to);

}  // namespace debrief::json_canonical
