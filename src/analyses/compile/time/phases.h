// Phases of the compiler, paired from the begins and ends of its events, and what is made of them.
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
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/compile/rows.h"
#include "model/finding.h"
#include "model/model.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::compile_time {

// Which area of the compiler a phase belongs to.
enum class Area : uint8_t { kOther, kDynamo, kAot, kInductor, kCodegen, kTriton };
inline constexpr int kAreas = 6;

std::string_view AreaName(Area area);

// By the name of the phase; kOther for a name that is not known, which then belongs to the area of
// the phase around it. PyTorch adds phases with every version, so names are known by how they
// begin.
Area AreaOf(std::string_view phase);

inline constexpr size_t kMostDepth = 512;

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

// Adds the rows of compile_span, in the order in which the log names compilations first. Cost: one
// pass over entries, phases and metrics; most rows name the compilation of the row before.
void AddSpans(const Model& model, const std::vector<Phase>& phases, Part& part);

// Adds rows of compile_kernel and compile_autotune, and gives phases that name no compilation the
// one that their payload names. Reads the payloads of artifacts triton_kernel_info and of the ends
// of tuning phases: some hundred bytes each, a few for each compilation.
void AddKernels(const Model& model, std::vector<Phase>& phases, Part& part);

}  // namespace debrief::analyses::compile_time
