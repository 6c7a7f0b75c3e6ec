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
#include "base/json/cursor.h"
#include "base/status.h"

namespace debrief {

struct JsonMember {
  std::string key;
  std::string value;  // JSON

  bool operator==(const JsonMember&) const = default;
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

// Where the next event begins at or behind `from`, of which something stands before; npos when none
// does.
size_t FindEvent(std::string_view text, size_t from);

// Events with commas between them, without what stands before the first and behind the last.
std::string_view TrimEvents(std::string_view text);

// Cuts the first event off `text`, which is trimmed; a broken one ends where the next begins.
std::string_view TakeEvent(std::string_view& text);

// The first byte that is no UTF-8, or a bare control character in a string; the size when there is
// none.
size_t FindBadByte(std::string_view text);

// Reads the events of a range, which begins at `offset` of the file, into a sink with
//
//   Status Add(JsonValue event, uint64_t offset)   `offset`: what event.offset() counts from; a
//   Status
//                                                  when its JSON is broken
//   void Repaired(uint64_t offset)                 the byte there was replaced, others perhaps
//   void Restart()                                 forget what was added: it comes again
//   void AddBroken(std::string_view text, uint64_t offset)
//
// Broken JSON costs the event that has it and no other: the range is then read event by event, so
// that the result does not depend on how the file was cut.
template <typename Sink>
void ReadEvents(std::string_view text, uint64_t offset, Sink& sink) {
  // Kept by the thread: its tables for a range are several times the range.
  static thread_local JsonReader reader;
  auto read = [&](std::string_view events, uint64_t at) -> Status {
    TRY(reader.OpenElements(events));
    TRY(reader.root().ForEachElement([&](JsonValue event) { return sink.Add(event, at); }));
    if (reader.repaired()) sink.Repaired(at + FindBadByte(events));
    return {};
  };
  const char* untrimmed = text.data();
  text = TrimEvents(text);
  offset += static_cast<uint64_t>(text.data() - untrimmed);
  if (text.empty() || read(text, offset).ok()) return;
  sink.Restart();
  const char* begin = text.data();
  while (!text.empty()) {
    std::string_view event = TakeEvent(text);
    uint64_t at = offset + static_cast<uint64_t>(event.data() - begin);
    if (!read(event, at).ok()) sink.AddBroken(event, at);
  }
}

}  // namespace debrief
