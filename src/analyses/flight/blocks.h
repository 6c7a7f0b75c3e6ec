// Work on groups side by side.
//
//   ForBlocks<Sum>(index, [&](GroupBlock block) { ... return sum; },       // any thread, any order
//                  [&](Sum&& sum) { ... });                                // this thread, in order
//
// A block is some neighbouring groups with about as many units as the other blocks have. Whoever
// joins what blocks gave, in order, must get what one pass over all groups gives: then results do
// not depend on the number of threads.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analyses/flight/index.h"
#include "base/threads/thread_pool.h"

namespace debrief::analyses::flight {

// Groups [begin, end) of the index.
struct GroupBlock {
  size_t begin = 0;
  size_t end = 0;
};

// One block where there is one thread.
std::vector<GroupBlock> BlocksOf(const Index& index);

template <typename T, typename Work, typename Join>
void ForBlocks(const Index& index, Work work, Join join) {
  const std::vector<GroupBlock> blocks = BlocksOf(index);
  if (blocks.size() == 1) return join(work(blocks.front()));
  index.pool->MapInOrder<T>(
      blocks.size(), [&](size_t i) { return work(blocks[i]); },
      [&](size_t, T&& result) { join(std::move(result)); });
}

}  // namespace debrief::analyses::flight
