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
  const bool same_input = ops.input_sizes[a] == ops.input_sizes[b] || shape == OpShape::kSameOutput;
  const bool same_output =
      ops.output_sizes[a] == ops.output_sizes[b] || shape == OpShape::kSameInput;
  return same_input && same_output && ops.input_dtypes[a] == ops.input_dtypes[b] &&
         ops.output_dtypes[a] == ops.output_dtypes[b];
}

}  // namespace

std::vector<uint32_t> InnerRows(const Index& index, const Unit& unit) {
  std::vector<uint32_t> rows = {unit.row};
  auto self = static_cast<int32_t>(&unit - index.units.data());
  size_t at = unit.row - static_cast<size_t>(index.first_row) + 1;
  // Sends and receives of the same region may stand between its collectives.
  auto goes_on = [&](int32_t other) {
    if (other < 0) return false;
    const Unit& next = index.UnitAt(other);
    return other == self || (next.p2p && next.rank == unit.rank && next.group == unit.group);
  };
  for (; unit.region && at < index.unit_of_row.size() && goes_on(index.unit_of_row[at]); ++at) {
    auto row = static_cast<uint32_t>(at + static_cast<size_t>(index.first_row));
    bool is_inner = index.unit_of_row[at] == self;
    if (is_inner && !index.Text(index.ops.op[row]).ends_with("coalesced")) rows.push_back(row);
  }
  return rows;
}

std::vector<int32_t> NumberRegions(const Index& index) {
  struct Batch {
    int32_t rank = -1;
    int32_t seq = kNone32;
    int32_t unit = -1;  // its first
  };
  const bool has_any = std::any_of(index.units.begin(), index.units.end(),
                                   [](const Unit& unit) { return unit.region || unit.p2p; });
  if (!has_any) return {};
  std::vector<Batch> newest(index.groups.size());
  std::vector<int32_t> start(index.units.size());  // first unit of the region of each unit
  std::vector<int32_t> size(index.units.size());   // rows of a region, at its first unit
  for (size_t i = 0; i < index.units.size(); ++i) {
    const Unit& unit = index.units[i];
    start[i] = static_cast<int32_t>(i);
    if (!unit.p2p || unit.seq == kNone32) continue;
    Batch& batch = newest[static_cast<size_t>(unit.group)];
    bool is_same = batch.rank == unit.rank && batch.seq == unit.seq;
    if (!is_same) batch = {unit.rank, unit.seq, start[i]};
    start[i] = batch.unit;
  }
  auto start_of = [&](int32_t unit) {
    return static_cast<size_t>(start[static_cast<size_t>(unit)]);
  };
  for (int32_t unit : index.unit_of_row) {
    if (unit >= 0) ++size[start_of(unit)];
  }
  std::vector<int32_t> numbers(index.units.size(), kNone32), regions;
  int32_t next = 0;
  regions.reserve(index.unit_of_row.size());
  for (int32_t unit : index.unit_of_row) {
    regions.push_back(kNone32);
    if (unit < 0 || size[start_of(unit)] < 2) continue;
    int32_t& number = numbers[start_of(unit)];
    if (number == kNone32) number = next++;
    regions.back() = number;
  }
  return regions;
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
