// Where the time of threads went: the tree of calls, each with the time that none of the calls
// inside of it took.
//
//   python;train.py(12): step;aten::mm 52400        (nanoseconds)
//
// Threads of the same name are one; where there are several ranks, the rank is the outermost frame.
// Work of devices stands under its stream. Cost: one step a slice; a node for each different stack.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "model/model.h"
#include "model/timeline/view.h"

namespace debrief::outputs {

// Which slices are frames. What is inside of one that is none counts for the next one outside.
enum class Frames : uint8_t { kAll, kHost, kPython };

class StackTree {
 public:
  explicit StackTree(const Pools& pools) : pools_(pools) {}

  void Add(const timeline::TimelineView& view, std::string_view rank_name, Frames frames);

  // One line for each stack that took time, in the order of first sight.
  Status Write(const std::function<Status(std::string_view)>& write) const;

  struct Node {
    int32_t parent = -1;  // stands before it; -1: a thread or stream
    std::string name;
    int64_t self_ns = 0;
  };

  // In the order of first sight.
  std::span<const Node> nodes() const { return nodes_; }

 private:
  int32_t Child(int32_t parent, StringId name);
  int32_t Root(std::string_view rank_name, std::string name);
  void AddTrack(const timeline::TimelineView& view, size_t track_row, int32_t root, Frames frames);

  const Pools& pools_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, int32_t> children_;  // by parent and name
  std::unordered_map<std::string, int32_t> roots_;
};

}  // namespace debrief::outputs
