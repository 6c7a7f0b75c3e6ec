// Lists of plain values stored once and named by a 32-bit id: rank lists, shapes, stacks.
//
// Id 0 is "no list" and differs from the empty list. A rank list that 10,000 dumps repeat costs its
// values once and 4 bytes a mention. Same rules as StringPool: one thread, ids in order of first
// sight.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/pools/string_pool.h"

namespace debrief {

template <typename Value, typename Id>
class SequencePool {
  static_assert(std::has_unique_object_representations_v<Value>, "compared and hashed as bytes");

 public:
  // A sequence is interned as the text of its bytes: one table serves all kinds of pools.
  Id Intern(std::span<const Value> values) {
    return Id{static_cast<uint32_t>(
        bytes_.Intern({reinterpret_cast<const char*>(values.data()), values.size_bytes()}))};
  }

  // Valid as long as the pool lives; empty for id 0.
  std::span<const Value> Get(Id id) const {
    std::string_view text = bytes_.Get(StringId{static_cast<uint32_t>(id)});
    return {reinterpret_cast<const Value*>(text.data()), text.size() / sizeof(Value)};
  }

  size_t size() const { return bytes_.size(); }

  // As StringPool::Absorb. `map` turns a value of `other` into one of ours (frame ids change, too).
  template <typename Map>
  std::vector<Id> Absorb(const SequencePool& other, Map map) {
    std::vector<Id> ids(other.size(), Id{0});
    for (uint32_t id = 1; id < other.size(); ++id) {
      auto theirs = other.Get(Id{id});
      std::vector<Value> values(theirs.begin(), theirs.end());
      for (Value& value : values) value = map(value);
      ids[id] = Intern(values);
    }
    return ids;
  }

 private:
  StringPool bytes_{alignof(Value)};
};

}  // namespace debrief
