// Elements of a JSON array, a batch at a time, so that a broken one is lost alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/json/cursor.h"
#include "model/model.h"

namespace debrief::inputs {

// Reads all elements of `text`, which begins at `offset` of the source, into the part; a Status
// when the JSON is broken somewhere.
using ReadElements = std::function<Status(std::string_view text, uint64_t offset, Part& part)>;

// When `read` fails, the slow way follows: each element alone, and `broken` is told of those that
// fail. So the result does not depend on how the document was cut into batches.
void ReadBatch(std::string_view text, uint64_t offset, const ReadElements& read,
               const DiagnosticKind& broken, int32_t input, Part& part);

// The JSON of a value without white space between its tokens: writers differ, shapes repeat.
// `text` is room for it.
StringId InternCompact(JsonValue value, std::string& text, Pools& pools);

}  // namespace debrief::inputs
