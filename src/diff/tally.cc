#include "diff/tally.h"

namespace debrief::diff {

std::string ChangeWord(const Change& change, Unit unit) {
  if (unit == Unit::kCount && change.a == 0) return "new";
  if (unit == Unit::kCount && change.b == 0) return "gone";
  const bool is_time = unit == Unit::kNanoseconds;
  if (change.difference() > 0) return is_time ? "longer" : "more";
  return is_time ? "shorter" : "fewer";
}

std::vector<Row> Tally::Rows() const {
  std::vector<Row> rows;
  for (const auto& [name, ranks] : names_) {
    Row row{.name = name, .unit = Unit::kCount};
    for (const auto& [rank, change] : ranks) {
      row.value.a += change.a;
      row.value.b += change.b;
      if (change.a != change.b && rank != kNone32) row.ranks.push_back(rank);
      row.value.is_real |= change.a != change.b;
    }
    if (!row.value.is_real) continue;
    if (row.ranks.size() == ranks.size()) row.ranks.clear();
    row.change = row.value.difference() == 0 ? "changed" : ChangeWord(row.value, Unit::kCount);
    rows.push_back(std::move(row));
  }
  return rows;
}

Change Tally::Sum() const {
  Change sum{.noise = 0};
  for (const auto& [name, ranks] : names_) {
    for (const auto& [rank, change] : ranks) {
      sum.a += change.a;
      sum.b += change.b;
    }
  }
  sum.is_real = sum.a != sum.b;
  return sum;
}

}  // namespace debrief::diff
