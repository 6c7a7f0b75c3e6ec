// Dicts that are written the same way.
//
// The entries of a dump are dicts with the same keys in the same order, and most of them repeat an
// earlier one but for a few numbers: when, the how manieth, for how long. The bytes of a dict that
// was read once are a layout: where its numbers stand, and what everything else became. A dict
// whose bytes are the same apart from these numbers has the same items with other numbers in them,
// and nothing of it needs to be read opcode by opcode:
//
//   (  h\x1c  ](h\x7ah\x7ce  h\x46  M ....  h\x48  h\x09h\x0a\x86  h\x4b  M ....  u
//   ^ compared                      ^ a number      ^ compared               ^ a number
//
// Python puts every list, tuple and text into the memo: their numbers count up, and what they stand
// for is put under the new ones. One program runs in a loop, so after a layout the one is tried
// that came after it the last time.
//
// The dumps of a job come from one program, too: where the numbers of a dict stand is its form, and
// forms stay when the pickle ends. A thread that reads the next dump compares the dict with them
// instead of looking at its opcodes once more. What a layout's items are is never kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/pickle/dict_forms.h"
#include "base/pickle/value.h"

namespace debrief {

class PickleLayouts {
 public:
  static constexpr uint32_t kNoLayout = ~uint32_t{0};

  // The layout of the dict whose items begin at `bytes`, with their mark; kNoLayout when it is like
  // none. `memo_size` is what the memo has by then. kPadding readable bytes follow `left`.
  uint32_t Find(const char* bytes, size_t left, size_t memo_size);
  // Not used again, also not after Clear.
  uint32_t NumberOf(uint32_t layout) const { return cleared_ + layout; }
  size_t LengthOf(uint32_t layout) const { return layouts_[layout].form->length(); }
  // What the memo gets.
  std::span<const uint64_t> PutsOf(uint32_t layout) const {
    return std::span(puts_).subspan(layouts_[layout].puts, layouts_[layout].put_count);
  }
  // With the numbers that stand in `bytes`; until the next Learn.
  std::span<PickleValue> ItemsOf(uint32_t layout, const char* bytes);

  // `bytes`, from the mark to SETITEMS, became `items`. `memo` is that behind it, to which it added
  // `put_count`; `own` is the memo number of the dict itself. The new layout; kNoLayout when it is
  // nothing that could be found again.
  uint32_t Learn(std::string_view bytes, std::span<const PickleValue> items, uint64_t own,
                 const PickleMemo& memo, size_t put_count);
  // What memo numbers stand for has changed.
  void Clear();

 private:
  struct Layout {
    const DictForm* form;
    uint32_t items;  // begin in items_
    uint32_t puts, put_count;
    uint32_t next = kNoLayout;      // with the same key
    uint32_t follower = kNoLayout;  // the one that came after it
  };

  const DictForm* FormOf(std::string_view bytes, const DictPlace& place, size_t item_count,
                         size_t put_count);
  uint32_t FindByKey(const char* bytes, size_t left, size_t memo_size);
  void Follow(uint32_t layout);
  uint32_t Add(const DictForm& form, std::span<const PickleValue> items,
               std::span<const uint64_t> puts);

  std::vector<Layout> layouts_;
  std::vector<uint32_t> heads_;  // by key: newest layout
  std::vector<PickleValue> items_;
  std::vector<uint64_t> puts_;                    // packed as in the memo
  std::vector<std::unique_ptr<DictForm>> forms_;  // that the thread had no room for
  uint32_t last_ = kNoLayout;
  uint32_t cleared_ = 0;
};

}  // namespace debrief
