// Values as Rust's serde_json prints them, and the hash of Rust's fxhash crate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief::outputs::tlparse_tree {

// With quotes. Escaped: quotes, backslashes and control characters, nothing else.
std::string SerdeString(std::string_view text);

// The shortest digits that read back the same: 1.0, 0.1, 1e16, 1e-7. Null for what is no number.
std::string SerdeDouble(double number);

// The hash of fxhash, 64-bit: tlparse puts its values into files, as thread ids.
//
//   hash = (rotate_left(hash, 5) ^ word) * 0x517cc1b727220a95
//
// A number is one word. Bytes are words of eight, little-endian, then one of four, then one for
// each that is left; a text is its bytes and a 0xff.
class FxHash {
 public:
  void AddWord(uint64_t word);
  void AddText(std::string_view text);
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace debrief::outputs::tlparse_tree
