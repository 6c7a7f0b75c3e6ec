// One island of the timeline: slices of some lanes, counters and arrows as packed columns. The
// bytes (web/src/timeline/decode.ts reads them):
//
//   0   4 bytes   length H of the header, little end first
//   4   H bytes   the header, JSON:
//                   {"kinds": ["op", ...], "flowKinds": ["launch", ...], "texts": ["", ...],
//                    "lanes": [["16.0/3", [1200, 40]], ...]   key; slices in each row
//                    "counters": [["16.0/memory", [["allocated", "bytes", 159, 1]]], ...]
//                                          name, unit and points of each series, 1: whole numbers
//                    "flows": 812, "bytes": [5310, ...]}      length of each block
//   4+H           ten blocks, one behind the other:
//     0 start      of each slice: from the end of the one before it in its row; 0 in front of a row
//     1 duration
//     2 name       number of its text
//     3 note       likewise
//     4 kind       a byte
//     5 number     from that of the slice before it, either sign; 0 in front of a lane
//     6 counters   of each series: times, each from the one before, either sign; then values, whole
//                  ones likewise, others as doubles of 8 bytes, little end first
//     7 flow to    number of the slice, from that of the arrow before
//     8 flow from  likewise, either sign
//     9 flow kind  a byte
//
// Where nothing else is said a value is a LEB128 varint: 7 bits a byte, low ones first, the high
// bit set in all but the last. A value of either sign is folded first: 0, -1, 1, -2 are 0, 1, 2, 3.
// Slices stand in the order of lanes, rows and time; times are nanoseconds since the base. About 8
// bytes a slice before gzip, and some 20 ns to write one.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "outputs/report/html/cut_text.h"

namespace debrief::outputs::html {

// The slices of one lane on their way into an island: which of them the page gets, and in which row
// of boxes each stands.

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
  kOutput,
  kThrottling,
  kPowerCap,
  kGpuFault
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

// The texts of one island of the timeline: each is written once, as JSON, and has a number.
//
// Names of slices are ids of the model's pool and go through a vector by id; texts that are made
// here (notes) through a pool of their own. One object serves many islands: beginning a new one
// costs what the last one used, not the size of the model's pool.
class TimelineTexts {
 public:
  explicit TimelineTexts(const Pools& pools);

  // Forgets all; number 0 is "". Beyond `most_bytes` further texts are "".
  void Begin(size_t most_bytes);

  uint32_t Number(StringId id) {
    const uint32_t known = number_of_[static_cast<size_t>(id)];
    return known != 0 || id == StringId::kNone ? known : AddOfPool(id);
  }
  uint32_t Number(std::string_view text);

  // "a","b": the elements of a JSON list.
  const std::string& json() const { return json_; }

 private:
  uint32_t AddOfPool(StringId id);
  uint32_t Add(std::string_view text);

  const Pools& pools_;
  std::vector<uint32_t> number_of_;       // by StringId; 0: none yet
  std::vector<StringId> used_;            // those that have a number
  StringPool made_;                       // texts that are no names of the pool
  std::vector<uint32_t> number_of_made_;  // by id in made_
  std::string json_;
  size_t most_bytes_ = 0;
  uint32_t count_ = 0;
};

// Adds words, after a comma where there are some already.
template <typename... Args>
void AddWords(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  if (!text.empty()) text += ", ";
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

// Bytes of a column of numbers, written one behind the other as LEB128 varints.
class VarintColumn {
 public:
  void Put(uint64_t value) {
    if (capacity_ - size_ < kLongest) Grow();
    while (value >= 0x80) {
      bytes_[size_++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_[size_++] = static_cast<char>(value);
  }

  // 0, -1, 1, -2 ... as 0, 1, 2, 3.
  void PutSigned(int64_t value) {
    Put((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }

  void PutByte(uint8_t value) {
    if (capacity_ - size_ < kLongest) Grow();
    bytes_[size_++] = static_cast<char>(value);
  }

  // Eight bytes, little end first.
  void PutDouble(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i) PutByte(static_cast<uint8_t>(bits >> (8 * i)));
  }

  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  static constexpr size_t kLongest = 10;

  // Twice the room, and nothing filled in: a column may have 20 MB.
  void Grow() {
    const size_t room = capacity_ == 0 ? 256 : capacity_ * 2;
    auto bytes = std::make_unique_for_overwrite<char[]>(room);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = room;
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

struct CounterPoint {
  int64_t time = 0;
  double value = 0;
};

struct CounterSeries {
  std::string name, unit;
  std::vector<CounterPoint> points;  // in order of time
};

struct TimelineArrow {
  uint32_t to = 0;
  uint32_t from = 0;
  uint8_t kind = 0;  // as AddFlowKind() gave it
};

class IslandWriter {
 public:
  // `slices`: in their order of rows (RowPacker).
  void AddLane(std::string_view key, const PackedRows& rows, const std::vector<Slice>& slices);
  void AddCounters(std::string_view key, const std::vector<CounterSeries>& series);

  // The number of a kind of arrow; at most 256 of them.
  uint8_t AddFlowKind(std::string_view name);
  // In order of `to`.
  void AddFlows(const std::vector<TimelineArrow>& arrows);

  bool empty() const { return lanes_.empty() && counters_.empty(); }
  std::string Finish(const TimelineTexts& texts) const;

 private:
  enum Block : size_t {
    kStart,
    kDuration,
    kName,
    kNote,
    kKind,
    kNumber,
    kCounters,
    kFlowTo,
    kFlowFrom,
    kFlowKind,
    kBlocks
  };

  void PutSeries(const CounterSeries& series);
  std::string Header(const TimelineTexts& texts) const;

  struct Lane {
    std::string key;
    std::vector<uint32_t> row_sizes;
  };
  struct Series {
    std::string name, unit;
    size_t points;
    bool whole;
  };

  std::array<VarintColumn, kBlocks> blocks_;
  std::vector<Lane> lanes_;
  std::vector<std::pair<std::string, std::vector<Series>>> counters_;
  std::vector<std::string> flow_kinds_;
  size_t flows_ = 0;
};

}  // namespace debrief::outputs::html
