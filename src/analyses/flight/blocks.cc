#include "analyses/flight/blocks.h"

#include <algorithm>

namespace debrief::analyses::flight {

std::vector<GroupBlock> BlocksOf(const Index& index) {
  constexpr size_t kBlocksOfThread = 4;  // so that nobody waits long for the last block
  constexpr size_t kFewUnits = 4096;     // less is done before another thread has begun
  const size_t groups = index.groups.size();
  const size_t threads =
      index.pool == nullptr ? 1 : static_cast<size_t>(std::max(index.pool->threads(), 1));
  const size_t wanted = std::max(index.units.size() / (threads * kBlocksOfThread), kFewUnits);
  std::vector<GroupBlock> blocks;
  size_t begin = 0, units = 0;
  for (size_t i = 0; i < groups && threads > 1; ++i) {
    units += index.groups[i].order.size();
    if (units < wanted) continue;
    blocks.push_back({begin, i + 1});
    begin = i + 1;
    units = 0;
  }
  if (begin < groups || blocks.empty()) blocks.push_back({begin, groups});
  return blocks;
}

}  // namespace debrief::analyses::flight
