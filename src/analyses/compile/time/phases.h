// Pairs the begins and ends of the compiler's events to phases.
//
// A process logs "B name" and "E name" from several threads, and the events themselves do not name
// the thread: pid and tid are 0. The thread of the log entry does; work that is handed to helper
// threads names no compilation, so events with and without one are kept apart, too. An end belongs
// to the innermost open phase of its name, which need not be the innermost of all: helpers overlap.
//
// Cost: one pass over the events with a stack for each thread. Stacks are bounded, so that a log
// of begins only costs no more than any other.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/compile/time/areas.h"
#include "model/model.h"

namespace debrief::analyses::compile_time {

inline constexpr size_t kMostDepth = 512;
inline constexpr size_t kNoRow = static_cast<size_t>(-1);

// Times come from the input: what would overflow is left out.
inline int64_t AddTimes(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

struct Phase {
  Identity who;
  int32_t life = 0;
  int64_t entry = 0;
  size_t end_row = kNoRow;                // of compile_entry, its end; none when it is open
  StringId compile_id = StringId::kNone;  // of the model; none when the event names no compilation
  StringId name = StringId::kNone;
  int32_t depth = 0;
  size_t parent = kNoRow;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t self_ns = 0;
  Area area = Area::kOther;
  bool open = true;
  bool closed = false;       // its end is known, or was set to that of the log
  bool inside_same = false;  // a phase of the same name is around it
};

// In the order of their begins.
std::vector<Phase> FindPhases(const Model& model);

}  // namespace debrief::analyses::compile_time
