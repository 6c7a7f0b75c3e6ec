// Slices of one track on as many rows as it takes for none to overlap another partially, which
// Perfetto would drop.
//
//   track   [ a        ]            row 0   [ a        ]
//               [ b        ]        row 1       [ b        ]
//             [c]                   row 0     [c]
//
// Row 0 holds whatever nests; the others one slice at a time. Cost: one step a slice, and a
// logarithm for those that overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace debrief::outputs::perfetto {

class Lanes {
 public:
  // The row for the next slice, in order of start and of falling end. close(row, time) is called
  // for every slice that ends on that row before it begins, inner ones first.
  template <typename Close>
  size_t Place(int64_t start, int64_t end, Close close) {
    while (!nested_.empty() && nested_.back() <= start) CloseInnermost(close);
    if (nested_.empty() || nested_.back() >= end) {
      nested_.push_back(end);
      return 0;
    }
    size_t lane = ++lanes_;
    if (!flat_.empty() && flat_.top().first <= start) {
      --lanes_;
      lane = flat_.top().second;
      close(lane, flat_.top().first);
      flat_.pop();
    }
    flat_.emplace(end, lane);
    return lane;
  }

  template <typename Close>
  void CloseAll(Close close) {
    while (!nested_.empty()) CloseInnermost(close);
    for (; !flat_.empty(); flat_.pop()) close(flat_.top().second, flat_.top().first);
    lanes_ = 0;
  }

 private:
  template <typename Close>
  void CloseInnermost(Close close) {
    close(size_t{0}, nested_.back());
    nested_.pop_back();
  }

  using Open = std::pair<int64_t, size_t>;                             // end and row
  std::vector<int64_t> nested_;                                        // ends on row 0, outer first
  std::priority_queue<Open, std::vector<Open>, std::greater<>> flat_;  // the first to end on top
  size_t lanes_ = 0;
};

}  // namespace debrief::outputs::perfetto
