// The slices of one lane on their way into an island: which of them the page gets, and in which row
// of boxes each stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace debrief::outputs::html {

// What a slice is, which gives its colour. The words of model/timeline/kinds.h stand first.
enum class SliceKind : uint8_t {
  kOther,
  kOp,
  kRuntime,
  kPython,
  kAnnotation,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kDeviceAnnotation,
  kCounterRange,
  kOverhead,
  kSpan,
  kAsync,
  kInstant,
  kComm,      // a collective, send or receive: its op, its kernel, its entry in a dump
  kCommOpen,  // one that never completed
  kStep,
  kCompile,
  kDynamo,
  kAot,
  kInductor,
  kCodegen,
  kTriton,
  kOutput
};
std::span<const std::string_view> SliceKindNames();

// kOther for a word that is none of them.
SliceKind SliceKindOf(std::string_view word, SliceKind otherwise = SliceKind::kOther);

struct Slice {
  int64_t start = 0;     // since the base
  int64_t duration = 0;  // 0: a moment
  uint32_t name = 0;     // text
  uint32_t note = 0;
  uint32_t number = 0;
  int32_t depth = 0;  // the first row it may stand in
  SliceKind kind = SliceKind::kOther;

  int64_t end() const { return start + duration; }
};

// The longest `keep` of some durations; of the same length those that come first. One pass to learn
// the shortest that is kept, none when all are.
class Longest {
 public:
  Longest(std::span<const int64_t> durations, size_t keep);

  // Of each in turn.
  bool Take(int64_t duration) {
    if (duration > limit_) return true;
    if (duration < limit_ || of_limit_ == 0) return false;
    --of_limit_;
    return true;
  }

 private:
  int64_t limit_;
  size_t of_limit_ = 0;  // how many of exactly this length
};

// Where the slices of a lane stand: order[i] is the index of the i-th by row, then start.
struct PackedRows {
  std::vector<uint32_t> order;
  std::vector<uint32_t> row_sizes;
};

// Gives each slice the first row from its depth on that is free when it starts, so that the slices
// of a row never overlap: what nests stands below, what runs side by side stands beside. One that
// finds no room in kMostRows rows is left out. `slices`: by start, then falling duration. Linear
// but for rows that are full.
inline constexpr size_t kMostRows = 1000;
PackedRows PackRows(std::span<const Slice> slices);

}  // namespace debrief::outputs::html
