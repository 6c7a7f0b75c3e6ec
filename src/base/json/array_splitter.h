// Cuts a huge JSON document into batches of array elements, without parsing it.
//
//   {"schemaVersion": 1, "traceEvents": [{...}, {...}, {...}, {...}], "traceName": "x"}
//                     ^                  ^----------^  ^----------^                ^
//                  others[0]              batches[0]    batches[1]             others[1]
//
// simdjson takes no document above 4 GB and is fastest on about 1 MB; threads want pieces. One pass
// in order through windows of 1 MiB finds the pieces: memory does not depend on the size of the
// document.
//
// How: 64 bytes at a time become bit masks, a bit a byte: quotes, brackets, commas. A prefix XOR
// over the unescaped quotes says which bytes are inside of strings. Where a block cannot come back
// to the level of the array (it closes fewer brackets than are open above that level), two
// population counts are all that happens; other blocks are walked bit by bit. Over 3 GB/s with
// AVX2, memory read included.
//
// Only what the cut needs is checked. A closing bracket of the wrong kind inside of an element, a
// bad number or a missing colon are for the parser of the batch to find.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief {

struct JsonArraySplit {
  // A member of the top-level object that is not the array. The key is as in the text, not
  // unescaped.
  struct Member {
    std::string key;
    ByteRange value;
    bool operator==(const Member&) const = default;
  };
  static constexpr size_t kMaxOthers = 64;
  static constexpr size_t kMaxKeyBytes = 256;  // members with longer keys are left out

  bool found = false;            // the array was there
  bool closed = false;           // and its closing bracket, too
  bool document_closed = false;  // and that of the document
  uint64_t array_begin = 0;      // at the [
  uint64_t array_end = 0;        // behind the ]; behind the last whole element when not closed
  uint64_t elements = 0;         // whole ones, in all batches
  std::vector<ByteRange> batches;
  std::vector<Member> others;  // the first kMaxOthers, those before and after the array
};

struct JsonSplitOptions {
  size_t window_bytes = size_t{1} << 20;
  bool portable = false;  // do without AVX2 even where there is some; for tests
};

// Splits the array that is the value of the top-level `key`, or the document itself when `key` is
// empty.
//
// A batch holds whole elements and the commas between them, neither a comma nor white space at its
// ends, and has at most `batch_bytes` unless a single element is larger. A document that is cut is
// no error: `closed` is false, and an object or array that is complete at the cut counts as whole;
// a string or number does not. Of a key that comes twice, the first with an array counts; the
// others are `others`.
//
// Fails only when the source cannot be read.
Result<JsonArraySplit> SplitJsonArray(const Source& source, std::string_view key,
                                      uint64_t batch_bytes, JsonSplitOptions options = {});

}  // namespace debrief
