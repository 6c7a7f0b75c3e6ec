// The operations inside of a coalesced region, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

// Rows of comm_op of a unit in order of issue, without the end marker; of one that is no region its
// only row.
std::vector<uint32_t> InnerRows(const Index& index, const Unit& unit);

// The coalesced region of each row of comm_op, beside Index::unit_of_row, counted from 0;
// none where an entry was issued alone. Sends and receives that a rank batched are one, and so are
// collectives that share a sequence number. Empty when no entry is in a region.
std::vector<int32_t> NumberRegions(const Index& index);

// The first operation in which two regions differ.
struct InnerDifference {
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  size_t position = 0;  // from 0
  uint32_t a = kNoRow;  // row of comm_op; kNoRow when that region has fewer
  uint32_t b = kNoRow;
  size_t count_a = 0;  // operations in all
  size_t count_b = 0;
  bool found() const { return a != kNoRow || b != kNoRow; }
};

InnerDifference FirstInnerDifference(const Index& index, const Unit& a, const Unit& b);

}  // namespace debrief::analyses::flight
