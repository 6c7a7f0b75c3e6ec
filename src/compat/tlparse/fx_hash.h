// The hash of Rust's fxhash crate, 64-bit: tlparse puts its values into files, as thread ids.
//
//   hash = (rotate_left(hash, 5) ^ word) * 0x517cc1b727220a95
//
// A number is one word. Bytes are words of eight, little-endian, then one of four, then one for
// each that is left; a text is its bytes and a 0xff.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

class FxHash {
 public:
  void AddWord(uint64_t word);
  void AddText(std::string_view text);
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace debrief
