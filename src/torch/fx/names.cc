#include "torch/fx/names.h"

#include "base/bytes/hash.h"

namespace debrief {

namespace {

constexpr size_t kFirstSlots = 256;  // a power of two

}  // namespace

uint32_t FxNames::Find(std::string_view name) const {
  if (slots_.empty()) return kNoNode;
  size_t mask = slots_.size() - 1;
  for (size_t at = HashBytes(name) & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.generation != generation_) return kNoNode;
    if (slot.name == name) return slot.node;
  }
}

void FxNames::Set(std::string_view name, uint32_t node) {
  if (used_ * 2 >= slots_.size()) Grow();
  size_t mask = slots_.size() - 1;
  for (size_t at = HashBytes(name) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.generation == generation_ && slot.name != name) continue;
    if (slot.generation != generation_) ++used_;
    slot = {name, node, generation_};
    return;
  }
}

void FxNames::Grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old)
    if (slot.generation == generation_) Set(slot.name, slot.node);
}

void FxNames::Clear() {
  used_ = 0;
  if (++generation_ != 0) return;
  slots_.clear();  // the number began again: old slots would look new
  generation_ = 1;
}

}  // namespace debrief
