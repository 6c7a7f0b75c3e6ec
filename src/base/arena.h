// Memory that is handed out in order and freed all at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace debrief {

// Not thread-safe. Addresses stay valid when the arena moves or grows.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // `size` bytes aligned to `alignment` (a power of two).
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
