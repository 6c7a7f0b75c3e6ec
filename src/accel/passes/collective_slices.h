// -R: one slice per rank and collective, from the end of the kernel before it to its last step.
//
// The reference knows one algorithm, a chain whose last rank sends the result to all; it reads the
// size from the name of a receive and puts the slices on tracks named "coll<rank>". Without
// --compat a tree (rank 0 sends the result) is known as well, sizes come from `bytes`, and a rank
// without a kernel before the collective begins with its first step.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "accel/passes/collective_group.h"

namespace debrief::accel {

class CollectiveSlices {
 public:
  CollectiveSlices(const EventList& events, Run& run);

  // Kernels at `position` of the list and behind are not known yet.
  void Add(StringId name, const CollectiveGroup& group, size_t position, EventList& out);

 private:
  struct Part {
    const FlowStep* first = nullptr;
    const FlowStep* last = nullptr;
  };
  using Parts = std::map<int64_t, Part>;

  Parts PartsOf(const CollectiveGroup& group, int64_t ranks) const;
  Parts ChainParts(const CollectiveGroup& group, int64_t ranks) const;
  // The kernel that the rank ran before; null when there is none.
  const Event* KernelBefore(const Part& part, size_t position);
  int64_t BytesOf(const CollectiveGroup& group) const;
  std::string NameOfKernel(const Event& kernel) const;

  const EventList& events_;
  Run& run_;
  std::map<int64_t, std::deque<uint32_t>> kernels_;  // by rank: indices of events not used yet
  bool unsupported_ = false;
};

}  // namespace debrief::accel
