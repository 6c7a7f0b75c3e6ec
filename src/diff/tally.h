// How often things occur on each rank of two sides, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diff/run_diff.h"

namespace debrief::diff {

class Tally {
 public:
  void AddA(const std::string& name, int32_t rank, int64_t count) { At(name, rank).a += count; }
  void AddB(const std::string& name, int32_t rank, int64_t count) { At(name, rank).b += count; }

  // One row for each name whose count differs on any rank, with the sums over ranks.
  std::vector<Row> Rows() const;

  // Sums over names and ranks.
  Change Sum() const;

 private:
  Change& At(const std::string& name, int32_t rank) { return names_[name][rank]; }

  std::map<std::string, std::map<int32_t, Change>> names_;
};

// new, gone, more, fewer; longer and shorter for times.
std::string ChangeWord(const Change& change, Unit unit);

}  // namespace debrief::diff
