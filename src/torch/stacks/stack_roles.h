// What a Python process does, by its stack: waits for other ranks, works on its own, starts up.
//
//   wait (distributed_c10d.py)        a wait: it comes from other ranks, or from the device
//   barrier (distributed_c10d.py)
//   evaluate (train.py:88)            the user's frame: where it stands
//   main (train.py:120)
//
// Calls into C are not seen in stacks of Python alone: then the user's line is the innermost frame,
// and whether it waits or works is not known (kCall).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

enum class Doing : uint8_t {
  kNothing,  // no frame of Python
  kHelper,   // it is no rank: a launcher, or a worker that serves a rank
  kStartUp,  // importing modules
  kWait,     // communication: it waits for other ranks
  kSync,     // it waits for its device, which may wait for other ranks
  kDevice,   // an operation of PyTorch: it may compute, or wait until a device takes more work
  kCall,     // in the user's own line
  kWork,     // its own: files, data loader, compilation, locks, other programs
};

struct StackSummary {
  Doing doing = Doing::kNothing;
  std::string what;          // of kWait, kSync and kWork: "all_reduce", "the data loader"
  size_t user = SIZE_MAX;    // the frame where the user's program stands
  std::vector<size_t> path;  // frames of the user's program from there on, launchers left out
};

struct FrameView {
  std::string_view file;
  std::string_view function;
  int32_t line = 0;
};

// Frames are innermost first.
StackSummary SummariseStack(const std::vector<FrameView>& frames);

// A thread that does nothing but wait for work: pools, queues, servers, watchdogs.
bool IsIdleThread(const std::vector<FrameView>& frames);

// "train.py:41".
std::string LineInWords(const FrameView& frame);

}  // namespace debrief
