#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "outputs/report/html/timeline/island.h"

namespace debrief::outputs::html {

namespace {

constexpr std::string_view kNames[] = {
    "other",         "op",        "runtime",  "python",  "annotation",
    "kernel",        "memcpy",    "memset",   "sync",    "device_annotation",
    "counter_range", "overhead",  "span",     "async",   "instant",
    "comm",          "comm_open", "step",     "compile", "dynamo",
    "aot",           "inductor",  "codegen",  "triton",  "output",
    "throttling",    "power_cap", "gpu_fault"};
static_assert(std::size(kNames) == static_cast<size_t>(SliceKind::kGpuFault) + 1);

constexpr uint16_t kNoRow = std::numeric_limits<uint16_t>::max();
static_assert(kMostRows < kNoRow);

// Rows by the time from which each is free.
class Rows {
 public:
  uint16_t Place(const Slice& slice) {
    const auto first = static_cast<size_t>(std::max(slice.depth, 0));
    if (first >= kMostRows) return kNoRow;
    if (slice.start < full_until_ && first >= full_from_) return kNoRow;
    while (free_from_.size() <= first) free_from_.push_back(kFree);
    for (size_t row = first; row < free_from_.size(); ++row)
      if (free_from_[row] <= slice.start) return Take(row, slice);
    if (free_from_.size() == kMostRows) return Fill(first);
    free_from_.push_back(kFree);
    return Take(free_from_.size() - 1, slice);
  }

  size_t count() const { return free_from_.size(); }

 private:
  static constexpr int64_t kFree = std::numeric_limits<int64_t>::min();

  uint16_t Take(size_t row, const Slice& slice) {
    free_from_[row] = slice.end();
    return static_cast<uint16_t>(row);
  }

  // Nothing fits from this row on until one of them ends: the slices until then need no search.
  uint16_t Fill(size_t first) {
    full_from_ = first;
    full_until_ =
        *std::min_element(free_from_.begin() + static_cast<ptrdiff_t>(first), free_from_.end());
    return kNoRow;
  }

  std::vector<int64_t> free_from_;
  int64_t full_until_ = kFree;
  size_t full_from_ = 0;
};

}  // namespace

std::span<const std::string_view> SliceKindNames() { return kNames; }

SliceKind SliceKindOf(std::string_view word, SliceKind otherwise) {
  const auto* at = std::find(std::begin(kNames), std::end(kNames), word);
  return at == std::end(kNames) ? otherwise : static_cast<SliceKind>(at - std::begin(kNames));
}

Longest::Longest(std::span<const int64_t> durations, size_t keep)
    : limit_(std::numeric_limits<int64_t>::min()) {
  of_limit_ = durations.size();
  if (keep >= durations.size()) return;
  std::vector<int64_t> sorted(durations.begin(), durations.end());
  const auto at = sorted.begin() + static_cast<ptrdiff_t>(keep);
  std::nth_element(sorted.begin(), at, sorted.end(), std::greater<>());
  limit_ = *at;
  of_limit_ = keep - static_cast<size_t>(std::count_if(sorted.begin(), at,
                                                       [&](int64_t one) { return one > limit_; }));
}

PackedRows PackRows(std::span<const Slice> slices) {
  Rows rows;
  std::vector<uint16_t> row_of(slices.size());
  PackedRows packed;
  for (size_t i = 0; i < slices.size(); ++i) {
    const uint16_t row = row_of[i] = rows.Place(slices[i]);
    if (row == kNoRow) continue;
    if (packed.row_sizes.size() <= row) packed.row_sizes.resize(size_t{row} + 1, 0);
    ++packed.row_sizes[row];
  }
  std::vector<uint32_t> next(packed.row_sizes.size());
  std::exclusive_scan(packed.row_sizes.begin(), packed.row_sizes.end(), next.begin(), 0U);
  packed.order.resize(std::accumulate(packed.row_sizes.begin(), packed.row_sizes.end(), size_t{0}));
  for (size_t i = 0; i < slices.size(); ++i)
    if (row_of[i] != kNoRow) packed.order[next[row_of[i]]++] = static_cast<uint32_t>(i);
  return packed;
}

}  // namespace debrief::outputs::html
