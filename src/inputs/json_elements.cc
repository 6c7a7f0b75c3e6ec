#include "inputs/json_elements.h"

#include <string>
#include <utility>

#include "base/bytes/source.h"
#include "base/json/array_splitter.h"

namespace debrief::inputs {

void ReadBatch(std::string_view text, uint64_t offset, const ReadElements& read,
               const DiagnosticKind& broken, int32_t input, Part& part) {
  if (read(text, offset, part).ok()) return;
  part = Part();
  auto batch = MakeMemorySource("[" + std::string(text) + "]");
  auto split = SplitJsonArray(*batch, "", 1);
  if (!split.ok()) return;
  for (ByteRange range : split->batches) {
    uint64_t begin = range.begin - 1;  // the bracket put in front
    Part element;
    Status status = read(text.substr(begin, range.size()), offset + begin, element);
    if (!status.ok()) {
      element = Part();
      element.diagnostics.Add(
          broken, input,
          {.offset = static_cast<int64_t>(offset + begin), .detail = status.message()});
    }
    part.Append(std::move(element));
  }
}

StringId InternCompact(JsonValue value, std::string& text, Pools& pools) {
  auto raw = value.Raw();
  if (!raw) return StringId::kNone;
  text.clear();
  bool is_quoted = false;
  bool is_escaped = false;
  for (char c : *raw) {
    bool is_space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!is_space || is_quoted) text += c;
    if (c == '"' && !is_escaped) is_quoted = !is_quoted;
    is_escaped = c == '\\' && !is_escaped;
  }
  return pools.Intern(text);
}

}  // namespace debrief::inputs
