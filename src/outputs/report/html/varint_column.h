// Bytes of a column of numbers, written one behind the other as LEB128 varints.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace debrief::outputs::html {

class VarintColumn {
 public:
  void Put(uint64_t value) {
    if (capacity_ - size_ < kLongest) Grow();
    while (value >= 0x80) {
      bytes_[size_++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_[size_++] = static_cast<char>(value);
  }

  // 0, -1, 1, -2 ... as 0, 1, 2, 3.
  void PutSigned(int64_t value) {
    Put((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }

  void PutByte(uint8_t value) {
    if (capacity_ - size_ < kLongest) Grow();
    bytes_[size_++] = static_cast<char>(value);
  }

  // Eight bytes, little end first.
  void PutDouble(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i) PutByte(static_cast<uint8_t>(bits >> (8 * i)));
  }

  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  static constexpr size_t kLongest = 10;

  // Twice the room, and nothing filled in: a column may have 20 MB.
  void Grow() {
    const size_t room = capacity_ == 0 ? 256 : capacity_ * 2;
    auto bytes = std::make_unique_for_overwrite<char[]>(room);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = room;
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace debrief::outputs::html
