// Where the numbers of a dict stand in its bytes, and which of its memo numbers count up: what one
// dict has in common with all that are written the same way, in this pickle and in others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/pickle/value.h"

namespace debrief {

// What the memo is when a dict begins.
struct DictPlace {
  uint64_t memo_begin = 0;  // the first number that the dict may put
  uint64_t own = 0;         // its own one
};

class DictForm {
 public:
  // Of the bytes of a dict from its mark to SETITEMS, with `item_count` items and `put_count` memo
  // numbers; none when there is anything but values, lists, tuples and sets in it, or when it
  // refers to itself.
  static std::optional<DictForm> Of(std::string_view bytes, const DictPlace& place,
                                    size_t item_count, size_t put_count);

  size_t length() const { return bytes_.size() - kSpare; }
  size_t item_count() const { return item_count_; }
  std::string_view text() const { return std::string_view(bytes_.data(), length()); }

  // Whether a dict of this form begins at `bytes`, where the memo has `memo_size` numbers. kPadding
  // readable bytes follow `left`.
  bool Matches(const char* bytes, size_t left, uint64_t memo_size) const;

  // Whether Of() would find the same form there: the memo numbers that do not count up are from
  // before the dict.
  bool Fits(const DictPlace& place, size_t item_count, size_t put_count) const {
    return item_count == item_count_ && put_count == put_count_ && old_end_ <= place.memo_begin &&
           old_end_ <= place.own;
  }

  // Sets those of `items` that are numbers in `bytes`.
  void ReadNumbers(const char* bytes, std::span<PickleValue> items) const;

 private:
  static constexpr size_t kSpare = 32;  // a block may reach behind the bytes

  struct Number {
    uint32_t offset;
    uint32_t item;
    uint8_t opcode;
  };
  // A memo number that counts up with the size of the memo.
  struct Reference {
    uint32_t offset;
    uint32_t bytes;
    uint64_t number;  // above the size of the memo where the dict begins
  };
  class Scan;

  void Copy(std::string_view bytes);

  std::vector<char> bytes_;  // and kSpare more
  std::vector<char> mask_;   // likewise: 0 where bytes may differ
  std::vector<Number> numbers_;
  std::vector<Reference> references_;
  size_t item_count_ = 0;
  size_t put_count_ = 0;
  uint64_t old_end_ = 0;  // above all memo numbers from before the dict
};

// Forms by the first opcodes of a dict and what they fetch.
class DictForms {
 public:
  static constexpr size_t kHeads = 256;  // a power of two

  // Without numbers, which differ; below kHeads.
  static size_t KeyOf(const char* bytes, size_t left);

  // The forms that this thread has seen, of all pickles.
  static DictForms& OfThread();

  // The form of the dict `bytes`, when it is known. kPadding readable bytes follow it.
  const DictForm* Find(std::string_view bytes, const DictPlace& place, size_t item_count,
                       size_t put_count) const;

  // Keeps it; null, and `form` stays as it is, when there is no room.
  const DictForm* Add(DictForm& form);

 private:
  static constexpr size_t kMost = 1024;
  static constexpr size_t kMostOfKey = 32;  // those of one key are all tried

  std::vector<std::unique_ptr<const DictForm>> forms_;
  std::vector<std::vector<const DictForm*>> by_key_;
};

}  // namespace debrief
