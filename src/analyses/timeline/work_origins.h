// Where the work of a device comes from: the call of the host that put it there.
//
//   host     op [ cudaLaunchKernel corr 7 ]        a launch and its work share a correlation
//   device                        [ kernel corr 7 ]
//
// Ids repeat where files of several processes were joined: the latest launch before the work
// counts. Work without such a call may still name its op by an external id.
// Cost: sorts the calls and ops that have ids; one binary search for each piece of work.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::timeline {

struct WorkOrigin {
  int32_t work = kNone32;  // the kernel, copy or fill
  int32_t call = kNone32;  // call of the runtime; kNone32 when the timeline does not show it
  int32_t op = kNone32;    // where there is no call: the op that the work names
  bool graph = false;      // the call launched a graph, or has other work besides

  // The slice of the host that it comes from; kNone32 when none.
  int32_t host() const { return call != kNone32 ? call : op; }
};

// One for each kernel, copy and fill, in the order of slices.
std::vector<WorkOrigin> WorkOriginsOf(const TimelineView& view);

}  // namespace debrief::timeline
