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
    return Id{static_cast<uint32_t>(bytes_.Intern(BytesOf(values)))};
  }

  // As StringPool::InternKept; `hash` is HashOf(values).
  Id InternKept(std::span<const Value> values, uint32_t hash) {
    return Id{static_cast<uint32_t>(bytes_.InternKept(BytesOf(values), hash))};
  }
  static uint32_t HashOf(std::span<const Value> values) {
    return StringPool::HashOf(BytesOf(values));
  }

  // Valid as long as the pool lives; empty for id 0.
  std::span<const Value> Get(Id id) const {
    std::string_view text = bytes_.Get(StringId{static_cast<uint32_t>(id)});
    return {reinterpret_cast<const Value*>(text.data()), text.size() / sizeof(Value)};
  }

  size_t size() const { return bytes_.size(); }

  // As StringPool::Absorb. `map` turns a value of `other` into one of ours (frame ids change, too).
  // Values that stay what they are need no map, and their sequences are not hashed again.
  std::vector<Id> Absorb(const SequencePool& other) {
    std::vector<Id> ids;
    for (StringId id : bytes_.Absorb(other.bytes_)) ids.push_back(Id{static_cast<uint32_t>(id)});
    return ids;
  }
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
  static std::string_view BytesOf(std::span<const Value> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }

  StringPool bytes_{alignof(Value)};
};

}  // namespace debrief
