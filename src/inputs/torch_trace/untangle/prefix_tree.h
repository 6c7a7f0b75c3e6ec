// All prefixes of one payload that some assignment of the search believes in, as a tree: prefixes
// with equal lines are one node, whatever items the lines came from. So each is hashed once,
// assignments that differ only in the choice between equal lines are found equal by comparing
// numbers, and a payload that fits its digest tells at once which other prefixes agree with it: its
// ancestors. Payloads with the same digest share one tree.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes/md5.h"
#include "inputs/torch_trace/untangle.h"
#include "inputs/torch_trace/untangle/json_shape.h"
#include "inputs/torch_trace/untangle/model.h"

namespace debrief::inputs::torch_trace {

class PrefixTree {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Node {
    uint32_t parent = kRoot;
    uint32_t jump = kRoot;  // an ancestor further up, for Ancestor()
    uint32_t depth = 0;     // lines
    uint32_t item = 0;      // one that holds the last line
    uint64_t text = 0;      // of the last line
    uint64_t shape = 0;     // of the last line
    uint64_t shapes = 0;    // of all lines
    uint64_t first = 0;     // shape of the first line
    Context context;
    JsonShape json;
    uint32_t md5 = kNone;     // index of the hashed prefix, computed when it is wanted
    uint32_t priced = kNone;  // the item for which `price` was computed
    int32_t price = 0;
  };

  PrefixTree(const std::array<uint8_t, 16>& digest, size_t most_nodes);

  const Node& At(uint32_t node) const { return nodes_[node]; }
  Node& At(uint32_t node) { return nodes_[node]; }
  // The prefix one line longer; kNone when the tree is full.
  uint32_t Child(uint32_t parent, const Line& line, uint32_t item);
  // The prefix of `node` with `depth` lines. O(log depth).
  uint32_t Ancestor(uint32_t node, uint32_t depth) const;
  bool IsPrefixOf(uint32_t node, uint32_t longer) const;
  // Whether the prefix is the whole payload.
  bool Fits(uint32_t node, std::span<const TangledItem> items);
  std::vector<uint32_t> Items(uint32_t node) const;

 private:
  size_t Find(uint32_t parent, uint64_t text) const;
  void Grow();
  const Md5& Hashed(uint32_t node, std::span<const TangledItem> items);

  std::array<uint8_t, 16> digest_;
  size_t most_nodes_;
  std::vector<Node> nodes_;
  std::vector<Md5> md5s_;
  std::vector<uint32_t> slots_;  // hash table of node numbers by parent and text
};

}  // namespace debrief::inputs::torch_trace
