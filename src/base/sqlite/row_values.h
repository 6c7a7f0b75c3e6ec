// The values of a row of a SQLite table: a header that says of each how it is written, then the
// values themselves. Only the wanted columns are found, by their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite/schema.h"

namespace debrief {

class RowValues {
 public:
  // `places`: of the wanted columns in a row; kNoColumn where the table has none.
  static constexpr size_t kNoColumn = SIZE_MAX;
  RowValues(const std::vector<size_t>& places, SqliteEncoding encoding);

  // Finds the wanted values. `row` is the beginning of a row of `bytes` bytes; it must hold for as
  // long as values are asked for. False where it is damaged; where `row` is too short for its
  // header or for a value, needed() says how much is wanted.
  bool Parse(std::string_view row, uint64_t bytes);
  uint64_t needed() const { return needed_; }

  // By position in `places`.
  bool IsNull(size_t column) const { return kinds_[column] == 0; }
  // 0 of null and of texts that are no number.
  int64_t Int(size_t column) const;
  std::string_view Text(size_t column) const;

 private:
  struct Place {
    uint32_t column = 0;  // of the row
    uint32_t slot = 0;    // of `places`
  };

  std::string_view BytesOf(size_t column) const;

  std::vector<Place> wanted_;  // in order of columns
  SqliteEncoding encoding_;
  std::string_view row_;
  uint64_t needed_ = 0;
  std::vector<uint64_t> kinds_;  // "serial types": how each is written
  std::vector<uint64_t> begins_;
  mutable std::vector<std::string> texts_;  // of those that are written otherwise
};

}  // namespace debrief
