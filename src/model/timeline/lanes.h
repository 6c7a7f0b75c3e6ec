// Lanes of one track: slices on a lane lie apart or inside each other, never half over each other.
//
//   track  [--------a--------]              lane 0  [--------a--------]
//               [--b--]                             [    [--b--]      ]
//                      [------c-----]       lane 1              [------c-----]
//
// Slices come sorted by start, longest first among equals. A slice stays on lane 0 where it fits;
// else it goes inside the tightest open slice that holds all of it, else to the lowest idle lane,
// else to a new one. There is no limit to the number of lanes.
//
// Cost: one step a slice on lane 0, O(log lanes) on the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace debrief::timeline {

template <typename Time = int64_t>
class Lanes {
 public:
  // The lane of the slice [start, end). close(lane, time) is called for every slice that ends
  // before it begins, inner ones first.
  template <typename Close>
  size_t Place(Time start, Time end, Close close) {
    CloseUntil(start, close);
    const size_t lane = FindLane(end);
    if (lane > 0 && !open_[lane].empty()) innermost_.erase({open_[lane].back(), lane});
    open_[lane].push_back(end);
    if (lane > 0) innermost_.insert({end, lane});
    return lane;
  }
  size_t Place(Time start, Time end) {
    return Place(start, end, [](size_t, Time) {});
  }

  template <typename Close>
  void CloseAll(Close close) {
    while (!open_[0].empty()) Pop(0, close);
    while (!innermost_.empty()) CloseFirst(close);
  }

 private:
  template <typename Close>
  void CloseUntil(Time now, Close close) {
    while (!open_[0].empty() && open_[0].back() <= now) Pop(0, close);
    while (!innermost_.empty() && innermost_.begin()->first <= now) CloseFirst(close);
  }

  // The slice that ends first of all that are on lanes beside lane 0.
  template <typename Close>
  void CloseFirst(Close close) {
    const size_t lane = innermost_.begin()->second;
    innermost_.erase(innermost_.begin());
    Pop(lane, close);
    if (open_[lane].empty()) {
      idle_.push(lane);
    } else {
      innermost_.insert({open_[lane].back(), lane});
    }
  }

  template <typename Close>
  void Pop(size_t lane, Close close) {
    close(lane, open_[lane].back());
    open_[lane].pop_back();
  }

  size_t FindLane(Time end) {
    if (open_[0].empty() || open_[0].back() >= end) return 0;
    const auto around = innermost_.lower_bound({end, 0});
    if (around != innermost_.end()) return around->second;
    if (idle_.empty()) {
      open_.emplace_back();
      return open_.size() - 1;
    }
    const size_t lane = idle_.top();
    idle_.pop();
    return lane;
  }

  std::vector<std::vector<Time>> open_ = {{}};   // by lane: ends of open slices, innermost last
  std::set<std::pair<Time, size_t>> innermost_;  // end and lane of other lanes that are not idle
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> idle_;  // lowest first
};

}  // namespace debrief::timeline
