// Tells fast that a line has none of the words that make a line interesting.
//
// Every fourth position of a line is looked at: four bytes are hashed, and a table says whether
// they may be part of a word. A word of seven bytes or more holds four bytes at such a position
// wherever it begins, so nothing is missed. One multiplication and one load for four bytes of text;
// searching each word by itself costs twenty times that, most of it in starting the search.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace debrief::inputs::job_text {

class WordFilter {
 public:
  static constexpr size_t kStep = 4;
  static constexpr size_t kShortest = 2 * kStep - 1;

  static constexpr bool IsLongEnough(std::string_view word) { return word.size() >= kShortest; }

  // Every word is long enough.
  void Add(std::span<const std::string_view> words) {
    for (std::string_view word : words) {
      for (size_t i = 0; i < kStep; ++i) {
        uint32_t hash = Hash(word.data() + i);
        marks_[hash / 8] = static_cast<uint8_t>(marks_[hash / 8] | 1U << hash % 8);
      }
    }
  }

  // False when no word is in `line`.
  bool MayHave(std::string_view line) const {
    uint32_t any = 0;
    for (size_t i = 0; i + kStep <= line.size(); i += kStep) {
      uint32_t hash = Hash(line.data() + i);
      any |= uint32_t{marks_[hash / 8]} >> hash % 8;
    }
    return (any & 1) != 0;
  }

 private:
  // 32 KiB, of which plain text touches little. With forty words one line in a hundred is searched
  // in vain.
  static constexpr int kBits = 18;

  static uint32_t Hash(const char* bytes) {
    uint32_t four;
    std::memcpy(&four, bytes, sizeof four);
    return (four * 2654435761U) >> (32 - kBits);
  }

  std::array<uint8_t, (size_t{1} << kBits) / 8> marks_{};
};

}  // namespace debrief::inputs::job_text
