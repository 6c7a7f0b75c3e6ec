// Rows of tables that were made from entries come in the order of the entries: one pass over both
// finds the entry of each.
#pragma once

#include <cstdint>
#include <utility>

#include "analyses/compile/time/phases.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::compile_time {

class EntryCursor {
 public:
  explicit EntryCursor(const CompileEntryTable& entries) : entries_(entries) {}

  // The first row of the entry; kNoRow when there is none, or when it lies behind one asked before.
  size_t Find(int32_t input, int64_t entry) {
    const std::pair key(input, entry);
    while (row_ < entries_.size() && Key() < key) ++row_;
    return row_ < entries_.size() && Key() == key ? row_ : kNoRow;
  }

 private:
  std::pair<int32_t, int64_t> Key() const { return {entries_.input[row_], entries_.entry[row_]}; }

  const CompileEntryTable& entries_;
  size_t row_ = 0;
};

}  // namespace debrief::analyses::compile_time
