#include "model/packed_column.h"

#include <bit>

namespace debrief {

PackedCodes::PackedCodes(const uint64_t* codes, size_t count, uint64_t largest)
    : bits_(static_cast<uint8_t>(std::bit_width(largest))) {
  constexpr uint8_t kWidestShifted = 57;  // seven bits of shift more are the word
  if (bits_ == 0) return;
  if (bits_ > kWidestShifted) bits_ = 64;
  bytes_ = std::make_unique<uint8_t[]>((count * bits_ + 7) / 8 + sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i) {
    size_t at = i * bits_;
    uint64_t word;
    std::memcpy(&word, bytes_.get() + at / 8, sizeof word);
    word |= codes[i] << (at % 8);
    std::memcpy(bytes_.get() + at / 8, &word, sizeof word);
  }
}

}  // namespace debrief
