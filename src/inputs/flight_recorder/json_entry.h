// One entry of a JSON dump: from JSON to a row.
#pragma once

#include <string>
#include <vector>

#include "base/json/cursor.h"
#include "inputs/flight_recorder/dump.h"
#include "inputs/flight_recorder/fields.h"

namespace debrief::inputs::flight_recorder {

class JsonEntryParser {
 public:
  // Rows and diagnostics go into `part`; `offset` is where the batch begins in the source.
  JsonEntryParser(const Identity& who, uint64_t offset, Part& part)
      : who_(who), offset_(offset), part_(part), rows_(who, part) {}

  // A Status only when the text is broken, and nothing more can be read of this batch.
  Status Add(JsonValue entry);

 private:
  struct Entry {
    CommOpRow row;
    StringId name = StringId::kNone;
    StringId thread_name = StringId::kNone;
    StringId thread_id = StringId::kNone;
    bool says_p2p = false;
  };

  Status AddField(Field field, JsonValue value, Entry& entry);
  bool AddNumber(Field field, JsonValue value, CommOpRow& row);
  Status AddOther(Field field, JsonValue value, Entry& entry);
  Status AddGroup(JsonValue value, CommOpRow& row);
  Status AddFrames(JsonValue value, CommOpRow& row);
  StringId Text(JsonValue value);
  StringId Sizes(JsonValue value);
  StringId Dtypes(JsonValue value);

  Identity who_;
  uint64_t offset_;
  Part& part_;
  DumpRows rows_;
  std::string line_;
  std::vector<FrameId> frames_;
};

}  // namespace debrief::inputs::flight_recorder
