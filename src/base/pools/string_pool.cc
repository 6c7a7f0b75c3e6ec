#include "base/pools/string_pool.h"

#include <algorithm>

#include "base/bytes/hash.h"

namespace debrief {

namespace {

constexpr size_t kFirstSlots = 64;  // a power of two

// A text that was given as kept outlives this pool and those that absorb it: it has this bit beside
// its hash, is not copied, and is known by its address when it comes again.
constexpr uint32_t kKept = uint32_t{1} << 31;

}  // namespace

StringPool::StringPool(size_t alignment) : alignment_(alignment), texts_(1), hashes_(1) {}

uint32_t StringPool::HashOf(std::string_view text) {
  return static_cast<uint32_t>(HashBytes(text)) & ~kKept;
}

size_t StringPool::SlotOf(std::string_view text, uint32_t hash) const {
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    uint32_t id = slots_[slot];
    if (id == 0) return slot;
    // Kept texts are most often the very same bytes.
    bool is_same = (hashes_[id] & ~kKept) == hash && texts_[id].size() == text.size() &&
                   (texts_[id].data() == text.data() || texts_[id] == text);
    if (is_same) return slot;
  }
}

uint32_t StringPool::AddTo(size_t slot, std::string_view text, uint32_t hash) {
  auto id = static_cast<uint32_t>(texts_.size());
  hashes_.resize(id);  // longer only where memory ran out below
  hashes_.push_back(hash);
  texts_.push_back(text);
  slots_[slot] = id;
  return id;
}

StringId StringPool::Intern(std::string_view text) {
  if (texts_.size() * 2 > slots_.size()) Grow();
  const uint32_t hash = HashOf(text);
  const size_t slot = SlotOf(text, hash);
  if (slots_[slot] != 0) return StringId{slots_[slot]};
  return StringId{AddTo(slot, arena_.Copy(text, alignment_), hash)};
}

StringId StringPool::InternKept(std::string_view text, uint32_t hash) {
  if (texts_.size() * 2 > slots_.size()) Grow();
  const size_t slot = SlotOf(text, hash);
  if (slots_[slot] != 0) return StringId{slots_[slot]};
  return StringId{AddTo(slot, text, hash | kKept)};
}

StringId StringPool::Find(std::string_view text) const {
  return slots_.empty() ? StringId::kNone : StringId{slots_[SlotOf(text, HashOf(text))]};
}

void StringPool::Grow() {
  std::vector<uint32_t> slots(std::max(kFirstSlots, slots_.size() * 2));
  size_t mask = slots.size() - 1;
  for (uint32_t id = 1; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = id;
  }
  slots_ = std::move(slots);
  texts_.reserve(slots_.size() / 2 + 1);
  hashes_.reserve(slots_.size() / 2 + 1);
}

std::vector<StringId> StringPool::Absorb(const StringPool& other) {
  std::vector<StringId> ids(other.size(), StringId::kNone);
  for (uint32_t id = 1; id < other.size(); ++id) {
    if (texts_.size() * 2 > slots_.size()) Grow();
    const std::string_view text = other.texts_[id];
    const uint32_t hash = other.hashes_[id];
    const bool is_kept = (hash & kKept) != 0;
    const size_t slot = SlotOf(text, hash & ~kKept);
    if (slots_[slot] == 0) AddTo(slot, is_kept ? text : arena_.Copy(text, alignment_), hash);
    ids[id] = StringId{slots_[slot]};
  }
  return ids;
}

}  // namespace debrief
