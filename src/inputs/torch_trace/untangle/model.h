// What the search has learnt from proved payloads, as costs: which line follows which, which words
// belong to one lane, and how the stream goes from lane to lane. Fixed-size tables that forget
// nothing and take nothing in once they are full, so memory is bounded. Costs are integers (1/16
// bit), for the same result on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "inputs/torch_trace/untangle.h"
#include "inputs/torch_trace/untangle/line.h"

namespace debrief::inputs::torch_trace {

constexpr int32_t kBit = 16;

// What an event of probability count / total costs.
int32_t CostOf(uint32_t count, uint32_t total);

// The two lines before, which predict the next.
struct Context {
  uint64_t text = 0;
  uint64_t text_before = 0;
  uint64_t shape = 0;
  uint64_t shape_before = 0;
};

inline Context After(const Context& context, const Line& line) {
  return {line.text, context.text, line.shape, context.shape};
}

// Counts of 64-bit keys: open addressing with a short probe.
class CountTable {
 public:
  explicit CountTable(size_t keys);
  uint32_t Get(uint64_t key) const;
  void Add(uint64_t key);

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t count = 0;
  };
  std::vector<Slot> slots_;
};

class Model {
 public:
  Model(size_t items, int32_t lanes);

  void Learn(std::span<const Line* const> payload, int32_t lane);
  // How unexpected `line` is after `context`.
  int32_t FollowCost(const Context& context, const Line& line) const;
  // Whether it has a word of another lane where this lane has its own, as `cuda:1` in rank 0.
  int32_t LaneCost(const Line& line, int32_t lane) const;

  void LearnTurn(int32_t from, int32_t run, int32_t to);
  // How unexpected it is that `to` writes after `from` wrote `run` lines.
  int32_t TurnCost(int32_t from, int32_t run, int32_t to) const;

 private:
  struct Tag {
    uint32_t word = 0;
    int32_t lane = -1;  // -1: free, -2: several lanes
  };

  CountTable follows_;
  std::vector<Tag> tags_;
  int32_t lanes_;
  CountTable turns_;
};

using Digest = std::array<uint8_t, 16>;

// The items of a tangled stretch, and all that is known of them so far. Common to all passes.
struct Knowledge {
  Knowledge(std::span<const TangledItem> tangled, const std::vector<int32_t>& item_lanes,
            int32_t lane_count);

  std::span<const TangledItem> items;
  const std::vector<int32_t>& lanes;  // per item: lanes numbered from 0; -1 for lines
  int32_t lane_count;
  std::vector<Line> lines;         // per item
  std::vector<uint32_t> ends;      // per header: the next header of its lane, or the end
  std::vector<uint32_t> lines_to;  // per item: lines before it
  Model model;
  std::map<Digest, std::vector<uint32_t>> payloads;  // proved ones: items that hold their lines
  int64_t work = 0;                                  // done so far, in comparisons
  int64_t proved_lines = 0;                          // of all payloads
  int64_t proved_before_search = 0;                  // by cheaper means
  // What is left of limits.least_work; below 0 when the budget is used up.
  int64_t WorkLeft(const UntangleLimits& limits) const;

  void Prove(const Digest& digest, std::vector<uint32_t> payload, int32_t lane);
  // The checksum of these lines as a payload.
  Digest Checksum(std::span<const uint32_t> payload) const;
};

}  // namespace debrief::inputs::torch_trace
