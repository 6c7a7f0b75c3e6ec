// Memory that is handed out in order and freed all at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief {

// Not thread-safe. Addresses stay valid when the arena moves or grows.
class Arena {
 public:
  Arena() = default;
  // A moved-from arena is empty and may be used again.
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    blocks_ = std::exchange(other.blocks_, {});
    next_ = std::exchange(other.next_, nullptr);
    left_ = std::exchange(other.left_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    return *this;
  }

  // `size` bytes aligned to `alignment` (a power of two, at most that of std::max_align_t).
  char* Allocate(size_t size, size_t alignment = alignof(std::max_align_t));

  // A copy that lives as long as the arena.
  std::string_view Copy(std::string_view text, size_t alignment = 1);

  size_t bytes_reserved() const { return reserved_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t reserved_ = 0;
};

}  // namespace debrief
