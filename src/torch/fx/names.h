// Which node has which name, for one graph after the other.
//
// Open addressing with linear probing. Slots remember the generation that wrote them, so that
// forgetting everything costs nothing; std::unordered_map would free and make a node for each name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace debrief {

class FxNames {
 public:
  static constexpr uint32_t kNoNode = ~0U;

  uint32_t Find(std::string_view name) const;
  void Set(std::string_view name, uint32_t node);
  void Clear();

 private:
  struct Slot {
    std::string_view name;
    uint32_t node = 0;
    uint32_t generation = 0;
  };
  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  size_t used_ = 0;
  uint32_t generation_ = 1;
};

}  // namespace debrief
