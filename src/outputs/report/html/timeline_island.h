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

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outputs/report/html/timeline_slices.h"
#include "outputs/report/html/timeline_texts.h"
#include "outputs/report/html/varint_column.h"

namespace debrief::outputs::html {

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
