// Finds the events of a trace and cuts them into ranges, without reading most of the file.
//
//   {"schemaVersion": 1, "traceEvents": [ {...}, {...}, ... {...} ], "traceName": "x"}
//    ---- head ---------------------------^  ranges of events      ^---- tail --------
//
// Head and tail are small and read at once. In between, the cuts are put at events near every
// multiple of the wanted size. An event is found from anywhere by this: in JSON the bytes `{`,
// white space, `"`, a letter can only be an object that begins; a string has no bare quote inside,
// and behind the quote that ends one stands no letter. An object behind `,` or `[` with a member
// "ph" is an event. So a broken string loses its event and not the rest of the file, and the cost
// of cutting does not depend on its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief {

struct JsonMember {
  std::string key;
  std::string value;  // JSON
};

struct EventRanges {
  bool found = false;    // the array of events
  bool is_bare = false;  // the document is that array
  bool closed = false;   // its closing bracket is there
  uint64_t end = 0;      // behind the last byte of events
  std::vector<ByteRange> ranges;
  std::vector<JsonMember> members;  // the others of the document
};

Result<EventRanges> FindEventRanges(const Source& source, uint64_t range_bytes);

// Where the next event begins at or behind `from`; npos when none does. `before`: the byte that
// stands before `text`.
size_t FindEvent(std::string_view text, size_t from, char before);

// Behind the bracket that closes the object that begins at `at`; npos when `text` ends before.
size_t ObjectEnd(std::string_view text, size_t at);

}  // namespace debrief
