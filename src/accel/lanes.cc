#include "accel/lanes.h"

namespace debrief::accel {

size_t Lanes::Place(double start, double end) {
  Close(start);
  const size_t lane = FindLane(end);
  if (!open_[lane].empty()) innermost_.erase({open_[lane].back(), lane});
  open_[lane].push_back(end);
  innermost_.insert({end, lane});
  return lane;
}

// Every slice is opened and closed once.
void Lanes::Close(double now) {
  while (!innermost_.empty() && innermost_.begin()->first <= now) {
    const size_t lane = innermost_.begin()->second;
    innermost_.erase(innermost_.begin());
    open_[lane].pop_back();
    if (open_[lane].empty()) {
      idle_.push(lane);
    } else {
      innermost_.insert({open_[lane].back(), lane});
    }
  }
}

size_t Lanes::FindLane(double end) {
  const bool home_is_busy = !open_.empty() && !open_[0].empty();
  if (home_is_busy && open_[0].back() >= end) return 0;
  if (home_is_busy) {
    const auto around = innermost_.lower_bound({end, 0});
    if (around != innermost_.end()) return around->second;
  }
  if (!idle_.empty()) {
    const size_t lane = idle_.top();  // lane 0 first, where it is idle
    idle_.pop();
    return lane;
  }
  open_.emplace_back();
  return open_.size() - 1;
}

}  // namespace debrief::accel
