// What is different between two graphs, node by node.
//
// Nodes correspond when they do the same to their inputs and stand in the same order: equal ends
// are cut off, nodes that are there once in both are anchors (the longest increasing run of them
// counts, as in patience diff), and the gaps between are filled from both sides and then in order.
// What is left corresponds by operation: those nodes changed. Time n log n, memory n; the longest
// common subsequence itself would be quadratic for graphs that have little in common.
#pragma once

#include <cstdint>
#include <vector>

#include "torch/fx/graph.h"

namespace debrief {

struct FxNodeChange {
  enum class What : uint8_t {
    kAdded,
    kRemoved,
    kChanged,  // the same operation with another shape, type or constants
    kRewired,  // the same in all but what its inputs are
  };
  static constexpr uint32_t kNone = ~0U;

  What what = What::kAdded;
  uint32_t before = kNone;  // node of the first graph
  uint32_t now = kNone;     // node of the second
};

struct GraphDiff {
  std::vector<FxNodeChange> changes;  // in the order of the second graph
  std::vector<uint32_t> now_of;       // by node of the first graph; kNone when removed
  size_t same = 0;                    // nodes that did not change
};

GraphDiff DiffGraphs(const GraphNodes& before, const GraphNodes& now);

}  // namespace debrief
