// One entry of an op trace: from JSON to a row.
#pragma once

#include <cstdint>

#include "base/json/cursor.h"
#include "model/model.h"
#include "tables/recorded_op.h"

namespace debrief::inputs::op_trace {

class EntryParser {
 public:
  // Rows and diagnostics go into `part`; `offset` is where the batch begins in the source.
  EntryParser(const Identity& who, uint64_t offset, Part& part)
      : who_(who), offset_(offset), part_(part), rows_(part.tables.Edit<RecordedOpTable>()) {}

  // A Status only when the text is broken, and nothing more can be read of this batch.
  Status Add(JsonValue entry);

 private:
  Status AddField(std::string_view key, JsonValue value, RecordedOpRow& row);
  void Report(const DiagnosticKind& kind, JsonValue value, std::string detail);
  int64_t Count(JsonValue value);
  int64_t Duration(JsonValue value);
  ListId Shape(JsonValue value);
  StringId Shapes(JsonValue value);

  Identity who_;
  uint64_t offset_;
  Part& part_;
  RecordedOpTable& rows_;
  std::vector<int64_t> dims_;
  std::string text_;
};

}  // namespace debrief::inputs::op_trace
