// One value of a pickle.
#pragma once

#include <cstdint>

namespace debrief {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kDouble,
  kString,
  kBytes,
  kBigInt,  // does not fit 64 bits; its value is not kept
  kFolded,  // what a PickleFolder made of a container
  kList,
  kTuple,
  kDict,
  kSet,
};

// 16 bytes, passed by value.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  uint32_t id = 0;  // number of a string or container; of kFolded: the folder's
  union {
    int64_t number = 0;  // kBool, kInt; of kFolded: the folder's
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

}  // namespace debrief
