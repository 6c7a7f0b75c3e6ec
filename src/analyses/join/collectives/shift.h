// Which call of a profile is which entry of a dump, where no sequence number tells.
//
// PyTorch makes the entry of the Flight Recorder inside of the op that issues the collective, so
// the time of the entry lies between the op's begin and its end:
//
//   profile   [op 0]   [op 1][op 2]        [op 3]
//   dump  e0    e1       e2    e3            e4        e(i+1) in op i: the shift is 1
//
// Both are in the order of issue, so within a group the join is a shift of positions. Each call
// votes for the nearest entry of its kind, the commonest shift wins, and each pair is then checked.
// Where no entry lies in the ops, clocks differ: each pair bounds the offset by
// [entry - end, entry - begin], and the right shift is the one whose bounds have a common point.
// Steps repeat, but never to the length of an op, so wrong shifts have none.
//
// Cost: sorting; where clocks differ 64 calls of a group are tried at all shifts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::analyses::join_collectives {

struct Call {
  int64_t start_ns = 0;      // of the op on the host; where it is not known, of the kernel
  int64_t end_ns = kNone64;  // of the op; null where it is not known
  int32_t op = 0;            // kinds that may be one another have one number
};

struct Entry {
  int64_t created_ns = 0;
  int32_t op = 0;
};

// One group of one rank: both in order of time.
struct Lane {
  std::vector<Call> calls;
  std::vector<Entry> entries;
};

// Clock of the dump less that of the profile.
struct Offset {
  enum class State : uint8_t { kUnknown, kSame, kShifted };
  State state = State::kUnknown;
  int64_t offset_ns = 0;
};
Offset FindOffset(std::span<const Lane> lanes);

enum class Refusal : uint8_t { kNone, kNoEntries, kBefore, kAfter, kOtherOp, kOffTime, kNoClock };

struct LaneJoin {
  std::vector<int32_t> entry_of;  // by call; -1: not joined
  std::vector<Refusal> refusal;   // by call
};
LaneJoin JoinLane(const Lane& lane, const Offset& offset);

// What a call and its entry say of the offset: it lies in [low, high].
struct Bound {
  int64_t low = 0;
  int64_t high = 0;
};

// The point that most bounds share, and how many do: zero where that is one, else the largest.
struct CommonPoint {
  int64_t at = 0;
  size_t bounds = 0;
};
CommonPoint FindCommonPoint(std::span<const Bound> bounds);

}  // namespace debrief::analyses::join_collectives
