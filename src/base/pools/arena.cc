#include "base/pools/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace debrief {

namespace {
// Blocks double from 4 KiB to 1 MiB, so that a small pool stays small and a large one makes few
// calls.
constexpr size_t kFirstBlock = 4096;
constexpr size_t kLargestBlock = 1 << 20;
}  // namespace

char* Arena::Allocate(size_t size, size_t alignment) {
  size_t skip = (alignment - reinterpret_cast<uintptr_t>(next_) % alignment) % alignment;
  if (next_ == nullptr || skip + size > left_) {
    size_t block = std::min(kLargestBlock, std::max(kFirstBlock, reserved_));
    block = std::max(block, size);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));  // new[] aligns for any type
    next_ = blocks_.back().get();
    left_ = block;
    reserved_ += block;
    skip = 0;
  }
  char* result = next_ + skip;
  next_ += skip + size;
  left_ -= skip + size;
  return result;
}

std::string_view Arena::Copy(std::string_view text, size_t alignment) {
  char* copy = Allocate(text.size(), alignment);
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

}  // namespace debrief
