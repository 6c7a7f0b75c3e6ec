// Looking up rows of comm_match, for the outputs that show collectives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tables/comm_match.h"

namespace debrief {

// Row of a match by its number. Numbers are given one after the other, so a plain vector does it;
// numbers that are not (a table that someone made otherwise) are found by binary search.
class MatchRows {
 public:
  static constexpr size_t kNoRow = static_cast<size_t>(-1);

  explicit MatchRows(const CommMatchTable& matches) {
    rows_.reserve(matches.size());
    for (size_t row = 0; row < matches.size(); ++row) rows_.push_back({matches.match[row], row});
    if (!std::is_sorted(rows_.begin(), rows_.end())) std::sort(rows_.begin(), rows_.end());
  }

  size_t Find(int64_t match) const {
    if (rows_.empty() || match < rows_.front().match || match > rows_.back().match) return kNoRow;
    const auto guess = static_cast<size_t>(match - rows_.front().match);
    if (guess < rows_.size() && rows_[guess].match == match) return rows_[guess].row;
    auto at = std::lower_bound(rows_.begin(), rows_.end(), Entry{match, 0});
    return at != rows_.end() && at->match == match ? at->row : kNoRow;
  }

 private:
  struct Entry {
    int64_t match;
    size_t row;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> rows_;  // sorted
};

}  // namespace debrief
