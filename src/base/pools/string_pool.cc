#include "base/pools/string_pool.h"

#include "base/bytes/hash.h"

namespace debrief {

namespace {
constexpr size_t kFirstSlots = 64;  // a power of two
}

StringPool::StringPool(size_t alignment)
    : alignment_(alignment), texts_(1), hashes_(1), slots_(kFirstSlots) {}

StringId StringPool::Intern(std::string_view text) {
  if (texts_.size() * 2 > slots_.size()) Grow();
  auto hash = static_cast<uint32_t>(HashBytes(text));
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    uint32_t id = slots_[slot];
    if (id == 0) {
      id = static_cast<uint32_t>(texts_.size());
      hashes_.resize(id);  // longer only where memory ran out below
      hashes_.push_back(hash);
      texts_.push_back(arena_.Copy(text, alignment_));
      slots_[slot] = id;
      return StringId{id};
    }
    if (hashes_[id] == hash && texts_[id] == text) return StringId{id};
  }
}

StringId StringPool::Find(std::string_view text) const {
  auto hash = static_cast<uint32_t>(HashBytes(text));
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    uint32_t id = slots_[slot];
    if (hashes_[id] == hash && texts_[id] == text) return StringId{id};
  }
  return StringId::kNone;
}

void StringPool::Grow() {
  std::vector<uint32_t> slots(slots_.size() * 2);
  size_t mask = slots.size() - 1;
  for (uint32_t id = 1; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = id;
  }
  slots_ = std::move(slots);
}

std::vector<StringId> StringPool::Absorb(const StringPool& other) {
  std::vector<StringId> ids(other.size(), StringId::kNone);
  for (uint32_t id = 1; id < other.size(); ++id) ids[id] = Intern(other.texts_[id]);
  return ids;
}

}  // namespace debrief
