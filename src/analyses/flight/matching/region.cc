#include "analyses/flight/matching/region.h"

#include <algorithm>

namespace debrief::analyses::flight {

namespace {

// Sizes and types that are compared: both sides, of an op with a root the member's own tensor.
bool IsSameOp(const Index& index, uint32_t a, uint32_t b) {
  const CommOpTable& ops = index.ops;
  if (ops.op[a] != ops.op[b]) return false;
  OpShape shape = ShapeOf(index.Text(ops.op[a]));
  if (shape == OpShape::kAllToAll)
    return ops.input_dtypes[a] == ops.input_dtypes[b] &&
           ops.output_dtypes[a] == ops.output_dtypes[b];
  auto own = [&](uint32_t row) {
    Side side = OwnSide(index.Text(ops.input_sizes[row]), index.Text(ops.output_sizes[row]));
    return side == Side::kOutput ? std::pair(ops.output_sizes[row], ops.output_dtypes[row])
                                 : std::pair(ops.input_sizes[row], ops.input_dtypes[row]);
  };
  if (shape == OpShape::kRooted) return own(a) == own(b);
  return ops.input_sizes[a] == ops.input_sizes[b] && ops.output_sizes[a] == ops.output_sizes[b] &&
         ops.input_dtypes[a] == ops.input_dtypes[b] && ops.output_dtypes[a] == ops.output_dtypes[b];
}

}  // namespace

std::vector<uint32_t> InnerRows(const Index& index, const Unit& unit) {
  std::vector<uint32_t> rows = {unit.row};
  auto self = static_cast<int32_t>(&unit - index.units.data());
  size_t at = unit.row - static_cast<size_t>(index.first_row) + 1;
  for (; unit.region && at < index.unit_of_row.size() && index.unit_of_row[at] == self; ++at) {
    auto row = static_cast<uint32_t>(at + static_cast<size_t>(index.first_row));
    if (!index.Text(index.ops.op[row]).ends_with("coalesced")) rows.push_back(row);
  }
  return rows;
}

InnerDifference FirstInnerDifference(const Index& index, const Unit& a, const Unit& b) {
  std::vector<uint32_t> left = InnerRows(index, a), right = InnerRows(index, b);
  InnerDifference difference{.count_a = left.size(), .count_b = right.size()};
  size_t most = std::max(left.size(), right.size());
  for (size_t i = 0; i < most; ++i) {
    bool both = i < left.size() && i < right.size();
    if (both && IsSameOp(index, left[i], right[i])) continue;
    difference.position = i;
    if (i < left.size()) difference.a = left[i];
    if (i < right.size()) difference.b = right[i];
    break;
  }
  return difference;
}

}  // namespace debrief::analyses::flight
