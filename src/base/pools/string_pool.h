// Strings stored once and named by a 32-bit id.
//
// Id 0 is "no string" and differs from the id of the empty string, so a column of ids needs no null
// mask. Ids count up in the order of first sight: the same input gives the same ids. A pool belongs
// to one thread; readers of ranges fill pools of their own, and Absorb() joins them in order.
//
// Cost: one hash and one compare per Intern(); about 30 bytes plus the text per distinct string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/arena.h"

namespace debrief {

enum class StringId : uint32_t { kNone = 0 };

class StringPool {
 public:
  // `alignment` of every stored text; SequencePool keeps numbers in here.
  explicit StringPool(size_t alignment = 1);
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  StringId Intern(std::string_view text);

  // As Intern, without hashing and copying: `text` outlives this pool, and `hash` is HashOf(text).
  StringId InternKept(std::string_view text, uint32_t hash);
  static uint32_t HashOf(std::string_view text);

  // The id of a text that was interned; kNone when it was not.
  StringId Find(std::string_view text) const;

  // The text of an id of this pool; empty for kNone. Valid as long as the pool lives.
  std::string_view Get(StringId id) const { return texts_[static_cast<uint32_t>(id)]; }

  // Number of ids given out, kNone included: valid ids are [0, size()).
  size_t size() const { return texts_.size(); }

  // Interns every string of `other` here; element i is this pool's id for `other`'s id i.
  std::vector<StringId> Absorb(const StringPool& other);

 private:
  // The slot of a text: the one that has its id, or the free one where it belongs.
  size_t SlotOf(std::string_view text, uint32_t hash) const;
  uint32_t AddTo(size_t slot, std::string_view text, uint32_t hash);
  void Grow();

  size_t alignment_;
  Arena arena_;
  std::vector<std::string_view> texts_;
  std::vector<uint32_t> hashes_;  // beside texts_, so that growing does not hash again
  std::vector<uint32_t> slots_;   // open addressing; 0 is free, else an id
};

}  // namespace debrief
