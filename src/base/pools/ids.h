// The numbers that name things, and the pools behind them.
//
// Every table is columns of plain numbers; text, lists and stacks are 32-bit ids into these pools.
// Id 0 is "none" in each of them. Whole numbers without a value are kNone (the smallest of their
// type), floating-point ones NaN.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/pools/sequence_pool.h"
#include "base/pools/string_pool.h"

namespace debrief {

enum class ListId : uint32_t { kNone = 0 };   // a list of int64
enum class FrameId : uint32_t { kNone = 0 };  // one line of one function
enum class StackId : uint32_t { kNone = 0 };  // a list of frames, innermost first

inline constexpr int32_t kNone32 = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kNone64 = std::numeric_limits<int64_t>::min();
inline constexpr double kNoDouble = std::numeric_limits<double>::quiet_NaN();

// The number in 32 bits; none when it does not fit.
inline int32_t Narrow(int64_t value) {
  return value == static_cast<int32_t>(value) ? static_cast<int32_t>(value) : kNone32;
}

// A source line: what a log, a dump and a profile have in common.
struct Frame {
  StringId file = StringId::kNone;
  StringId function = StringId::kNone;
  int32_t line = 0;
  StringId text = StringId::kNone;  // the source line itself, where the input tells
};

// What Pools::Absorb learned: element i is our id for the other pools' id i.
struct Remap {
  std::vector<StringId> strings;
  std::vector<ListId> lists;
  std::vector<StackId> stacks;

  StringId operator()(StringId id) const { return strings[static_cast<uint32_t>(id)]; }
  ListId operator()(ListId id) const { return lists[static_cast<uint32_t>(id)]; }
  StackId operator()(StackId id) const { return stacks[static_cast<uint32_t>(id)]; }
};

class Pools {
 public:
  StringPool strings;
  SequencePool<int64_t, ListId> lists;

  FrameId AddFrame(const Frame& frame);
  const Frame& GetFrame(FrameId id) const;
  StackId AddStack(std::span<const FrameId> frames) { return stacks_.Intern(frames); }
  std::span<const FrameId> GetStack(StackId id) const { return stacks_.Get(id); }
  size_t stack_count() const { return stacks_.size(); }

  // Shorthands, since tables are full of names.
  StringId Intern(std::string_view text) { return strings.Intern(text); }
  StringId InternOrNone(std::string_view text) {
    return text.empty() ? StringId::kNone : Intern(text);
  }
  std::string_view Text(StringId id) const { return strings.Get(id); }

  // Takes over everything in `other`.
  Remap Absorb(const Pools& other);

 private:
  SequencePool<Frame, FrameId> frames_;
  SequencePool<FrameId, StackId> stacks_;
};

}  // namespace debrief
