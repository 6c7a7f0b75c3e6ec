// What a rank does at a moment, seen from what it loses. tables.def says which state has
// precedence.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace debrief::analyses::cost {

enum class State : uint8_t {
  kCompute,
  kTransfer,
  kUndivided,
  kWait,  // from here on: lost
  kCompile,
  kData,
  kSync,
  kAllocation,
  kHost,
  kPace,
  kUnknown
};
inline constexpr size_t kStates = 11;
inline constexpr std::array<std::string_view, kStates> kStateNames = {
    "compute", "transfer",   "undivided", "wait", "compile", "data",
    "sync",    "allocation", "host",      "pace", "unknown"};

inline bool IsLost(State state) { return state >= State::kWait; }
inline std::string_view NameOf(State state) { return kStateNames[static_cast<size_t>(state)]; }

// Nanoseconds in each state.
struct StateTimes {
  std::array<int64_t, kStates> ns = {};

  int64_t& operator[](State state) { return ns[static_cast<size_t>(state)]; }
  int64_t operator[](State state) const { return ns[static_cast<size_t>(state)]; }
  int64_t Busy() const {
    return (*this)[State::kCompute] + (*this)[State::kTransfer] + (*this)[State::kUndivided];
  }
  int64_t Wall() const {
    int64_t sum = 0;
    for (int64_t each : ns) sum += each;
    return sum;
  }
  int64_t Lost() const { return Wall() - Busy(); }
};

}  // namespace debrief::analyses::cost
