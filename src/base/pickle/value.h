// One value of a pickle, and the memo of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/pickle/fetches.h"

namespace debrief {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kDouble,
  kString,
  kBytes,
  kBigInt,  // does not fit 64 bits; its value is not kept
  kFolded,  // what a PickleBuilder made of a container
  kList,
  kTuple,
  kDict,
  kSet,
};

// 16 bytes, passed by value.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  uint32_t id = 0;  // number of a string or container; of kFolded: the builder's
  union {
    int64_t number = 0;  // kBool, kInt; of kFolded: the builder's
    double real;
  };

  static PickleValue Int(int64_t number) { return {PickleKind::kInt, 0, {number}}; }
  static PickleValue Folded(uint32_t id, int64_t number) {
    return {PickleKind::kFolded, id, {number}};
  }
  bool is(PickleKind other) const { return kind == other; }
  bool is_text() const { return is(PickleKind::kString) || is(PickleKind::kBytes); }
  bool is_container() const { return kind >= PickleKind::kList; }
};

// The memo of a pickle: what its numbers stand for, in 8 bytes each.
//
// Python puts every string and every container into the memo, whether it is asked for again or not:
// a snapshot of 1 GB has 15 million entries. Of a large pickle only those are kept that it fetches
// (KeepOnly). What they are is nearly always the number of a text or container, or a small folded
// value:
//
//   bits   63 ............... 12 | 11 ........ 4 | 3 .. 0
//   text, container       number of it           | kind
//   folded      number           |      id       | kFolded
//   anything else     position in wide_          | kWide
class PickleMemo {
 public:
  // Before the first Put: others than these are never asked for.
  void KeepOnly(MemoFetches fetches) {
    packed_.assign(fetches.count(), kUnset);
    fetches_ = std::move(fetches);
  }
  bool Keeps(uint64_t id) const { return !fetches_ || fetches_->Has(id); }
  // One that is not kept.
  void Pass(uint64_t id) { size_ = std::max<size_t>(size_, id + 1); }

  // One more than the largest number that was put.
  size_t size() const { return size_; }
  bool Has(uint64_t id) const { return EntryOf(id) != kUnset; }
  size_t bytes() const {
    return packed_.capacity() * sizeof(uint64_t) + wide_.capacity() * sizeof(PickleValue) +
           (fetches_ ? fetches_->bytes() : 0);
  }

  // False when it was not put.
  [[gnu::always_inline]] bool Find(uint64_t id, PickleValue& value) const {
    const uint64_t entry = EntryOf(id);
    if ((entry & kKindMask) == kWide) [[unlikely]] {
      if (entry == kUnset) return false;
      value = wide_[entry >> 4];
      return true;
    }
    auto kind = static_cast<PickleKind>(entry & kKindMask);
    // Without branches: keys and folded values follow each other in no order.
    bool is_folded = kind == PickleKind::kFolded;
    uint64_t id_mask = is_folded ? kIdMask : ~uint32_t{0};
    uint64_t number = is_folded ? entry >> 12 : 0;
    value = {kind, static_cast<uint32_t>(entry >> 4 & id_mask), {static_cast<int64_t>(number)}};
    return true;
  }

  // The newest `count`, packed, to be put again: none when they have gaps or hold anything but
  // texts and folded values, or when not all are kept.
  std::span<const uint64_t> Newest(size_t count) const {
    if (fetches_ || count > size_ || size_ > packed_.size()) return {};
    const auto newest = std::span(packed_).subspan(size_ - count, count);
    const auto is_plain = [](uint64_t entry) {
      const auto kind = static_cast<PickleKind>(entry & kKindMask);
      return kind == PickleKind::kFolded || kind == PickleKind::kString ||
             kind == PickleKind::kBytes;
    };
    return std::all_of(newest.begin(), newest.end(), is_plain) ? newest
                                                               : std::span<const uint64_t>();
  }
  // What Newest() gave, under the next numbers.
  void PutPacked(std::span<const uint64_t> entries) {
    const size_t end = size_ + entries.size();
    if (end > packed_.size())
      packed_.resize(std::max({end, 2 * packed_.size(), kFirstEntries}), kUnset);
    std::copy(entries.begin(), entries.end(), packed_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ = end;
  }

  void Put(uint64_t id, const PickleValue& value) {
    size_ = std::max<size_t>(size_, id + 1);
    const size_t place = PlaceOf(id);
    if (place >= packed_.size())
      packed_.resize(std::max({place + 1, 2 * packed_.size(), kFirstEntries}), kUnset);
    uint64_t& entry = packed_[place];
    auto kind = static_cast<uint64_t>(value.kind);
    if (value.is(PickleKind::kFolded) && value.id <= kIdMask && value.number >= 0 &&
        value.number < kFoldedEnd) {
      entry = static_cast<uint64_t>(value.number) << 12 | uint64_t{value.id} << 4 | kind;
    } else if (value.is_text() || value.is_container()) {
      entry = uint64_t{value.id} << 4 | kind;
    } else {
      if ((entry & kKindMask) != kWide || entry == kUnset) {
        entry = wide_.size() << 4 | kWide;
        wide_.emplace_back();
      }
      wide_[entry >> 4] = value;
    }
  }

 private:
  static constexpr uint64_t kKindMask = 15;
  static constexpr uint64_t kWide = 15;  // no PickleKind
  static constexpr uint64_t kIdMask = 255;
  static constexpr int64_t kFoldedEnd = int64_t{1} << 52;
  static constexpr uint64_t kUnset = ~uint64_t{0};  // looks like kWide
  static constexpr size_t kFirstEntries = 64;

  uint64_t EntryOf(uint64_t id) const {
    if (!fetches_) [[likely]]
      return id < packed_.size() ? packed_.data()[id] : kUnset;
    return id < size_ && fetches_->Has(id) ? packed_[fetches_->PositionOf(id)] : kUnset;
  }
  size_t PlaceOf(uint64_t id) const { return fetches_ ? fetches_->PositionOf(id) : id; }

  std::optional<MemoFetches> fetches_;
  size_t size_ = 0;
  std::vector<uint64_t> packed_;
  std::vector<PickleValue> wide_;
};

}  // namespace debrief
