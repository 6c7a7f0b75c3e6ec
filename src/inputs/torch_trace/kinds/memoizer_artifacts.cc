// {"memoizer_artifacts": {"aggregated": true, "sub_key": "x"}}: what the memoizer kept; the payload
// is JSON.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::memoizer_artifacts {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"aggregated", FieldType::kBool},
    {"sub_key", FieldType::kText, &CompileEntryRow::name},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadFields<CompileEntryRow>(value, kFields, entry, entry.row);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "memoizer_artifacts", .sentence = "what a memoizer kept", .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::memoizer_artifacts
