// Finding the lines of a text at the speed of memory.
//
// 64 bytes become a mask of 64 bits (AVX2, or eight words where there is no AVX2), and the lines
// are the bits of the mask. memchr() per line costs a call and a start-up for every line: with
// lines of 30 bytes it is several times slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debrief {

size_t CountNewlines(std::string_view text);

// Bit i is set when block[i] is '\n', for 64 bytes. The second is the portable one; the first is
// that or a faster one. Both are here so that a test can compare them.
uint64_t NewlineMask(const char* block);
uint64_t NewlineMaskPortable(const char* block);

// The lines of a text, without their '\n' (a '\r' stays):
//
//   LineSplitter lines(text);
//   for (std::string_view line; lines.Next(line);) ...
//
// "a\nb" and "a\nb\n" both have two lines; terminated() tells them apart after the last one.
class LineSplitter {
 public:
  explicit LineSplitter(std::string_view text) : text_(text) { Load(); }

  bool Next(std::string_view& line) {
    while (mask_ == 0) {
      if (!Advance()) return Last(line);
    }
    const size_t end = block_ + static_cast<size_t>(__builtin_ctzll(mask_));
    mask_ &= mask_ - 1;
    line = {text_.data() + begin_, end - begin_};
    begin_ = end + 1;
    return true;
  }

  // Where the next line begins; after the last one, the size of the text.
  size_t offset() const { return begin_; }

  // Whether the line that Next() gave last ended with '\n'.
  bool terminated() const { return terminated_; }

 private:
  void Load();                        // the mask of the block at block_
  bool Advance();                     // to the next block; false after the last one
  bool Last(std::string_view& line);  // what follows the last '\n', if anything

  std::string_view text_;
  size_t begin_ = 0;
  size_t block_ = 0;
  uint64_t mask_ = 0;
  bool terminated_ = true;
};

}  // namespace debrief
